import Foundation
import TestSupport
import Testing

/// The isolation map of the documentation matches the sources.
@Suite("1 Isolation", .computing)
struct IsolationTests {
    private static let page = "Sources/Multipeer/Multipeer.docc/IsolationMap.md"
    private static let libraries = [
        "MultipeerCore", "MultipeerFraming", "MultipeerSecurity", "MultipeerHandshake",
        "MultipeerDiscovery", "MultipeerLink", "MultipeerMesh", "MultipeerEngine",
        "MultipeerTransport", "MultipeerEssentials", "Multipeer",
        "MultipeerFetch", "MultipeerWeb", "MultipeerConnectivity", "MultipeerActors", "MultipeerObservation",
        "MultipeerSimulation",
    ]
    /// What the classes and actors of a section are.
    private static let kinds: [String: Declarations.Kind] = [
        "Actors of an I/O thread": .loopActor, "Parts of an I/O thread": .local,
        "Actors on the user's side": .actor, "Main actor": .mainActor, "Shared objects": .shared,
        "Objects of one owner": .local,
    ]

    private struct Row {
        let module: String
        let names: [String]
    }

    /// The sources are read once for all tests.
    private static let declarations = Result {
        let protocols = try Declarations.sendableProtocols()
        return try Dictionary(
            uniqueKeysWithValues: Repository.folders(in: "Sources").map {
                ($0, try Declarations(module: $0, sendableProtocols: protocols))
            })
    }

    private let sections: [String: [Row]]
    private let modules: [String: Declarations]

    init() throws {
        sections = try IsolationTests.rows(of: Repository.file(IsolationTests.page))
        modules = try IsolationTests.declarations.get()
    }

    private static func rows(of page: Repository.File) -> [String: [Row]] {
        var sections: [String: [Row]] = [:]
        var section = ""
        for line in page.lines {
            if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| Multipeer"), cells.count > 1 else { continue }
            let names = cells[1].matches(of: /`([^`]+)`/).map { String($0.1) }
            sections[section, default: []].append(Row(module: cells[0], names: names))
        }
        return sections
    }

    @Test("every class and every actor is in one row of the section for its kind, and nothing else is")
    func objects() {
        for module in IsolationTests.libraries {
            var listed: [String: Declarations.Kind] = [:]
            for (section, kind) in IsolationTests.kinds {
                for name in names(in: section, of: module) {
                    #expect(
                        listed.updateValue(kind, forKey: name) == nil, "\(module): \(name) is there twice")
                }
            }
            let declared = modules[module]?.objects.filter { $0.value != .unchecked } ?? [:]
            for name in Set(listed.keys).union(declared.keys) {
                #expect(listed[name] == declared[name], "\(module): \(name), on the page and in the sources")
            }
        }
        #expect(Set(sections.keys).isSuperset(of: IsolationTests.kinds.keys))
    }

    @Test("every assertion that the compiler cannot check is on the page, in every module, and nothing else")
    func exceptions() {
        for (module, declarations) in modules {
            let unchecked = declarations.objects.filter { $0.value == .unchecked }.keys
            #expect(
                Set(names(in: "Exceptions", of: module)) == declarations.unsafe.union(unchecked), "\(module)")
        }
    }

    @Test("values are `Sendable`, and machines are values")
    func values() {
        for row in sections["Values", default: []] {
            #expect(modules[row.module]?.values.isSuperset(of: row.names) == true, "\(row)")
            #expect(modules[row.module]?.sendable.isSuperset(of: row.names) == true, "\(row)")
        }
        for row in sections["Machines", default: []] {
            #expect(modules[row.module]?.values.isSuperset(of: row.names) == true, "\(row)")
        }
    }

    @Test(
        "code that decides has no class, no actor, no task, no lock and no await",
        arguments: [
            "MultipeerCore", "MultipeerFraming", "MultipeerHandshake", "MultipeerDiscovery",
            "MultipeerLink", "MultipeerMesh",
        ])
    func machines(_ module: String) throws {
        let declarations = try #require(modules[module])
        #expect(declarations.objects.isEmpty)
        #expect(declarations.effects.isEmpty, "\(declarations.effects)")
    }

    @Test("every type with a lock is on the page")
    func locks() {
        for module in IsolationTests.libraries {
            let listed = sections.values.joined().filter { $0.module == module }.flatMap(\.names)
            let locking = modules[module]?.locking ?? []
            #expect(locking.subtracting(listed).isEmpty, "\(module): \(locking.subtracting(listed))")
        }
    }

    @Test("only actors of a loop and on the main actor assume isolation")
    func assumptions() {
        for module in IsolationTests.libraries {
            let allowed =
                names(in: "Actors of an I/O thread", of: module) + names(in: "Main actor", of: module)
            #expect(modules[module]?.assuming.isSubset(of: allowed) == true, "\(module)")
        }
    }

    @Test("declarations are recognised in every notation")
    func headers() throws {
        let lines: [Substring] = [
            "@MainActor", "open class View: NSObject {", "final class Box<Value: Sendable>: Sendable {",
            "public struct Fault: Base, @unchecked Sendable {", "package actor Driver: LoopClient,",
            "    Sendable", "{", "    open class var one: Int { 1 }", "/// a class of its own",
        ]
        let found = lines.indices.map { Header(lines, at: $0) }
        #expect(found.map { $0?.name } == [nil, "View", "Box", "Fault", "Driver", nil, nil, nil, nil])
        #expect(found[1]?.isMainActor == true)
        #expect(found[2]?.bases == ["Sendable"])
        #expect(found[3]?.isUnchecked == true)
        #expect(found[4]?.bases == ["LoopClient", "Sendable"])
    }

    private func names(in section: String, of module: String) -> [String] {
        sections[section, default: []].filter { $0.module == module }.flatMap(\.names)
    }
}
