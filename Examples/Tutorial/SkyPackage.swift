// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Sky",
    dependencies: [
        .package(path: "../swift-multipeer")
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
