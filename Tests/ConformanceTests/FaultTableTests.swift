import Foundation
import TestSupport
import Testing

@testable import MultipeerConformance

/// `Spec/faults.json`: which planted faults show that a rule is tested, and which rules none shows.
@Suite("The table of rules and faults", .computing)
struct FaultTableTests {
    private struct Table: Decodable {
        let faults: [String: [String]]
        let without: [String: String]
        let crashes: [String]
    }

    private let table: Table
    private let rules: Set<String>

    init() throws {
        let spec = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Spec")
        table = try JSONDecoder().decode(
            Table.self, from: Data(contentsOf: spec.appending(path: "faults.json")))
        let chapters = try FileManager.default.contentsOfDirectory(atPath: spec.path).filter {
            $0.hasSuffix(".md") && $0.wholeMatch(of: #/[0-9A-C].*/#) != nil
        }
        var found: Set<String> = []
        for name in chapters {
            let text = try String(contentsOf: spec.appending(path: name), encoding: .utf8)
            found.formUnion(text.matches(of: #/\*\*\[([a-z0-9]+\.[a-z0-9-]+)\]\*\*/#).map { String($0.1) })
        }
        rules = found
    }

    @Test("every rule has a fault of its own, or a reason why it has none")
    func everyRule() {
        #expect(rules.count > 200)
        let listed = Set(table.faults.keys)
        #expect(listed.intersection(table.without.keys).isEmpty)
        #expect(rules.subtracting(listed).subtracting(table.without.keys).sorted() == [])
        #expect(listed.union(table.without.keys).subtracting(rules).sorted() == [])
        #expect(table.faults.values.allSatisfy { !$0.isEmpty })
        #expect(table.without.values.allSatisfy { !$0.isEmpty })
    }

    @Test("every fault of the second peer breaks one rule, or is a crash")
    func everyFault() {
        let listed = table.faults.values.flatMap(\.self) + table.crashes
        #expect(listed.count == Set(listed).count)
        #expect(Set(listed).symmetricDifference(Bug.allCases.map(\.rawValue)).sorted() == [])
    }

    @Test("every fault is found by cases that test its rule, and by at least one")
    func everyCase() {
        for (rule, faults) in table.faults {
            for fault in faults {
                let cases = Suite.cases.filter { $0.bugs.contains { $0.name == fault } }
                #expect(!cases.isEmpty, "\(fault)")
                // Some are also found where they break a second rule.
                #expect(cases.contains { $0.rules.contains(rule) }, "\(rule): \(fault)")
            }
        }
    }
}
