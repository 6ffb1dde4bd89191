import Foundation
import TestSupport
import Testing

/// The layers, bottom-up, and everything each may import. A module not listed here does not exist.
private let layers: [Layer] = [
    Layer("CLibSSL"),
    Layer("CPlatform"),
    // The calls of the system's responder where the system is not Darwin, for a trait alone.
    Layer("CDNSSD"),
    Layer("MultipeerCore"),
    Layer("MultipeerFraming", on: ["MultipeerCore"]),
    Layer("MultipeerSecurity", on: ["MultipeerFraming", "MultipeerCore", "CLibSSL"]),
    Layer("MultipeerHandshake", on: ["MultipeerSecurity", "MultipeerFraming", "MultipeerCore"]),
    Layer("MultipeerDiscovery", on: ["MultipeerFraming", "MultipeerCore"]),
    Layer("MultipeerLink", on: ["MultipeerFraming", "MultipeerCore"]),
    Layer(
        "MultipeerMesh",
        on: [
            "MultipeerLink", "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming",
            "MultipeerCore",
        ]),
    Layer(
        "MultipeerEngine",
        on: [
            "MultipeerMesh", "MultipeerLink", "MultipeerHandshake", "MultipeerSecurity",
            "MultipeerFraming", "MultipeerCore",
        ]),
    // Each asks in one file which library the system has. No other module imports one of these libraries.
    Layer("MultipeerPlatform", on: ["CDNSSD"], outside: operatingSystem.union(["dnssd"])),
    Layer("MultipeerFoundation", outside: ["Foundation", "FoundationEssentials"]),
    Layer("MultipeerNetworking", outside: ["Foundation", "FoundationNetworking"]),
    Layer(
        "MultipeerTransport",
        on: [
            "MultipeerEngine", "MultipeerMesh", "MultipeerLink", "MultipeerDiscovery",
            "MultipeerHandshake",
            "MultipeerSecurity", "MultipeerFraming", "MultipeerCore", "MultipeerPlatform", "CPlatform",
        ],
        outside: ["Synchronization"]),
    // Without Foundation, like all that the command is made of.
    Layer(
        "MultipeerEssentials",
        on: [
            "MultipeerTransport", "MultipeerEngine", "MultipeerMesh", "MultipeerLink", "MultipeerDiscovery",
            "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
        ],
        outside: ["Synchronization"]),
    Layer(
        "Multipeer",
        on: [
            "MultipeerEssentials", "MultipeerTransport", "MultipeerMesh", "MultipeerLink",
            "MultipeerDiscovery", "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming",
            "MultipeerCore", "MultipeerFoundation",
        ]),
    // What holds for any client of web servers.
    Layer(
        "MultipeerFetch", on: ["MultipeerTransport", "MultipeerCore", "MultipeerPlatform"],
        outside: ["Dispatch"]),
    // Foundation's client of web servers, which brings libcurl with it, is for those alone who import this.
    Layer(
        "MultipeerWeb",
        on: ["MultipeerFetch", "Multipeer", "MultipeerTransport", "MultipeerCore", "MultipeerNetworking"],
        outside: ["Dispatch", "Foundation", "Synchronization"]),
    Layer(
        "MultipeerActors",
        on: [
            "Multipeer", "MultipeerTransport", "MultipeerMesh", "MultipeerLink",
            "MultipeerFraming", "MultipeerCore",
        ],
        outside: ["Distributed", "Foundation"]),
    // A model for any user interface: of the toolchain it needs the module that observes, and no interface.
    Layer(
        "MultipeerObservation", on: ["Multipeer", "MultipeerFoundation"],
        outside: ["Foundation", "Observation"]),
    Layer("CMultipeerConnectivity"),
    Layer(
        "MultipeerConnectivity",
        on: [
            "MultipeerFetch", "MultipeerWeb", "Multipeer", "MultipeerTransport", "MultipeerMesh",
            "MultipeerDiscovery",
            "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming", "MultipeerCore",
            "CMultipeerConnectivity", "MultipeerPlatform",
        ],
        outside: ["Dispatch", "Foundation"]),
    Layer(
        "MultipeerSimulation",
        on: [
            "Multipeer", "MultipeerTransport", "MultipeerEngine", "MultipeerMesh", "MultipeerLink",
            "MultipeerDiscovery", "MultipeerHandshake", "MultipeerSecurity", "MultipeerFraming",
            "MultipeerCore",
        ]),
    // The judge: security and transport alone, so that a fault of a codec cannot hide on both sides.
    Layer(
        "MultipeerConformance",
        on: ["MultipeerTransport", "MultipeerSecurity", "MultipeerPlatform", "CPlatform", "CLibSSL"],
        outside: ["Dispatch", "Foundation"]),
    Layer(
        "MultipeerCommandLine", on: ["MultipeerEssentials", "MultipeerPlatform"],
        outside: ["Dispatch", "Synchronization"]),
    Layer(
        // Without Foundation, libcurl and Apple's API, so that the program is small and needs no library but that of C.
        "MultipeerCLI", on: ["MultipeerCommandLine", "MultipeerFetch", "MultipeerEssentials"],
        outside: ["Synchronization"]),
    Layer(
        "MultipeerConform",
        on: ["MultipeerCommandLine", "Multipeer", "MultipeerConformance", "MultipeerPlatform"],
        outside: ["Foundation", "Synchronization"]),
]

private let operatingSystem: Set<String> = ["Glibc", "Musl", "Android", "Darwin"]

/// One folder under `Sources/`.
private struct Layer: CustomTestStringConvertible {
    let name: String
    let below: Set<String>
    let outside: Set<String>

    init(_ name: String, on below: Set<String> = [], outside: Set<String> = []) {
        self.name = name
        self.below = below
        self.outside = outside
    }

    var testDescription: String { name }
}

@Suite("1 Layers", .computing)
struct LayerRuleTests {
    @Test("every folder under Sources is a layer of the table, and every layer is a folder")
    func folders() throws {
        #expect(try Repository.folders(in: "Sources") == layers.map(\.name).sorted())
    }

    @Test("the table itself points downwards only")
    func table() {
        for (position, layer) in layers.enumerated() {
            #expect(layer.below.isSubset(of: layers[..<position].map(\.name)), "\(layer.name)")
        }
    }

    @Test("nothing that the command is made of imports Foundation")
    func command() throws {
        var parts: Set = ["MultipeerCLI"]
        for layer in layers.reversed() where parts.contains(layer.name) { parts.formUnion(layer.below) }
        for layer in layers where parts.contains(layer.name) {
            let foundation = layer.outside.union(layer.below).filter { $0.contains("Foundation") }
            #expect(foundation.isEmpty, "\(layer.name)")
        }
    }

    @Test("deciding layers and those below import nothing from outside the package")
    func purity() throws {
        let engine = try #require(layers.firstIndex { $0.name == "MultipeerEngine" })
        for layer in layers[...engine] { #expect(layer.outside.isEmpty, "\(layer.name)") }
    }

    @Test("a layer imports only what the table allows", arguments: layers)
    fileprivate func imports(_ layer: Layer) throws {
        let allowed = layer.below.union(layer.outside)
        for file in try Repository.files(under: "Sources/\(layer.name)", where: { $0.hasSuffix(".swift") }) {
            for (number, line) in file.lines.enumerated() {
                guard let module = importedModule(in: line) else { continue }
                #expect(
                    allowed.contains(module),
                    "\(file.path):\(number + 1): \(layer.name) must not import \(module)")
            }
        }
    }

    @Test(
        "import lines are recognised in every notation",
        arguments: [
            ("import Foundation", "Foundation"), ("    import Glibc", "Glibc"),
            ("public import MultipeerFraming", "MultipeerFraming"),
            ("@_exported public import MultipeerFraming  // why", "MultipeerFraming"),
            ("@_spi(Testing) @preconcurrency package import Dispatch", "Dispatch"),
            ("import struct Foundation.Data", "Foundation"), ("import func Glibc.read", "Glibc"),
            ("// import Foundation", nil), ("let important = 1", nil),
        ] as [(String, String?)])
    func recognised(_ line: String, _ module: String?) {
        #expect(importedModule(in: line[...]) == module)
    }
}

/// Returns the module that a line of Swift imports, also inside `#if`: every branch must follow the rule.
private func importedModule(in line: Substring) -> String? {
    // Most lines, cheaply.
    guard line.range(of: "import ", options: .literal) != nil else { return nil }
    let pattern =
        #/
        ^\s*
        (?: @\w+ (?: \([^)]*\) )? \s+ )*
        (?: (?:public|package|internal|fileprivate|private) \s+ )?
        import \s+
        (?: (?:struct|class|enum|protocol|actor|func|var|let|typealias) \s+ )?
        (?<module> \w+ )
        /#
    return line.firstMatch(of: pattern).map { String($0.module) }
}
