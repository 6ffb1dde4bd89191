import Foundation
import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: chat on terminals", .serialized, .inTurns)
struct ChatTerminalTests {
    @Test("a dumb terminal sees no escape sequences; on another one what is typed stays together")
    func terminals() async throws {
        let company = try Company()
        let ann = try Typist("ann", seeking: "bob", in: company, terminal: "xterm")
        let bob = try Typist("bob", seeking: "ann", in: company, terminal: "dumb")
        try await ann.sees("* bob joined, encrypted")
        try await bob.sees("* ann joined, encrypted")
        try await ann.types("hel")
        try await ann.sees("> hel")
        try await bob.types("hi\n")
        try await ann.sees("\r\u{1b}[Kbob: hi\r\n> hel")
        try await ann.types("xx\u{7f}\u{7f}lo\n")
        try await bob.sees("ann: hello\r\n")
        try await bob.types("/code ann\n")
        try await ann.sees("* bob wants to compare codes: /code bob")
        try await ann.types("/code bob\n")
        let code = try await ann.sees(#/compare with bob: ([0-9]{3} [0-9]{3})/#)
        try await bob.sees("compare with ann: \(code)")
        try await bob.types("/code ann yes\n/who\n")
        try await bob.sees("the key in its connection data, code compared")
        try await ann.types("\u{4}")
        try await bob.sees("* ann left")
        try await bob.types("/quit\n")
        #expect(try await ann.end() == 0)
        #expect(try await bob.end() == 0)
        #expect(!bob.screen.contains("\u{1b}"))
    }
}

/// Somebody at a terminal of a kind. `script` makes it, shows what is written there, and types what it is given.
private final class Typist: Sendable {
    private let command: Command
    private let reading = Worker("screen")
    private let seen = Locked("")

    init(_ name: String, seeking other: String, in company: Company, terminal: String) throws {
        command = try company.join(
            name, from: [other], environment: ["TERM": terminal],
            through: ["/bin/sh", "-c", "exec script -qefc \"$*\" /dev/null", "sh"])
    }

    /// Everything that was to be seen so far.
    var screen: String { seen.withLock { $0 } }

    func types(_ keys: String) async throws { try await command.send(Array(keys.utf8)) }

    func sees(_ text: String) async throws {
        while !screen.contains(text) { try #require(try await more(), "no '\(text)' in \(screen)") }
    }

    func sees(_ text: Regex<(Substring, Substring)>) async throws -> String {
        while true {
            if let match = screen.firstMatch(of: text) { return String(match.1) }
            try #require(try await more(), "\(screen)")
        }
    }

    /// Waits for more; false at the end.
    private func more() async throws -> Bool {
        let bytes = try await reading.run { [command] () throws(Complaint) in
            try command.process.output.read(4_096)
        }
        guard let bytes else { return false }
        seen.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        return true
    }

    func end() async throws -> Int32 {
        while try await more() {}
        return try await command.finish().code
    }
}
