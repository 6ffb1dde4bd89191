import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: a peer's bytes on a terminal", .serialized, .inTurns)
struct TerminalTextTests {
    @Test("a file is written to a terminal only with --raw, and then as it is")
    func file() async throws {
        let refused = try TerminalUser(["receive", "--into", "-", "--yes"])
        #expect(try await refused.end() == 2)
        #expect(
            refused.screen.contains(
                "multipeer: standard output is a terminal, which the bytes of a sender could"))
        #expect(refused.screen.contains("add '| less' or '> FILE', or use --raw"))
        let saved = try await Command.run("receive", "--raw")
        #expect(saved.code == 2 && saved.errors.contains("--raw is for '--into -' alone"))
        let folder = try Folder()
        let path = try folder.write("a\u{1b}]0;b\u{7}c\n", to: "x")
        let options = { (name: String, other: String) in TransferProcesses.options(name, other, folder) }
        let bob = TerminalUser(
            try Command(
                ["receive", "--into", "-", "--raw"] + options("bob", "ann"),
                environment: ["TERM": "xterm"], through: TerminalUser.wrapper))
        let ann = try await Command(["send", "--unverified", path] + options("ann", "bob")).finish()
        #expect(ann.code == 0, "\(ann.errors)")
        #expect(try await bob.end() == 0)
        #expect(bob.screen.contains("a\u{1b}]0;b\u{7}c\r\n"))
    }

    @Test("control characters are escaped, line ends and tabs are not, however the bytes are split")
    func escapes() {
        let text = "a\tb\r\nc\rd\u{1b}[2J\u{9b}1m é 👍🏽 \u{202e}x\n"
        let shown = "a\tb\r\nc\\u{d}d\\u{1b}[2J\\u{9b}1m é 👍🏽 \\u{202e}x\n"
        let bytes = Array(text.utf8)
        for size in 1...bytes.count {
            var filter = TerminalText()
            var output: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                output += filter.render(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            output += filter.finish()
            #expect(String(decoding: output, as: UTF8.self) == shown, "\(size)")
        }
        var filter = TerminalText()
        #expect(filter.render([0x61, 0xE2, 0x82]) == [0x61])
        #expect(filter.finish() == Array("\u{FFFD}".utf8))
    }

    @Test(
        "link shows a terminal no escape sequence of the peer, unless --raw is given",
        arguments: [false, true])
    func link(_ isRaw: Bool) async throws {
        let folder = try Folder()
        let words = [
            "link", "--unverified", "--name", "ann", "--listen", "127.0.0.1", "--timeout", "20", "--quiet",
            "--out", folder.path("ann.data"), "--from", folder.path("bob.data"),
        ]
        let ann = TerminalUser(
            try Command(
                words + (isRaw ? ["--raw"] : []),
                through: ["/bin/sh", "-c", "exec script -qefc \"$* < /dev/null\" /dev/null", "sh"]))
        let bob = try LinkProcesses.start("bob", expecting: "ann", in: folder)
        #expect(try await bob.finish(Array("\u{1b}[2Jhello\n".utf8)).code == 0)
        #expect(try await ann.end() == 0)
        #expect(ann.screen.contains(isRaw ? "\u{1b}[2Jhello" : "\\u{1b}[2Jhello"))
    }
}
