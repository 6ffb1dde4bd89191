import Foundation
import TestSupport
import Testing

@testable import MultipeerConformance

@Suite("The conformance suite", .computing)
struct SuiteTests {
    /// Nothing harmful at all may come of these, whatever the rule.
    static let withoutRule: Set = ["FLOOD-01"]

    @Test("every case has a unique id in its section, states what it expects, and names a rule and a fault")
    func cases() {
        var ids: Set<String> = []
        for (section, _, cases) in Suite.sections {
            for one in cases {
                #expect(ids.insert(one.id).inserted, "\(one.id) comes twice")
                #expect(one.section == section, "\(one.id)")
                #expect(!one.title.isEmpty && !one.stimulus.isEmpty && !one.expectation.isEmpty, "\(one.id)")
                let needsRule = section != "MUT" && !Self.withoutRule.contains(one.id)
                #expect(one.rules.isEmpty != needsRule, "\(one.id)")
                #expect(!one.bugs.isEmpty, "\(one.id)")
                #expect(!one.orders.isEmpty, "\(one.id)")
            }
        }
    }

    @Test("the quick subset leaves out only existing cases, and keeps most")
    func quick() {
        #expect(Suite.lengthy.isSubset(of: Suite.cases.map(\.id)))
        #expect(Suite.waiting.isSubset(of: Suite.lengthy))
        let quick = Suite.cases.filter(\.isQuick)
        #expect(quick.count > Suite.cases.count / 2)
        for (name, _, _) in Suite.sections where !["MUT", "FLOOD", "LIV"].contains(name) {
            #expect(quick.contains { $0.section == name }, "\(name)")
        }
    }

    @Test("every rule that a case names is a rule of the specification")
    func rules() throws {
        let folder = SuiteTests.root.appending(path: "Spec")
        let chapters = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".md")
        }
        let text = try chapters.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
            .joined()
        for one in Suite.cases {
            for rule in one.rules { #expect(text.contains("**[\(rule)]**"), "\(one.id): \(rule)") }
        }
    }

    @Test("the judge uses nothing of the stack above security and transport")
    func imports() throws {
        let folder = SuiteTests.root.appending(path: "Sources/MultipeerConformance")
        let forbidden = [
            "Multipeer", "MultipeerMesh", "MultipeerHandshake", "MultipeerFraming", "MultipeerDiscovery",
        ]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        where name.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            for line in text.split(separator: "\n") where line.contains("import ") {
                let module = line.split(separator: " ").last.map(String.init) ?? ""
                #expect(!forbidden.contains(module), "\(name): \(line)")
            }
        }
    }

    @Test(
        "cases are chosen by id, pattern, order of uids, section, chapter and level",
        arguments: [
            (["LINK-11"], [], ["LINK-11"]), (["link-1?"], ["6.3"], ["LINK-11", "LINK-12", "LINK-13"]),
            (["LINK-11/tester-lower"], [], ["LINK-11"]), ([], ["MSG"], nil), (["DATA-99"], [], []),
        ] as [([String], [String], [String]?)])
    func selection(_ words: [String], _ sections: [String], _ expected: [String]?) {
        var selection = CaseSelection()
        (selection.words, selection.sections) = (words, sections)
        let ids = selection.cases.map(\.id)
        if let expected { #expect(ids == expected) } else { #expect(ids.allSatisfy { $0.hasPrefix("MSG-") }) }
        #expect(selection.unknown == words.filter { $0 == "DATA-99" })
    }

    @Test("a keyword for one order of uids runs the case in that order alone")
    func order() {
        var selection = CaseSelection()
        selection.words = ["LINK-11/tester-higher"]
        #expect(selection.cases.map(\.orders) == [[.testerHigher]])
    }

    @Test("the same seed gives the same numbers, and another case gives others")
    func seeds() {
        var (one, other) = (SplitMix64(seed: 7, name: "a"), SplitMix64(seed: 7, name: "a"))
        var third = SplitMix64(seed: 7, name: "b")
        let bytes = one.bytes(32)
        #expect(bytes == other.bytes(32))
        #expect(bytes != third.bytes(32))
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
