import Foundation
import MultipeerCLI
import MultipeerTransport
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: link --verify", .serialized, .inTurns)
struct VerifyCommandTests {
    @Test(
        "each user types the digits that the other sees, and the bytes are sent once both are right [sas.value]"
    )
    func yes() async throws {
        let pair = try Terminals()
        let codes = (try await pair.ann.code(), try await pair.bob.code())
        #expect(codes.0 != codes.1)
        async let ann = pair.ann.types(codes.1)
        async let bob = pair.bob.types(codes.0.filter { $0 != " " })
        #expect(try await [ann, bob] == [0, 0])
        #expect(try pair.ann.output() == "from bob")
        #expect(try pair.bob.output() == "from ann")
        #expect(pair.ann.said.contains("bob is verified by code"))
    }

    @Test("what was typed before the digits were shown confirms nothing")
    func typedAhead() async throws {
        let pair = try Terminals()
        try await pair.ann.sends("y\n")
        let codes = (try await pair.ann.code(), try await pair.bob.code())
        async let bob = pair.bob.types(codes.0)
        // Neither a yes nor the digits on the own screen are those of the other side.
        try await pair.ann.sends("\(codes.0)\n")
        try await pair.ann.sees("these are not the digits (try 2 of 3)")
        async let ann = pair.ann.types(codes.1)
        #expect(try await [ann, bob] == [0, 0])
        #expect(pair.ann.said.contains("these are not the digits"))
    }

    @Test(
        "a no, and three wrong attempts, end the command on both sides with that reason [sas.different]",
        arguments: [["no"], ["", "y", "000000"]])
    func no(_ answers: [String]) async throws {
        let pair = try Terminals()
        let codes = (try await pair.ann.code(), try await pair.bob.code())
        async let bob = pair.bob.types(codes.0)
        for (index, answer) in answers.dropLast().enumerated() {
            try await pair.ann.sends("\(answer)\n")
            try await pair.ann.sees("six digits are needed (try \(index + 2) of 3)")
        }
        #expect(try await pair.ann.types(answers.last ?? "") == 1)
        #expect(try await bob == 1)
        #expect(try pair.ann.output() == "")
        #expect(try pair.bob.output() == "")
        #expect(pair.ann.said.contains("bob is not verified: the verification codes differ"))
        #expect(pair.bob.said.contains("the verification codes differ"))
    }

    @Test("the end of input at the question is no comparison: neither side says that the digits differ")
    func ended() async throws {
        let pair = try Terminals()
        _ = (try await pair.ann.code(), try await pair.bob.code())
        async let bob = pair.bob.ends()
        try await pair.ann.sends("\u{4}")
        #expect(try await pair.ann.ends() == 1)
        #expect(try await bob == 1)
        #expect(pair.ann.said.contains("bob is not verified: the terminal's input ended before an answer"))
        for user in [pair.ann, pair.bob] { #expect(!user.said.contains("codes differ")) }
    }

    @Test("a no on one side ends the question on the other, which has typed nothing [sas.different]")
    func noEndsQuestion() async throws {
        let pair = try Terminals()
        _ = (try await pair.ann.code(), try await pair.bob.code())
        async let bob = pair.bob.ends()
        #expect(try await pair.ann.types("no") == 1)
        #expect(try await bob == 1)
        #expect(pair.bob.said.contains("ann is not verified: the link ended: the verification codes differ"))
    }

    @Test("the user of a side without the option is asked at once, and may compare [sas.requested]")
    func oneSided() async throws {
        let pair = try Terminals(verifies: false)
        try await pair.bob.sees("ann is not verified: connection data carried by hand; first contact")
        try await pair.bob.sends("v\n")
        let codes = (try await pair.ann.code(), try await pair.bob.code())
        async let ann = pair.ann.types(codes.1)
        async let bob = pair.bob.types(codes.0)
        #expect(try await [ann, bob] == [0, 0])
        #expect(try pair.ann.output() == "from bob")
    }

    @Test("the user of a side that accepts unverified peers is asked when the other side wants to compare")
    func oneSidedLater() async throws {
        let pair = try Terminals(others: ["--unverified"], verifies: false)
        try await pair.bob.sees("ann wants to compare codes. Compare?")
        try await pair.bob.sends("y\n")
        let codes = (try await pair.ann.code(), try await pair.bob.code())
        async let ann = pair.ann.types(codes.1)
        async let bob = pair.bob.types(codes.0)
        #expect(try await [ann, bob] == [0, 0])
    }

    @Test("a side without a terminal says at once that it does not compare [sas.result]")
    func declined() async throws {
        let folder = try Folder()
        let ann = try User("ann", expecting: "bob", in: folder, ["--verify"])
        let bob = try LinkProcesses.start(
            "bob", expecting: "ann", in: folder, through: ["/usr/bin/setsid", "--wait"])
        #expect(
            try await bob.says("ann wants to compare codes: start both sides again, this one with --verify"))
        #expect(try await ann.ends() == 1)
        #expect(ann.said.contains("bob is not verified: bob does not compare verification codes now"))
        #expect(try ann.output() == "")
        bob.process.signal(SIGINT)
        _ = try await bob.finish()
    }

    @Test("a peer that is not verified is a question on a terminal, and an error without one")
    func unverified() async throws {
        let pair = try Terminals([], others: [], verifies: false, annVerifies: false)
        try await pair.ann.sees("bob is not verified: connection data carried by hand; first contact")
        #expect(try await pair.ann.types("") == 1)
        #expect(pair.ann.said.contains("bob is not verified; nothing was sent"))
        let silent = try Terminals([], others: [], verifies: false, annVerifies: false)
        try await silent.ann.sees("bob is not verified: connection data carried by hand; first contact")
        try await silent.ann.sends("\u{4}")
        #expect(try await silent.ann.ends() == 1)
        #expect(
            silent.ann.said.contains(
                "bob is not verified; nothing was sent: the terminal's input ended before an answer"))
        let folder = try Folder()
        async let one = LinkProcesses.start(
            "ann", expecting: "bob", in: folder, accepts: false, through: ["/usr/bin/setsid", "--wait"]
        ).finish([1])
        async let other = LinkProcesses.start("bob", expecting: "ann", in: folder).finish([2])
        let (refused, _) = try await (one, other)
        #expect(refused.code == 1)
        let line =
            "multipeer: bob is not verified: connection data carried by hand; first contact; nothing was sent"
        let last = try #require(refused.errorLines.last)
        #expect(last.hasPrefix(line))
        #expect(last.hasSuffix("(use --verify on a terminal, or --unverified to go on)"))
        #expect(refused.output.isEmpty)
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
            ["--preference", "optional"], others: ["--preference", "none", "--unverified"], verifies: false)
        #expect(try await pair.ann.ends() == 1)
        #expect(pair.ann.said.contains("is not encrypted, so there is no code to compare"))
        #expect(try await pair.bob.ends() == 1)
        #expect(try pair.bob.output() == "")
    }
}

/// Two commands, each with a terminal of its own, whose standard streams are files.
private struct Terminals {
    let ann: User
    let bob: User

    init(
        _ options: [String] = [], others: [String] = [], verifies: Bool = true, annVerifies: Bool = true
    ) throws {
        let folder = try Folder()
        ann = try User("ann", expecting: "bob", in: folder, (annVerifies ? ["--verify"] : []) + options)
        bob = try User("bob", expecting: "ann", in: folder, (verifies ? ["--verify"] : []) + others)
    }
}

/// A user at a terminal. `script` creates it, shows what is written there, and types what it is given.
private final class User: Sendable {
    private let name: String
    private let folder: Folder
    private let user: TerminalUser

    init(_ name: String, expecting other: String, in folder: Folder, _ options: [String]) throws {
        self.name = name
        self.folder = folder
        try Data("from \(name)".utf8).write(to: URL(filePath: folder.path("\(name).in")))
        let streams = "< '\(folder.path("\(name).in"))' > '\(folder.path("\(name).out"))'"
        user = TerminalUser(
            try Command(
                [
                    "link", "--name", name, "--listen", "127.0.0.1", "--timeout", "20", "--out",
                    folder.path("\(name).data"), "--from", folder.path("\(other).data"),
                ] + options,
                through: ["/bin/sh", "-c", "exec script -qefc \"$* \(streams)\" /dev/null", "sh"]))
    }

    /// Everything that was to be seen on the terminal.
    var said: String { user.screen }

    func sees(_ text: String) async throws { try await user.sees(text) }

    func sends(_ text: String) async throws { try await user.types(text) }

    /// Waits until the digits are shown.
    func code() async throws -> String {
        try await user.sees(#/read these digits to [a-z]+: ([0-9]{3} [0-9]{3})/#)
    }

    /// Types an answer, and waits for the end of the command: its exit code.
    func types(_ answer: String) async throws -> Int32 {
        try await user.types("\(answer)\n")
        return try await user.end()
    }

    /// Waits for the end of the command: its exit code.
    func ends() async throws -> Int32 { try await user.end() }

    func output() throws -> String { try String(contentsOfFile: folder.path("\(name).out"), encoding: .utf8) }
}
