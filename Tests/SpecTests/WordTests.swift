import Foundation
import TestSupport
import Testing

/// One thing has one word, and folders say what is in them.
@Suite("1 Words and folders", .computing)
struct WordTests {
    @Test("a word that the table of words has retired is not used as a name")
    func retired() throws {
        let retired = try retiredWords()
        #expect(retired.count > 50)
        for file in try code() {
            for line in file.lines where words(in: line).contains(where: retired.contains) {
                let back = words(in: code(in: line)).filter(retired.contains)
                #expect(back.isEmpty, "\(file.path): \(back.joined(separator: ", "))")
            }
        }
    }

    @Test("every name in the table of words is declared")
    func declared() throws {
        let declared = Set(try declarations(nested: true).map(\.name))
        for row in try rows() {
            for name in row.words where name.first?.isUppercase == true {
                let isDeclared = declared.contains(name)
                #expect(isDeclared, "\(name)")
            }
        }
    }

    @Test("a name that two libraries use for a type means the same in both")
    func meanings() throws {
        let modules = Dictionary(grouping: try declarations(), by: \.name).mapValues { Set($0.map(\.module)) }
        let shared = modules.filter { $0.value.count > 1 }
        for (name, users) in shared where !WordTests.sameInTheSuite.contains(name) {
            Issue.record("\(name) is declared in \(users.sorted().joined(separator: " and "))")
        }
        // The suite judges what the engine does, and imports nothing of it: it has its own of what the protocol has.
        for name in WordTests.sameInTheSuite {
            #expect(
                shared[name]?.contains("MultipeerConformance") == true,
                "\(name) need not be listed any more")
        }
    }

    /// What the conformance suite has a second time: the same thing of the protocol, read from the specification.
    private static let sameInTheSuite: Set = [
        "Candidate", "CloseCode", "ConnectionData", "DNSMessage", "DatagramOffer", "Endpoint", "Frame",
        "FrameHeader",
        "FrameKind",
        "Hello", "Limits", "MessageCredit",
    ]

    // MARK: Reading

    private func code() throws -> [Repository.File] {
        try ["Sources", "Tests", "Fuzz"].flatMap { folder in
            try Repository.files(under: folder) { $0.hasSuffix(".swift") }
        }
    }

    private struct Row {
        let words: [String]
        let retired: [String]
    }

    private func rows() throws -> [Row] {
        let text = try Repository.file("CONTRIBUTING.md").text
        let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Words\n") })
        let table = try #require(section.split(separator: "\n### ").first)
        return table.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            func quoted(_ cell: Int) -> [String] {
                cells[cell].matches(of: #/`(\w+)`/#).map { String($0.1) }
            }
            return Row(words: quoted(1), retired: quoted(4))
        }
    }

    private func retiredWords() throws -> Set<String> { Set(try rows().flatMap(\.retired)) }

    private func words(in line: Substring) -> [String] {
        line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }

    /// The line without its comment and its strings.
    private func code(in line: Substring) -> Substring {
        line.replacing(#/"(?:[^"\\]|\\.)*"/#, with: "").replacing(#/\/\/.*/#, with: "")
    }

    private struct Declaration {
        let module: String
        let name: String
    }

    /// The types of each module: those at the top level that others see, or all of them.
    private func declarations(nested: Bool = false) throws -> [Declaration] {
        try Repository.folders(in: "Sources").flatMap { module in
            try Repository.files(under: "Sources/\(module)") { $0.hasSuffix(".swift") }.flatMap { file in
                let lines = file.lines
                return lines.indices.compactMap { index -> Declaration? in
                    let isNested = lines[index].hasPrefix(" ") || lines[index].hasPrefix("private ")
                    guard nested || !isNested, let header = Header(lines, at: index),
                        header.word != "extension"
                    else { return nil }
                    return Declaration(module: module, name: header.name)
                }
            }
        }
    }
}
