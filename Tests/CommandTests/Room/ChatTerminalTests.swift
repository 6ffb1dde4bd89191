import Foundation
import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: chat on terminals", .serialized, .inTurns)
struct ChatTerminalTests {
    @Test("a dumb terminal gets no escape sequences; on another one the typed text stays together")
    func terminals() async throws {
        let company = try ChatProcesses()
        let ann = try company.typist("ann", expecting: "bob", terminal: "xterm")
        let bob = try company.typist("bob", expecting: "ann", terminal: "dumb")
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

extension ChatProcesses {
    fileprivate func typist(_ name: String, expecting other: String, terminal: String) throws -> TerminalUser
    {
        TerminalUser(
            try join(name, from: [other], environment: ["TERM": terminal], through: TerminalUser.wrapper))
    }
}
