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
        let anns = try await ann.sees(#/read these digits to bob: ([0-9]{3} [0-9]{3})/#)
        let bobs = try await bob.sees(#/read these digits to ann: ([0-9]{3} [0-9]{3})/#)
        try await ann.types("/code bob \(anns)\n")
        try await ann.sees("these are not the digits")
        try await ann.types("/code bob \(bobs)\n")
        try await bob.types("/code ann \(anns)\n")
        try await ann.sees("* bob is verified by code")
        try await bob.sees("* ann is verified by code")
        try await bob.types("/who\nlater\n")
        try await bob.sees("linked, encrypted, TLS_AES_128_GCM_SHA256, verified by code")
        try await ann.sees("bob [verified]: later")
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
