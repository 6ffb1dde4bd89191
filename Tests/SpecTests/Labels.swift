import Foundation

/// The places of labels such as `[frame.length]`: defined in the spec, enforced in code, proved in tests or shown by a
/// case of the conformance suite. Spec README; `Spec/coverage.py` writes the same as a table.
struct Labels {
    /// Label → first place, as `path:line`.
    typealias Places = [String: String]

    var defined: Places = [:]
    var enforced: Places = [:]
    var proved: Places = [:]
    var exceptions: [Exception] = []

    /// A line of `Spec/exceptions.md`: `- [area.word] code: reason`, or `test:`, or `code and test:`.
    struct Exception: Equatable {
        let label: String
        let lacksCode: Bool
        let lacksTest: Bool
    }

    static func ofRepository() throws -> Labels {
        var labels = Labels()
        for file in try Repository.files(under: "Spec", where: { $0.hasSuffix(".md") }) {
            if file.path == "Spec/exceptions.md" {
                labels.exceptions = file.lines.compactMap(exception)
            } else {
                labels.defined.note(file, definitions)
            }
        }
        for file in try Repository.files(under: "Sources", where: isCode) {
            // The judge enforces nothing: what it names, its cases show.
            if file.path.hasPrefix("Sources/MultipeerConformance/Cases/") {
                labels.proved.note(rulesOf: file)
            } else if !file.path.hasPrefix("Sources/MultipeerConformance/") {
                labels.enforced.note(file, citations)
            }
        }
        for file in try Repository.files(under: "Tests", where: { $0.hasSuffix(".swift") }) {
            labels.proved.note(titlesOf: file)
        }
        for folder in ["Tests/Acceptance", "Tests/Wasm"] {
            for file in try Repository.files(under: folder, where: { !$0.hasSuffix(".swift") }) {
                labels.proved.note(file, bracketed)
            }
        }
        return labels
    }

    private static func isCode(_ path: String) -> Bool {
        [".swift", ".c", ".h"].contains { path.hasSuffix($0) }
    }
}

extension Labels {
    /// What is wrong, one sentence each, sorted; empty when spec, code and tests agree.
    var orphans: [String] {
        var found: [String] = []
        for (label, place) in defined {
            let excuse = exceptions.first { $0.label == label }
            let hasCode = enforced[label] != nil
            let hasTest = proved[label] != nil
            if !hasCode, excuse?.lacksCode != true { found.append("[\(label)] has no code: \(place)") }
            if !hasTest, excuse?.lacksTest != true { found.append("[\(label)] has no test: \(place)") }
            if hasCode, excuse?.lacksCode == true { found.append("[\(label)] is excused but has code") }
            if hasTest, excuse?.lacksTest == true { found.append("[\(label)] is excused but has a test") }
        }
        for (label, place) in enforced where defined[label] == nil {
            found.append("[\(label)] is cited by code but not in the spec: \(place)")
        }
        for (label, place) in proved where defined[label] == nil {
            found.append("[\(label)] is cited by a test but not in the spec: \(place)")
        }
        for excuse in exceptions where defined[excuse.label] == nil {
            found.append("[\(excuse.label)] is excused but not in the spec")
        }
        return found.sorted()
    }
}

/// The labels that a sentence of the spec ends with: `**[frame.length]**`.
func definitions(in line: Substring) -> [String] {
    guard line.utf8.contains(UInt8(ascii: "[")) else { return [] }
    return line.matches(of: /\*\*\[([a-z][a-z0-9]*\.[a-z][a-z0-9-]*)\]\*\*/).map { String($0.1) }
}

/// The labels in a line comment: `// [frame.length] [frame.kind]`, alone or after code.
func citations(in line: Substring) -> [String] {
    guard line.utf8.contains(UInt8(ascii: "[")), let comment = line.range(of: "//", options: .literal) else {
        return []
    }
    return bracketed(in: line[comment.upperBound...])
}

/// Every `[area.word]`.
func bracketed(in text: Substring) -> [String] {
    guard text.utf8.contains(UInt8(ascii: "[")) else { return [] }
    return text.matches(of: /\[([a-z][a-z0-9]*\.[a-z][a-z0-9-]*)\]/).map { String($0.1) }
}

/// The titles of suites and tests.
func titles(in text: String) -> [Substring] {
    var found: [Substring] = []
    for attribute in ["@Test(", "@Suite("] {
        var rest = text[...]
        while let place = rest.range(of: attribute, options: .literal) {
            rest = rest[place.upperBound...]
            if let title = rest.prefixMatch(of: /\s*"((?:[^"\\]|\\.)*)"/) { found.append(title.1) }
        }
    }
    return found
}

/// The labels in the lists `rules: ["frame.length", …]` of conformance cases.
func rules(in text: String) -> [String] {
    text.matches(of: /rules:\s*\[([^\]]*)\]/).flatMap { list in
        list.1.matches(of: /"([a-z][a-z0-9]*\.[a-z][a-z0-9-]*)"/).map { String($0.1) }
    }
}

/// An exception with its reason; nil for any other line, so also for one that gives no reason.
func exception(in line: Substring) -> Labels.Exception? {
    let form = /^[-*] \[([a-z][a-z0-9]*\.[a-z][a-z0-9-]*)\] (code and test|code|test): \S.{9,}/
    guard let match = line.firstMatch(of: form) else { return nil }
    return Labels.Exception(
        label: String(match.1), lacksCode: match.2 != "test", lacksTest: match.2 != "code")
}

extension Labels.Places {
    fileprivate mutating func note(_ file: Repository.File, _ labels: (Substring) -> [String]) {
        for (number, line) in file.lines.enumerated() {
            for label in labels(line) where self[label] == nil {
                self[label] = "\(file.path):\(number + 1)"
            }
        }
    }

    fileprivate mutating func note(rulesOf file: Repository.File) {
        for label in rules(in: file.text) where self[label] == nil { self[label] = file.path }
    }

    fileprivate mutating func note(titlesOf file: Repository.File) {
        for title in titles(in: file.text) {
            for label in bracketed(in: title) where self[label] == nil { self[label] = file.path }
        }
    }
}
