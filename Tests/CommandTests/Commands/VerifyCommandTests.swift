import Foundation
import MultipeerCLI
import MultipeerTransport
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: link --verify", .serialized, .inTurns)
struct VerifyCommandTests {
    @Test("both users see the same code, and their bytes are sent once both have said yes [sas.value]")
    func yes() async throws {
        let pair = try Terminals()
        let codes = [try await pair.ann.code(), try await pair.bob.code()]
        #expect(codes[0] == codes[1])
        #expect(codes[0].wholeMatch(of: /[0-9]{3} [0-9]{3}/) != nil)
        async let ann = pair.ann.hears("y")
        async let bob = pair.bob.hears(" Yes ")
        #expect(try await [ann, bob] == [0, 0])
        #expect(try pair.ann.output() == "from bob")
        #expect(try pair.bob.output() == "from ann")
    }

    @Test(
        "any answer but yes ends the command, and nothing was sent or shown", arguments: ["n", "", "yellow"])
    func no(_ answer: String) async throws {
        let pair = try Terminals()
        _ = try await (pair.ann.code(), pair.bob.code())
        // Bob's bytes are in flight while ann still decides.
        async let bob = pair.bob.hears("y")
        #expect(try await pair.ann.hears(answer) == 1)
        #expect(try await bob == 1)
        #expect(try pair.ann.output() == "")
        #expect(try pair.bob.output() == "")
        #expect(pair.ann.said.contains("multipeer: bob was not verified; nothing was sent or shown"))
        #expect(pair.bob.said.contains("the link to ann ended before everything had arrived"))
    }

    @Test("a yes that was typed before the question is no answer to it")
    func typeAhead() async throws {
        let folder = try Folder()
        let ann = try User("ann", expecting: "bob", in: folder, ["--verify"])
        try await ann.typesAhead("y")
        let bob = try User("bob", expecting: "ann", in: folder, ["--verify"])
        _ = try await (ann.code(), bob.code())
        async let end = bob.hears("y")
        #expect(try await ann.hears("n") == 1)
        #expect(try await end == 1)
        #expect(try ann.output() == "")
        #expect(ann.said.contains("bob was not verified"))
    }

    @Test("a side without the option explains how to compare, and computes no code [sas.requested]")
    func oneSided() async throws {
        let folder = try Folder()
        let ann = try User("ann", expecting: "bob", in: folder, ["--verify"])
        let bob = try LinkProcesses.start("bob", expecting: "ann", in: folder)
        #expect(try await bob.says("ann wants to compare codes: link again, with --verify on both sides"))
        bob.process.signal(SIGINT)
        #expect(try await bob.finish().code == 130)
        #expect(try await ann.hears("") == 1)
        #expect(!ann.said.contains("compare with the other side"))
        #expect(try ann.output() == "")
    }

    @Test("without a terminal --verify is refused before there is a link")
    func noTerminal() async throws {
        let folder = try Folder()
        let ann = try Command(
            ["link", "--verify", "--listen", "127.0.0.1", "--out", folder.path("ann.data"), "--from", "x"],
            through: ["/usr/bin/setsid", "--wait"])
        let ending = try await ann.finish()
        #expect(ending.code == 2)
        #expect(
            ending.errors
                == "multipeer: option '--verify' needs a terminal (try 'multipeer link --help')\n"
        )
        #expect(!folder.exists("ann.data"))
    }

    @Test(
        "without encryption there is no code: --verify is refused with none, and fails on a plain link [sas.plain]"
    )
    func plain() async throws {
        let asked = try await Command.run("link", "--verify", "--preference", "none", "--from", "x")
        #expect(asked.code == 2)
        let pair = try Terminals(
            ["--preference", "optional"], others: ["--preference", "none"], verifies: false)
        #expect(try await pair.ann.hears("") == 1)
        #expect(pair.ann.said.contains("is not encrypted, so there is no code to compare"))
        #expect(try await pair.bob.hears("") == 1)
        #expect(try pair.bob.output() == "")
    }
}

/// Two commands, each with a terminal of its own, whose standard streams are files.
private struct Terminals {
    let ann: User
    let bob: User

    init(_ options: [String] = [], others: [String] = [], verifies: Bool = true) throws {
        let folder = try Folder()
        ann = try User("ann", expecting: "bob", in: folder, ["--verify"] + options)
        bob = try User("bob", expecting: "ann", in: folder, (verifies ? ["--verify"] : []) + others)
    }
}

/// A user at a terminal. `script` creates it, shows what is written there, and types what it is given.
private final class User: Sendable {
    private let name: String
    private let folder: Folder
    private let command: Command
    private let screen = Locked("")

    init(_ name: String, expecting other: String, in folder: Folder, _ options: [String]) throws {
        self.name = name
        self.folder = folder
        try Data("from \(name)".utf8).write(to: URL(filePath: folder.path("\(name).in")))
        let streams = "< '\(folder.path("\(name).in"))' > '\(folder.path("\(name).out"))'"
        command = try Command(
            [
                "link", "--name", name, "--listen", "127.0.0.1", "--timeout", "20", "--quiet", "--out",
                folder.path("\(name).data"), "--from", folder.path("\(other).data"),
            ] + options,
            through: ["/bin/sh", "-c", "exec script -qefc \"$* \(streams)\" /dev/null", "sh"])
    }

    /// Everything that was to be seen on the terminal.
    var said: String { screen.withLock { $0 } }

    /// Waits until the code is shown.
    func code() async throws -> String {
        while true {
            let line = try await command.firstLine()
            screen.withLock { $0 += line + "\n" }
            guard let match = line.firstMatch(of: /compare with the other side: ([0-9 ]+)/) else {
                try #require(!line.isEmpty, "\(said)")
                continue
            }
            return String(match.1)
        }
    }

    /// Types a line, and waits until the terminal has it: until its echo is shown.
    func typesAhead(_ text: String) async throws {
        try await command.send(Array("\(text)\n".utf8))
        while true {
            let line = try await command.firstLine()
            screen.withLock { $0 += line + "\n" }
            if line.filter({ !$0.isWhitespace }) == text { return }
            try #require(!line.isEmpty, "\(said)")
        }
    }

    /// Types an answer, and waits for the end of the command: its exit code.
    func hears(_ answer: String) async throws -> Int32 {
        let ending = try await command.finish(Array("\(answer)\n".utf8))
        screen.withLock { $0 += ending.text }
        return ending.code
    }

    func output() throws -> String { try String(contentsOfFile: folder.path("\(name).out"), encoding: .utf8) }
}
