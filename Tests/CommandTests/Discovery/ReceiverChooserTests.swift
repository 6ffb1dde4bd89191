import Foundation
import Multipeer
import MultipeerCLI
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: send without a name", .serialized, .inTurns)
struct ReceiverChooserTests {
    private let type = ServiceType.random()
    private let folder: Folder
    private let path: String

    init() throws {
        folder = try Folder()
        path = try folder.write("x", to: "x")
        try FileManager.default.createDirectory(
            atPath: folder.path("inbox"), withIntermediateDirectories: false)
    }

    private func options(_ name: String) -> [String] { ["--name", name, "--type", type] }

    private func receiver(_ name: String) throws -> Command {
        try Command(["receive", "--into", folder.path("inbox"), "--yes"] + options(name))
    }

    private func sender(on terminal: String) throws -> TerminalUser {
        try TerminalUser(["send", "--unverified", path] + options("ann"), terminal: terminal)
    }

    @Test(
        "the receivers on the network are shown below the code, and a key, the arrows or a line chooses one",
        arguments: [
            ("xterm", "1"), ("xterm", "\u{1b}[B\r"), ("xterm", "\r"), ("dumb", "1\n"),
            ("dumb", "nobody\nbob\n"), ("dumb", "\n"),
        ])
    func chooses(_ terminal: String, _ keys: String) async throws {
        let ann = try sender(on: terminal)
        try await ann.sees("in another terminal, run: multipeer ")
        let bob = try receiver("bob")
        try await ann.sees("1  bob  (id ")
        try await ann.types(keys)
        try await ann.sees("the code is no longer valid; waiting for 'bob' (id ")
        try await ann.sees("bob is not verified: found on the network; first contact")
        #expect(try await ann.end() == 0, "\(ann.screen)")
        #expect(try await bob.finish().code == 0)
        #expect(folder.exists("inbox/x"))
        #expect(ann.screen.contains("\u{1b}[J") == (terminal == "xterm"))
    }

    @Test("when the code is entered first, the list goes away and questions are lines again")
    func code() async throws {
        let ann = try sender(on: "xterm")
        let code = try await ann.sees(#/run: multipeer ([-a-z0-9]+)/#)
        let carl = try receiver("carl")
        try await ann.sees("1  carl")
        let bob = try await Command(["receive", code, "--into", folder.path("inbox")] + options("bob"))
            .finish()
        #expect(bob.code == 0, "\(bob.errors)")
        #expect(try await ann.end() == 0, "\(ann.screen)")
        #expect(ann.screen.contains("\r\u{1b}[2A\u{1b}[J"))
        carl.process.signal(SIGINT)
        _ = try await carl.finish()
    }

    @Test("without a terminal for input there is the code only")
    func script() async throws {
        let receiver = try receiver("bob")
        #expect(try await receiver.says("waiting as"))
        let ann = try Command(["send", "--timeout", "1", path] + options("ann"))
        let ending = try await ann.finish()
        #expect(ending.code == 1)
        #expect(ending.errors.contains("run: multipeer ") && !ending.errors.contains("bob"))
        receiver.process.signal(SIGINT)
        _ = try await receiver.finish()
    }
}
