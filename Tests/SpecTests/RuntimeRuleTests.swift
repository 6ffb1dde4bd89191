import Foundation
import TestSupport
import Testing

@Suite("1 Rules outside the engine", .computing)
struct RuntimeRuleTests {
    @Test("the rules that only the runtime enforces are those that CONTRIBUTING.md lists")
    func listed() throws {
        let rows = try Repository.file("Spec/rules.md").lines.compactMap(Row.init)
        let outside = rows.filter { !$0.files.isEmpty && $0.files.allSatisfy(\.isOfTheRuntime) }
        let text = try Repository.file("CONTRIBUTING.md").text
        let section = try #require(text.split(separator: "| why it is there |").last)
        let end = try #require(section.range(of: "\n\n"))
        let listed = section[..<end.lowerBound].matches(of: #/`([a-z]+\.[a-z-]+)`/#).map { String($0.1) }
        #expect(Set(outside.map(\.label)) == Set(listed))
        #expect(rows.count > 200 && Set(listed).count == listed.count)
    }

    /// One line of the table of rules: the label, and the files whose code enforces it.
    private struct Row {
        let label: String
        let files: [String]

        init?(_ line: Substring) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count > 3, let label = cells[1].firstMatch(of: #/`([a-z-]+\.[a-z-]+)`/#) else {
                return nil
            }
            self.label = String(label.1)
            files = cells[2].matches(of: #/`([^`]+)`/#).map { String($0.1) }
        }
    }
}

extension String {
    fileprivate var isOfTheRuntime: Bool {
        ["MultipeerTransport/", "MultipeerEssentials/", "Multipeer/"].contains { hasPrefix($0) }
    }
}
