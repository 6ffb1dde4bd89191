import Foundation
import MultipeerBehaviour
import TestSupport
import Testing

@Suite("The programs about the behaviour of Apple's API", .computing)
struct CorpusTests {
    @Test("there are at least 120 programs, each with an id of its own and one sentence")
    func programs() {
        #expect(Program.all.count >= 120)
        #expect(Set(Program.all.map(\.id)).count == Program.all.count)
        #expect(Set(Program.all.map(\.statement)).count == Program.all.count)
        for program in Program.all {
            #expect(program.id.wholeMatch(of: /[a-z-]+\.[a-z0-9-]+/) != nil, "\(program.id)")
            #expect(program.statement.wholeMatch(of: /[A-Z][^|]*\./) != nil, "\(program.statement)")
        }
    }

    @Test("the documentation ends with the table that `swift run MultipeerBehaviour table` prints")
    func table() throws {
        let article = try String(
            contentsOf: CorpusTests.catalogue.appending(path: "Behaviour.md"), encoding: .utf8)
        let tables = try #require(article.range(of: "\n### ")).lowerBound
        let documented = article[tables...].dropFirst().split(
            separator: "\n", omittingEmptySubsequences: false)
        let expected = Program.table.split(separator: "\n", omittingEmptySubsequences: false)
        for (line, other) in zip(documented, expected) { #expect(line == other) }
        #expect(documented.count == expected.count)
    }

    @Test("the first page of the documentation links to the table")
    func link() throws {
        let page = CorpusTests.catalogue.appending(path: "MultipeerConnectivity.md")
        #expect(try String(contentsOf: page, encoding: .utf8).contains("<doc:Behaviour>"))
    }

    private static let catalogue = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Sources/MultipeerConnectivity/MultipeerConnectivity.docc")
}
