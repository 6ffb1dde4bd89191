import Foundation
import TestSupport
import Testing

/// The checklist of the migration guide: complete, and with searches that find what they should.
@Suite("Will my application run?", .computing)
struct ChecklistTests {
    private let rows: [PortingArticle.Row]
    private let sources: SourcesOfClients

    init() throws {
        rows = try PortingArticle().rows
        sources = try SourcesOfClients()
    }

    @Test("every row has a verdict, an advice and a search that can be pasted from a table")
    func form() {
        #expect(rows.count >= 45)
        for row in rows {
            #expect(!row.advice.isEmpty && !row.patterns.isEmpty, "\(row.symbols)")
            let patterns = row.patterns.map { "'\($0)'" }
            let words = patterns.count == 1 ? patterns : patterns.map { "-e \($0)" }
            #expect(row.search == "grep -rnE \(words.joined(separator: " ")) .")
            // A vertical bar would have to be escaped in the table.
            #expect(!row.search.contains("|"))
        }
    }

    @Test(
        "every search is valid, and each of its patterns finds something in code of the kind that it is for")
    func searches() throws {
        for row in rows {
            let whole = try PortingArticle.run(row.search, in: sources.folder)
            #expect(whole.code == 0 && whole.errors.isEmpty, "\(row.search): \(whole.errors)")
            for pattern in row.patterns {
                let one = try PortingArticle.run("grep -rnE -e '\(pattern)' .", in: sources.folder)
                #expect(one.code == 0, "\(row.search): nothing for \(pattern)")
            }
        }
    }

    @Test(
        "a search for what needs an edit finds nothing in code that compiles",
        arguments: [
            "Idioms/Swift5", "Idioms/Swift6", "Idioms/MainActorByDefault", "Classic", "ClassicSwift6",
        ])
    func precision(_ folder: String) throws {
        let folder = sources.folder.appending(path: "ConnectivityClients/\(folder)")
        #expect(try PortingArticle.run("grep -rnE 'MCPeerID' .", in: folder).code == 0)
        for row in rows where row.verdict == .edit {
            let found = try PortingArticle.run(row.search, in: folder)
            #expect(found.code == 1 && found.errors.isEmpty, "\(row.symbols): \(found.output)")
        }
    }

    @Test(
        "what does not compile without Objective-C or Apple's other frameworks is found by a row for an edit")
    func completeness() throws {
        let kinds = ["ObjectiveC", "Frameworks", "Foundation"].map { "WithDiagnostics/\($0)/" }
        let files = try IdiomFile.all(.withDiagnostics).filter { file in
            kinds.contains { file.path.hasPrefix($0) }
        }
        var found: Set<String> = []
        for row in rows where row.verdict == .edit {
            let folder = sources.folder.appending(path: "ConnectivityClients/Idioms")
            let hits = try PortingArticle.run(row.search, in: folder).output
            for hit in hits.split(separator: "\n") {
                let parts = hit.split(separator: ":", maxSplits: 2)
                found.insert("\(parts[0].dropFirst(2)):\(parts[1])")
            }
        }
        var count = 0
        for file in files {
            // The lines of each idiom, of which one has to be found.
            var lines: [String: [Int]] = [:]
            var title = ""
            for (index, line) in file.lines.enumerated() {
                if let next = line.remainder(after: "// idiom: ") { title = next }
                if !title.isEmpty, line.isCode { lines[title, default: []].append(index + 1) }
            }
            for (title, lines) in lines {
                count += 1
                #expect(lines.contains { found.contains("\(file.path):\($0)") }, "\(file.path): \(title)")
            }
        }
        #expect(count >= 30)
    }

    @Test("every symbol of Apple's headers is in a row, and none that differs is in one that says unchanged")
    func symbols() throws {
        let apple = try InterfaceFiles.apple()
        var count = 0
        for entry in apple.entries {
            for symbol in entry.symbols {
                count += 1
                let rows = rows.filter { $0.names(symbol.name, of: symbol.owner) }
                #expect(!rows.isEmpty, "\(symbol.owner ?? ""): \(symbol.name)")
                if entry.here != nil || entry.apple.contains(": optional func ") {
                    #expect(rows.allSatisfy { $0.verdict != .unchanged }, "\(symbol.name)")
                }
            }
        }
        #expect(count > 100)
    }
}

/// A symbol as the documentation names it.
private struct Symbol {
    let owner: String?
    let name: String
}

extension AppleInterface.Entry {
    /// The symbol of a declaration; of conformances, those that do not exist here.
    fileprivate var symbols: [Symbol] {
        if let middle = apple.firstRange(of: " conforms to ") {
            guard let here else { return [] }
            let missing = Set(apple[middle.upperBound...].components(separatedBy: ", "))
                .subtracting(here.components(separatedBy: ", "))
            return missing.sorted().map { Symbol(owner: String(owner), name: $0) }
        }
        guard let colon = apple.firstRange(of: ": "), !apple[..<colon.lowerBound].contains(" ") else {
            // A constant or a type: "let NAME: TYPE", "open class NAME : SUPERCLASS".
            let words = apple.split { " :".contains($0) }.filter { !$0.hasPrefix("@") }
            let place = words.firstIndex { ["let", "class", "protocol", "struct", "enum"].contains($0) }
            return place.map { [Symbol(owner: nil, name: String(words[$0 + 1]))] } ?? []
        }
        return AppleInterface.Entry.name(of: apple[colon.upperBound...])
            .map { [Symbol(owner: String(apple[..<colon.lowerBound]), name: $0)] } ?? []
    }

    /// "connectedPeers", "reliable", "init(peer:)", "send(_:toPeers:with:)".
    private static func name(of declaration: Substring) -> String? {
        if let match = declaration.firstMatch(of: /(?:var|case|let) (\w+)/), !declaration.contains("(") {
            return String(match.1)
        }
        if let match = declaration.firstMatch(of: /var (\w+):/) { return String(match.1) }
        guard let match = declaration.firstMatch(of: /(?:func )?(\w+)\??\(/) else { return nil }
        let base = String(match.1)
        // The labels of the outermost parentheses.
        var (depth, labels, isLabel, word) = (0, [String](), true, "")
        for character in declaration[match.range.upperBound...] {
            if "([".contains(character) { depth += 1 }
            if ")]".contains(character) { depth -= 1 }
            if depth < 0 { break }
            guard depth == 0 else { continue }
            switch character {
            case ",": (isLabel, word) = (true, "")
            case ":" where isLabel:
                labels.append(word.split(separator: " ").first.map(String.init) ?? "")
                isLabel = false
            default: word.append(character)
            }
        }
        return "\(base)(\(labels.map { "\($0):" }.joined()))"
    }
}

/// A copy of the applications before their ports, and of pieces of code that applications have, in one folder.
private final class SourcesOfClients: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "checklist-\(UUID())")

    init() throws {
        let (files, root) = (FileManager.default, PortingArticle.package)
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try files.copyItem(
            at: root.appending(path: "Tests/ConnectivityClients"),
            to: folder.appending(path: "ConnectivityClients"))
        for port in Port.all {
            try files.copyItem(
                at: root.appending(path: "Examples/Ports/\(port.folder)/Before"),
                to: folder.appending(path: port.folder))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
