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
        let ann = try company.typist(
            "ann", expecting: "bob", ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"])
        let bob = try company.typist("bob", expecting: "ann", ["TERM": "dumb", "LC_ALL": "C"])
        try await ann.sees("* bob joined, encrypted")
        try await bob.sees("* ann joined, encrypted")
        try await ann.types("hel")
        try await ann.sees("> hel")
        try await bob.types("hi\n")
        _ = try await ann.sees(#/\r\x1b\[K([0-9]{2}:[0-9]{2}) bob: hi\r\n> hel/#)
        try await ann.types("xx\u{7f}\u{7f}lo\n")
        try await bob.sees("ann: hello\r\n")
        _ = try await ann.sees(#/\r\x1b\[K([0-9]{2}:[0-9]{2}) > hello\r\n> /#)
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
        #expect(!ann.screen.contains(#/\x1b\[[0-9;]*m/#))
        try await ann.types("\u{4}")
        try await bob.sees("* ann left")
        try await bob.types("/quit\n")
        #expect(try await ann.end() == 0)
        #expect(try await bob.end() == 0)
        #expect(!bob.screen.contains("\u{1b}"))
        #expect(ann.screen.contains("\u{1b}[?2004h") && ann.screen.hasSuffix("\u{1b}[?2004l"))
    }

    @Test("names have a colour, Tab and the arrows work, and a terminal of a C locale gets ASCII only")
    func keys() async throws {
        let company = try ChatProcesses()
        let ann = try company.typist(
            "ann", expecting: "bob", ["TERM": "xterm", "LC_ALL": "C", "NO_COLOR": ""])
        let bob = try company.typist(
            "bob", expecting: "ann", ["TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": ""])
        try await ann.sees("* bob joined, encrypted")
        try await bob.sees("* ann joined, encrypted")
        try await ann.types("@B\thi 👋\n")
        try await ann.sees("> @bob hi \\u{1f44b}\r\n")
        let line = #/\x1b\[2m([0-9]{2}:[0-9]{2})\x1b\[0m \x1b\[3[1-6]mann\x1b\[0m > you: hi 👋\r\n/#
        _ = try await bob.sees(line)
        try await bob.types("👩\u{200d}👧 \u{1b}[200~one\rtwo\u{1b}[201~")
        try await bob.sees("> 👩\u{200d}👧 one\u{21b5}two")
        try await bob.types("\n")
        try await ann.sees(": \\u{1f469}\\u{200d}\\u{1f467} one\r\n")
        try await ann.sees(": two\r\n")
        try await ann.types("\u{1b}[A!\n")
        try await bob.sees(": hi 👋!\r\n")
        try await ann.types("/\t\t")
        try await ann.sees("/accept  /add  /code  ")
        try await ann.types("leave\n")
        try await bob.sees("* ann left")
        try await bob.types("\u{4}")
        #expect(try await ann.end() == 0)
        #expect(try await bob.end() == 0)
    }
}

extension ChatProcesses {
    fileprivate func typist(
        _ name: String, expecting other: String, _ environment: [String: String]
    ) throws -> TerminalUser {
        TerminalUser(try join(name, from: [other], environment: environment, through: TerminalUser.wrapper))
    }
}
