import Foundation
import TestSupport
import Testing

/// A closure that a generic container holds without a struct around it has a calling convention of its own. Each time the
/// container lends it out as `inout` it is wrapped on the way out, and once more on the way back: each access makes the next
/// call slower, and many end in a stack overflow.
@Suite("1 Closures in generic containers", .computing)
struct ClosureRuleTests {
    /// The idioms are code as applications write it.
    @Test("a closure in a generic container stands in a struct of its own")
    func sources() throws {
        var count = 0
        for folder in ["Sources", "Tests", "Examples", "Snippets", "Benchmarks", "Fuzz"] {
            for file in try Repository.files(under: folder, where: { $0.hasSuffix(".swift") })
            where !file.path.hasSuffix("ClosureRuleTests.swift") && !file.path.contains("/Idioms/") {
                count += 1
                for place in BareClosures.find(in: file.text) {
                    Issue.record("\(file.path):\(place.line): \(place.text)")
                }
            }
        }
        #expect(count > 500)
    }

    @Test(
        "the rule finds a closure wherever it is written",
        arguments: [
            "let wake = Locked<(@Sendable () -> Void)?>(nil)",
            "let wake = Mutex<() -> Void>({})",
            "let jobs = Locked<[() -> Void]>([])",
            "let byName: Locked<[String: (Int) async throws -> Void]>",
            "let first: Promise<\n    (time: Int, run: () -> Void)\n>",
            "typealias Answer = @Sendable (Bool) -> Void\nlet answers = Log<Answer>()",
            "typealias Answer = (Bool) -> Void\nlet answer = Locked<[Answer?]>([])",
            "let answer = Locked({ true })",
        ])
    func found(_ code: String) { #expect(BareClosures.find(in: code).count == 1) }

    @Test(
        "the rule leaves other types alone",
        arguments: [
            "// Locked<() -> Void>\nlet url = \"http://Locked<() -> Void>\"; let text = \"Locked<() -> Void>\"",
            "struct State { var wake: (() -> Void)? }\nlet state = Locked<State>(State())",
            "func map<Value>(_ body: (Value) -> Void) -> Promise<Value> { body }",
            "let closures: [() -> Void] = []",
            "typealias Answer = Bool\nlet answer = Locked<Answer>(true)",
            "let count = Locked<(start: Int, end: Int)>((0, 0))",
        ])
    func spared(_ code: String) { #expect(BareClosures.find(in: code).isEmpty) }
}

/// The places in a source file where a generic type has a function type among its arguments. Works on bytes: the sources are
/// long, and regular expressions take minutes without optimisation.
private struct BareClosures {
    struct Place {
        let line: Int
        let text: String
    }

    private let code: [UInt8]
    /// The function types that the file names.
    private let names: Set<String>

    static func find(in text: String) -> [Place] {
        guard text.utf8.contains(UInt8(ascii: "<")) || text.contains("Locked") else { return [] }
        return BareClosures(text).places
    }

    private init(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(BareClosures.code)
        names = Set(
            lines.lazy.filter { $0.contains("typealias ") && $0.contains("->") }
                .compactMap { $0.split(separator: "typealias ").last?.split(separator: " ").first }
                .map(String.init))
        code = Array(lines.joined(separator: "\n").utf8)
    }

    private var places: [Place] {
        code.indices.filter { isBare(at: $0) }.map { index in
            let line = code[..<index].split(separator: BareClosures.newline, omittingEmptySubsequences: false)
            let rest = code[index...].prefix { $0 != BareClosures.newline }
            return Place(
                line: line.count, text: String(decoding: (line.last ?? []) + rest, as: UTF8.self))
        }
    }

    private static let newline = UInt8(ascii: "\n")

    /// Whether the arguments of a generic type, or of a lock's initialiser, begin here, with a function among them.
    private func isBare(at index: Int) -> Bool {
        switch code[index] {
        case UInt8(ascii: "<"):
            guard word(before: index).first?.isUppercase == true, let arguments = arguments(at: index + 1)
            else { return false }
            return arguments.contains("->") || !names.isDisjoint(with: BareClosures.words(in: arguments))
        case UInt8(ascii: "{"):
            var end = index
            while end > 0, "( ".utf8.contains(code[end - 1]) { end -= 1 }
            return end < index && ["Locked", "Mutex"].contains(word(before: end))
        default: return false
        }
    }

    private func word(before index: Int) -> String {
        let word = code[..<index].reversed().prefix { byte in
            let letter = Character(UnicodeScalar(byte))
            return letter.isASCII && (letter.isLetter || letter.isNumber || letter == "_")
        }
        return String(decoding: word.reversed(), as: UTF8.self)
    }

    /// Returns what stands between the angle brackets; nil when they do not close.
    private func arguments(at start: Int) -> String? {
        var depth = 1
        for index in code.indices[start...].prefix(500) {
            if code[index] == UInt8(ascii: "<") { depth += 1 }
            if code[index] == UInt8(ascii: ">"), code[index - 1] != UInt8(ascii: "-") { depth -= 1 }
            if depth == 0 { return String(decoding: code[start..<index], as: UTF8.self) }
        }
        return nil
    }

    private static func words(in code: String) -> Set<String> {
        Set(code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    }

    /// Returns the line with neither a comment nor the contents of string literals.
    private static func code(of line: Substring) -> String {
        var code: [UInt8] = []
        var isQuoted = false
        var before = UInt8(ascii: " ")
        for byte in line.utf8 {
            if byte == UInt8(ascii: "\""), before != UInt8(ascii: "\\") { isQuoted.toggle() }
            if byte == UInt8(ascii: "/"), before == byte, !isQuoted {
                code.removeLast()
                break
            }
            if !isQuoted { code.append(byte) }
            before = byte
        }
        return String(decoding: code, as: UTF8.self)
    }
}
