// swift-tools-version: 6.2
import PackageDescription

// Targets are listed bottom-up: the manifest is the layer diagram, and an arrow points downwards only.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Darwin's own responder is the only one there; on Linux a trait of the same name selects Avahi's.
let systemDiscovery = SwiftSetting.define(
    "SystemDiscovery", .when(platforms: [.macOS, .iOS, .tvOS, .visionOS]))

/// Apple's API: its classes are not `Sendable` there either, and clients in Swift 6 mode compile only against the like.
let faithful = [.swiftLanguageMode(.v5)] + strict.dropFirst()

/// As a user of Apple's API sets up a program; `@preconcurrency import` counts as unsafe where memory safety is strict.
let client: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// The same in the older language mode, in which most of these programs are written.
let classic: [SwiftSetting] = [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]

func layer(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// An application as it is written for Apple's platforms: what needs no UIKit is compiled.
func applePort(_ name: String, _ folder: String, _ settings: [SwiftSetting]) -> Target {
    .target(
        name: name, dependencies: ["MultipeerConnectivity"], path: "Examples/Ports/\(folder)/Before",
        exclude: folder == "Chat" ? ["Info.plist"] : [], packageAccess: false, swiftSettings: settings)
}

/// The same application on Linux.
func linuxPort(_ name: String, _ folder: String, _ settings: [SwiftSetting]) -> Target {
    .executableTarget(
        name: name, dependencies: ["MultipeerConnectivity"], path: "Examples/Ports/\(folder)/After",
        packageAccess: false, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: ["TestSupport"] + dependencies, swiftSettings: strict)
}

/// Short pieces of code as applications write it; they see what any other package sees.
func idioms(_ folder: String, _ settings: [SwiftSetting]) -> Target {
    .target(
        name: "IdiomsOf\(folder)", dependencies: ["MultipeerConnectivity"],
        path: "Tests/ConnectivityClients/Idioms/\(folder)", packageAccess: false,
        swiftSettings: settings + [.treatAllWarnings(as: .error)])
}

let package = Package(
    name: "swift-multipeer",
    // The first versions with the standard library's `Mutex` and task executors. Linux has no such number. The article
    // Platforms of the library Multipeer says what was built and tested, and where.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .library(name: "Multipeer", targets: ["Multipeer"]),
        .library(name: "MultipeerEssentials", targets: ["MultipeerEssentials"]),
        .library(name: "MultipeerConnectivity", targets: ["MultipeerConnectivity"]),
        .library(name: "MultipeerWeb", targets: ["MultipeerWeb"]),
        .library(name: "MultipeerActors", targets: ["MultipeerActors"]),
        .library(name: "MultipeerObservation", targets: ["MultipeerObservation"]),
        .library(name: "MultipeerSimulation", targets: ["MultipeerSimulation"]),
        .executable(name: "multipeer", targets: ["MultipeerCLI"]),
        .executable(name: "multipeer-conform", targets: ["MultipeerConform"]),
    ],
    traits: [
        // Off by default: for tests of what other systems than Linux use.
        .trait(
            name: "PortableRuntime",
            description: "Uses on Linux what every system with POSIX has: poll, a pipe and getifaddrs."),
        // Off by default: on Linux it needs libavahi-compat-libdnssd-dev. The manifest defines the same for Darwin.
        .trait(
            name: "SystemDiscovery",
            description: "Discovers on Linux by avahi-daemon, with the calls of Darwin's responder."),
    ],
    targets: [
        .systemLibrary(name: "CLibSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // On Darwin the same calls are in a module of the system.
        .systemLibrary(name: "CDNSSD", providers: [.apt(["libavahi-compat-libdnssd-dev"])]),
        .target(
            name: "CPlatform", cSettings: [.treatAllWarnings(as: .error), .enableWarning("all")]),
        // Each asks in one file which library the system has, and exports it.
        .target(
            name: "MultipeerPlatform",
            dependencies: [.byName(name: "CDNSSD", condition: .when(traits: ["SystemDiscovery"]))],
            swiftSettings: strict + [systemDiscovery]),
        layer("MultipeerFoundation"),
        layer("MultipeerNetworking"),

        layer("MultipeerCore"),
        layer("MultipeerFraming", ["MultipeerCore"]),
        layer("MultipeerSecurity", ["CLibSSL", "MultipeerFraming", "MultipeerCore"]),
        layer("MultipeerHandshake", ["MultipeerSecurity", "MultipeerFraming", "MultipeerCore"]),
        layer("MultipeerDiscovery", ["MultipeerFraming", "MultipeerCore"]),
        layer("MultipeerLink", ["MultipeerFraming", "MultipeerCore"]),
        layer(
            "MultipeerMesh",
            [
                "MultipeerLink", "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming",
                "MultipeerCore",
            ]),
        layer(
            "MultipeerEngine",
            [
                "MultipeerMesh", "MultipeerLink", "MultipeerHandshake", "MultipeerSecurity",
                "MultipeerFraming",
                "MultipeerCore",
            ]),
        .target(
            name: "MultipeerTransport",
            dependencies: [
                "CPlatform", "MultipeerPlatform", "MultipeerEngine", "MultipeerMesh", "MultipeerLink",
                "MultipeerDiscovery",
                "MultipeerHandshake",
                "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
            ],
            swiftSettings: strict + [systemDiscovery]),
        // The Swift API without Foundation: for commands, and for programs that have to be small.
        layer(
            "MultipeerEssentials",
            [
                "MultipeerTransport", "MultipeerEngine", "MultipeerMesh", "MultipeerLink",
                "MultipeerDiscovery",
                "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
            ]),
        layer(
            "Multipeer",
            [
                "MultipeerEssentials", "MultipeerFoundation", "MultipeerTransport", "MultipeerMesh",
                "MultipeerLink", "MultipeerDiscovery", "MultipeerHandshake", "MultipeerSecurity",
                "MultipeerFraming", "MultipeerCore",
            ]),
        layer("MultipeerFetch", ["MultipeerPlatform", "MultipeerTransport", "MultipeerCore"]),
        layer(
            "MultipeerWeb",
            ["MultipeerNetworking", "MultipeerFetch", "Multipeer", "MultipeerTransport", "MultipeerCore"]),
        layer(
            "MultipeerActors",
            [
                "Multipeer", "MultipeerTransport", "MultipeerMesh", "MultipeerLink", "MultipeerFraming",
                "MultipeerCore",
            ]),
        layer("MultipeerObservation", ["MultipeerFoundation", "Multipeer"]),
        .target(
            name: "CMultipeerConnectivity", cSettings: [.treatAllWarnings(as: .error), .enableWarning("all")]),
        .target(
            name: "MultipeerConnectivity",
            dependencies: [
                // Where Apple's module is, its name is taken.
                .byName(name: "CMultipeerConnectivity", condition: .when(platforms: [.linux, .android])),
                "MultipeerPlatform", "MultipeerFetch", "MultipeerWeb", "Multipeer", "MultipeerTransport",
                "MultipeerMesh",
                "MultipeerDiscovery", "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming",
                "MultipeerCore",
            ],
            swiftSettings: faithful),
        layer(
            "MultipeerSimulation",
            [
                "Multipeer", "MultipeerTransport", "MultipeerDiscovery", "MultipeerEngine", "MultipeerMesh",
                "MultipeerLink", "MultipeerHandshake",
                "MultipeerSecurity",
                "MultipeerFraming", "MultipeerCore",
            ]),
        .target(
            name: "MultipeerConformance",
            dependencies: [
                "CLibSSL", "CPlatform", "MultipeerPlatform", "MultipeerTransport", "MultipeerSecurity",
            ],
            exclude: ["README.md"], swiftSettings: strict),
        layer("MultipeerCommandLine", ["MultipeerPlatform", "MultipeerEssentials"]),
        .executableTarget(
            name: "MultipeerCLI",
            dependencies: ["MultipeerCommandLine", "MultipeerFetch", "MultipeerEssentials"],
            swiftSettings: strict),
        .executableTarget(
            name: "MultipeerConform",
            dependencies: ["MultipeerCommandLine", "MultipeerConformance", "Multipeer", "MultipeerPlatform"],
            swiftSettings: strict),
        .executableTarget(
            name: "multipeer-demo", dependencies: ["MultipeerCommandLine", "Multipeer"],
            path: "Examples/Demo",
            swiftSettings: strict),

        .target(
            name: "MultipeerBenchCommon", dependencies: ["Multipeer"], path: "Benchmarks/Common",
            swiftSettings: strict),
        .executableTarget(
            name: "MultipeerBench",
            dependencies: ["MultipeerBenchCommon", "MultipeerConnectivity", "MultipeerActors", "Multipeer"],
            path: "Benchmarks/Swift", swiftSettings: strict),
        // Without Apple's API, whose libraries would be in its memory.
        .executableTarget(
            name: "MultipeerBenchNative", dependencies: ["MultipeerBenchCommon"], path: "Benchmarks/Native",
            swiftSettings: strict),

        .target(name: "MultipeerFigures", path: "Tests/Acceptance/Figures", swiftSettings: strict),
        .target(
            name: "MultipeerOrders", dependencies: ["MultipeerCore"], path: "Tests/Acceptance/Orders",
            swiftSettings: strict),
        .executableTarget(
            name: "MultipeerEndurance",
            dependencies: [
                "Multipeer", "MultipeerTransport", "MultipeerHandshake", "MultipeerCore",
                "MultipeerFigures",
            ],
            path: "Tests/Acceptance/Endurance", swiftSettings: strict),
        .target(name: "MultipeerHistory", path: "Tests/Acceptance/History", swiftSettings: strict),
        .executableTarget(
            name: "check-history", dependencies: ["MultipeerHistory"], path: "Tests/Acceptance/CheckHistory",
            swiftSettings: strict),
        .executableTarget(
            name: "MultipeerMember",
            dependencies: ["Multipeer", "MultipeerSecurity", "MultipeerHistory", "MultipeerOrders"],
            path: "Tests/Acceptance/Member", swiftSettings: strict),
        .executableTarget(
            name: "MultipeerAttacker", dependencies: ["MultipeerConformance"],
            path: "Tests/Acceptance/Attacker", swiftSettings: strict),
        .executableTarget(
            name: "MultipeerCaller", dependencies: ["Multipeer", "MultipeerActors", "MultipeerOrders"],
            path: "Tests/Acceptance/Caller", swiftSettings: strict),
        .executableTarget(
            name: "MultipeerNeighbour",
            dependencies: [
                "MultipeerTransport", "MultipeerDiscovery", "MultipeerCore", "MultipeerOrders",
            ],
            path: "Tests/Acceptance/Neighbour", swiftSettings: strict),
        .executableTarget(
            name: "MultipeerWitness", dependencies: ["Multipeer", "MultipeerOrders"],
            path: "Tests/Outages/Witness", swiftSettings: strict),
        .executableTarget(
            name: "MultipeerDevice", dependencies: ["MultipeerConnectivity"], path: "Tests/Acceptance/Device",
            swiftSettings: client),
        .executableTarget(
            name: "MultipeerReuse",
            dependencies: ["MultipeerConnectivity", "MultipeerTransport", "MultipeerFigures"],
            path: "Tests/Acceptance/Reuse", swiftSettings: client),
        .executableTarget(
            name: "MultipeerPair",
            dependencies: ["MultipeerConnectivity", "MultipeerTransport", "MultipeerFigures"],
            path: "Tests/Acceptance/Pair", swiftSettings: classic),
        // Applications of Apple's API as most are written: classic delegates, in Swift 5 mode.
        .executableTarget(
            name: "MultipeerBehaviour", dependencies: ["MultipeerConnectivity"],
            path: "Tests/ConnectivityBehaviour/Program", swiftSettings: classic),
        .executableTarget(
            name: "peer-session", dependencies: ["MultipeerConnectivity"], path: "Examples/PeerSession",
            swiftSettings: client),
        .executableTarget(
            name: "collusion", dependencies: ["MultipeerConnectivity"], path: "Examples/Collusion",
            swiftSettings: client),
        .executableTarget(
            name: "sky", dependencies: ["MultipeerActors", "Multipeer"], path: "Examples/Sky",
            swiftSettings: client),
        applePort("ChatBefore", "Chat", classic),
        linuxPort("port-chat", "Chat", classic),
        applePort("FileDropBefore", "FileDrop", classic),
        linuxPort("port-file-drop", "FileDrop", classic),
        applePort("GameBefore", "Game", client),
        linuxPort("port-game", "Game", client),
        .executableTarget(
            name: "simulate", dependencies: ["MultipeerSimulation"], path: "Tests/Simulation/Runner",
            swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["MultipeerTransport"], path: "Tests/TestSupport",
            swiftSettings: strict),
        tests("HistoryTests", ["MultipeerHistory"]),
        tests("CoreTests", ["MultipeerCore"]),
        tests("FramingTests", ["MultipeerFraming", "MultipeerCore"]),
        tests("SecurityTests", ["MultipeerSecurity", "MultipeerFraming", "MultipeerCore"]),
        tests(
            "HandshakeTests",
            [
                "MultipeerSimulation", "MultipeerEngine", "MultipeerMesh", "MultipeerHandshake",
                "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
            ]),
        tests("DiscoveryTests", ["MultipeerDiscovery", "MultipeerCore"]),
        tests("LinkTests", ["MultipeerLink", "MultipeerFraming", "MultipeerCore"]),
        tests(
            "MeshTests",
            [
                "MultipeerSimulation", "MultipeerMesh", "MultipeerLink", "MultipeerHandshake",
                "MultipeerFraming", "MultipeerCore", "FuzzBodies",
            ]),
        tests(
            "TransportTests",
            [
                "MultipeerTransport", "MultipeerEngine", "MultipeerDiscovery", "MultipeerSecurity",
                "MultipeerFraming", "MultipeerCore",
            ]),
        tests(
            "LoopbackTests",
            [
                "MultipeerFetch", "MultipeerWeb", "Multipeer", "MultipeerTransport", "MultipeerEngine",
                "MultipeerMesh", "MultipeerLink", "MultipeerDiscovery",
                "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
            ]),
        tests(
            "ActorsTests",
            [
                "MultipeerActors", "Multipeer", "MultipeerTransport", "MultipeerMesh",
                "MultipeerFraming", "MultipeerCore",
            ]),
        tests(
            "ObservationTests",
            ["MultipeerObservation", "MultipeerSimulation", "Multipeer", "MultipeerTransport"]),
        // Programs of other people, as they are written for Apple's platforms: one text in both language modes.
        .target(
            name: "ClassicClient", dependencies: ["MultipeerConnectivity"],
            path: "Tests/ConnectivityClients/Classic", swiftSettings: classic),
        .target(
            name: "ClassicClientSwift6", dependencies: ["MultipeerConnectivity"],
            path: "Tests/ConnectivityClients/ClassicSwift6", swiftSettings: client),
        idioms("AnyMode", [.swiftLanguageMode(.v6)]),
        idioms("Swift5", [.swiftLanguageMode(.v5)]),
        idioms("Swift6", [.swiftLanguageMode(.v6)]),
        idioms(
            "MainActorByDefault",
            [
                .swiftLanguageMode(.v6), .defaultIsolation(MainActor.self),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("InferIsolatedConformances"),
            ]),
        // What only compiles in Swift 5 mode, there as on Apple's platforms.
        .target(
            name: "Swift5Client", dependencies: ["MultipeerConnectivity"],
            path: "Tests/ConnectivityClients/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "ConnectivityTests",
            dependencies: [
                "TestSupport", "ClassicClient", "ClassicClientSwift6", "Swift5Client",
                "MultipeerConnectivity",
                "MultipeerDevice", "MultipeerReuse", "peer-session", "collusion", "Multipeer",
                "MultipeerTransport", "MultipeerMesh", "MultipeerDiscovery", "MultipeerHandshake",
                "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
            ],
            exclude: ["apple.txt", "interface", "MultipeerConnectivity.interface.txt"],
            swiftSettings: client),
        .testTarget(
            name: "BehaviourTests",
            dependencies: ["TestSupport", "MultipeerBehaviour", "MultipeerTransport"],
            path: "Tests/ConnectivityBehaviour/Suite", swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "TestSupport", "MultipeerSimulation", "MultipeerMesh", "MultipeerFraming", "MultipeerCore",
                "simulate",
            ],
            path: "Tests/Simulation/Suite",
            swiftSettings: strict),
        .target(
            name: "SimulatedRoom", dependencies: ["MultipeerSimulation", "Multipeer"],
            path: "Tests/SimulatedNetwork/Room", swiftSettings: strict),
        .executableTarget(
            name: "simulate-room", dependencies: ["SimulatedRoom"], path: "Tests/SimulatedNetwork/Program",
            swiftSettings: strict),
        .testTarget(
            name: "SimulatedNetworkTests",
            dependencies: [
                "TestSupport", "SimulatedRoom", "simulate-room", "MultipeerSimulation", "MultipeerActors",
                "MultipeerTransport", "Multipeer",
            ],
            path: "Tests/SimulatedNetwork/Suite", swiftSettings: strict),
        tests(
            "ConformanceTests",
            [
                "MultipeerConformance", "MultipeerConform", "MultipeerCommandLine", "MultipeerTransport",
                "MultipeerSecurity",
            ]),
        tests("SpecTests", ["MultipeerDiscovery", "MultipeerHandshake", "MultipeerCore"]),
        tests(
            "VectorTests",
            [
                "MultipeerTransport", "MultipeerEngine", "MultipeerMesh", "MultipeerLink",
                "MultipeerDiscovery",
                "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
            ]),
        tests(
            "CommandTests",
            [
                "MultipeerCLI", "MultipeerCommandLine", "MultipeerConform", "multipeer-demo",
                "MultipeerNeighbour", "peer-session", "collusion", "sky", "port-chat", "port-file-drop",
                "port-game", "Multipeer", "MultipeerTransport",
            ]),
        .testTarget(
            name: "SkyTests", dependencies: ["TestSupport", "sky", "MultipeerActors", "Multipeer"],
            swiftSettings: client),

        .target(
            name: "FuzzBodies",
            dependencies: [
                "MultipeerCommandLine", "MultipeerSimulation", "MultipeerActors", "MultipeerConnectivity",
                "MultipeerFetch", "MultipeerTransport", "MultipeerMesh", "MultipeerLink",
                "MultipeerDiscovery",
                "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
            ],
            path: "Fuzz/Bodies", swiftSettings: strict),
        // Called by libFuzzer in a fuzzing build, a program that replays files in any other.
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzBodies"], path: "Fuzz/Program", swiftSettings: strict),
        tests("FuzzRegressionTests", ["FuzzBodies"]),
    ]
)

// A sanitizer is shown only the tests that can tell it something, and what they need: `.ci/sanitize` says which.
if let wanted = Context.environment["MULTIPEER_TESTS"]?.split(separator: " ").map(String.init) {
    // The samples of Snippets are built as well.
    var needed = Set(
        wanted + [
            "Multipeer", "MultipeerConnectivity", "MultipeerActors", "MultipeerObservation",
            "MultipeerSimulation",
        ])
    for target in package.targets.reversed() where needed.contains(target.name) {
        for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { product in
        let library = (product as? Product.Library)?.targets
        let program = (product as? Product.Executable)?.targets
        return !needed.isSuperset(of: library ?? program ?? [])
    }
}

// The program that is shipped is small: what is not on the way of the data is optimised for size. Only `.packaging/build` asks for it,
// since a package with such flags cannot be a dependency.
if Context.environment["MULTIPEER_SMALL"] != nil {
    let unhurried = ["MultipeerCLI", "MultipeerCommandLine", "MultipeerFetch", "MultipeerDiscovery"]
    for target in package.targets where unhurried.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Osize"])]
    }
}
