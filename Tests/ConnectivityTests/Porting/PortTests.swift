import Foundation
import TestSupport
import Testing

/// One application of `Examples/Ports`.
struct Port: CustomTestStringConvertible, Sendable {
    let folder: String
    /// The name in the table of the article.
    let name: String
    /// The file that is ported, and those that stay as they are.
    let model: String
    let unchanged: [String]

    var testDescription: String { name }

    static let all = [
        Port(folder: "Chat", name: "chat", model: "ChatService", unchanged: []),
        Port(folder: "FileDrop", name: "file drop", model: "DropService", unchanged: []),
        Port(folder: "Game", name: "game", model: "GameModel", unchanged: ["PlayerState"]),
    ]

    func path(_ part: String, _ file: String) -> String { "Examples/Ports/\(folder)/\(part)/\(file).swift" }

    func lines(_ part: String, _ file: String) throws -> [Substring] {
        let url = PortingArticle.package.appending(path: path(part, file))
        return try String(contentsOf: url, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .dropLast()
    }

    /// The files of the user interface.
    func views(_ part: String) throws -> [String] {
        let url = PortingArticle.package.appending(path: "Examples/Ports/\(folder)/\(part)")
        return try FileManager.default.contentsOfDirectory(atPath: url.path)
            .filter { $0.hasSuffix(".swift") }.map { String($0.dropLast(6)) }
            .filter { $0 != model && !unchanged.contains($0) }.sorted()
    }
}

@Suite("Three ports", .computing)
struct PortTests {
    private let article: PortingArticle

    init() throws { article = try PortingArticle() }

    @Test("the article shows the difference between the files", arguments: Port.all)
    func differences(_ port: Port) throws {
        let labels = ["Before", "After"].map { "--label \($0)/\(port.model).swift" }.joined(separator: " ")
        let paths = ["Before", "After"].map { port.path($0, port.model) }.joined(separator: " ")
        let diff = try PortingArticle.run("diff -U1 \(labels) \(paths)", in: PortingArticle.package)
        #expect(diff.code == 1 && diff.errors.isEmpty)
        let index = try #require(Port.all.firstIndex { $0.folder == port.folder })
        #expect(article.diffs.count == Port.all.count)
        #expect(article.diffs[index] + "\n" == diff.output)
        for file in port.unchanged { #expect(try port.lines("Before", file) == port.lines("After", file)) }
    }

    @Test("a port of the network and the model only adds lines, after #else", arguments: Port.all)
    func additions(_ port: Port) throws {
        let diff = article.diffs[try #require(Port.all.firstIndex { $0.folder == port.folder })]
        let lines = diff.split(separator: "\n").filter { !$0.hasPrefix("+++") && !$0.hasPrefix("---") }
        #expect(!lines.contains { $0.hasPrefix("-") })
        for hunk in lines.split(whereSeparator: { $0.hasPrefix("@@") }) {
            let first = hunk.first { $0.hasPrefix("+") }
            #expect(first?.trimmingCharacters(in: ["+", " "]) == "#else")
        }
    }

    @Test("the table of the article has the counts of the files", arguments: Port.all)
    func counts(_ port: Port) throws {
        let diff = article.diffs[try #require(Port.all.firstIndex { $0.folder == port.folder })]
        let changed = diff.split(separator: "\n").filter { !$0.hasPrefix("+++") && !$0.hasPrefix("---") }
        let before = try port.lines("Before", port.model)
        let shared = try ([port.model] + port.unchanged).map { try port.lines("Before", $0).count }.reduce(
            0, +)
        let conditions = before.map { $0.trimmingCharacters(in: [" "]) }
            .count { $0.hasPrefix("#if ") || $0 == "#endif" }
        let views = try ["Before", "After"].map { part in
            try port.views(part).map { try port.lines(part, $0).count }.reduce(0, +)
        }
        let numbers = [
            shared, changed.count { $0.hasPrefix("+") }, changed.count { $0.hasPrefix("-") }, conditions,
        ]
        let row = ([port.name] + (numbers + views).map { "\($0)" }).joined(separator: " | ")
        #expect(article.text.contains("\n| \(row) |\n"), "| \(row) |")
    }

    @Test("the README has the number of added lines of each port")
    func readme() throws {
        let added = article.diffs.map { diff in
            diff.split(separator: "\n").count { $0.hasPrefix("+") && !$0.hasPrefix("+++") }
        }
        let text = try String(
            contentsOf: PortingArticle.package.appending(path: "README.md"), encoding: .utf8)
        let counts = "(\(added[0]), \(added[1]) and \(added[2]) added lines)"
        #expect(text.contains(counts), "\(counts)")
    }

    @Test("the views before a port need UIKit as a whole, and nothing else does", arguments: Port.all)
    func conditions(_ port: Port) throws {
        for view in try port.views("Before") {
            let lines = try port.lines("Before", view)
            #expect(lines.first == "#if canImport(UIKit)" && lines.last == "#endif", "\(view)")
        }
        #expect(try !port.views("After").isEmpty)
    }
}
