// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Sky",
    dependencies: [
        .package(url: "https://example.org/swift-multipeer", from: "0.1.0")
    ],
    targets: [
        .executableTarget(
            name: "Sky",
            dependencies: [
                .product(name: "Multipeer", package: "swift-multipeer"),
                .product(name: "MultipeerActors", package: "swift-multipeer"),
            ])
    ]
)
