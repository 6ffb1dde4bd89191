import Foundation
import Multipeer
import MultipeerCLI
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: invite", .serialized, .inTurns)
struct InviteCommandTests {
    private let type = ServiceType.random()

    private func options(_ name: String) -> [String] { ["--name", name, "--type", type] }

    private func waiting(_ name: String) async throws -> TerminalUser {
        let typist = try TerminalUser(["invite", "--wait"] + options(name))
        try await typist.sees("announcing '\(name)' (id ")
        return typist
    }

    private func fields(_ command: Command) async throws -> [String] {
        try await command.firstLine().split(separator: "\t", omittingEmptySubsequences: false).map(
            String.init)
    }

    @Test(
        "in a pipe each event is a line, and a line of input invites a peer, whose user is asked"
    )
    func pipe() async throws {
        let bob = try await waiting("bob")
        let ann = try Command(["invite"] + options("ann"))
        let found = try await fields(ann)
        try #require(found.count == 5)
        #expect(found[0] == "found" && found[1] == "1" && found[2].count == 32 && found[3] == "bob")
        try await ann.send(Array("done\n2\n1\n".utf8))
        #expect(try await ann.says("connect to at least one more peer first"))
        #expect(try await ann.says("no peer '2' found"))
        #expect(try await ann.firstLine() == "invited\t1\t\(found[2])\tbob\t")
        try await bob.sees("'ann' invites you ('bob', \(type)). accept? [y/N] ")
        try await bob.types("y\n")
        #expect(try await ann.firstLine() == "connected\t1\t\(found[2])\tbob\t")
        try await bob.sees("connected\t")
        let ending = try await ann.finish(Array("done\n".utf8))
        #expect(ending.code == 0, "\(ending.errors)")
        try await bob.sees("notConnected\t")
        try await bob.types("\u{3}")
        #expect(try await bob.end() == 130)
    }

    @Test("a peer that waits and is interrupted is lost at once")
    func interrupted() async throws {
        let bob = try await waiting("bob")
        let ann = try Command(["invite"] + options("ann"))
        let found = try await fields(ann)
        try await bob.types("\u{3}")
        #expect(try await bob.end() == 130)
        #expect(try await ann.firstLine() == "lost\t1\t\(found[2])\tbob\t")
        #expect(try await ann.finish(Array("cancel\n".utf8)).code == 1)
    }

    @Test("a refusal is a line, too, and 'cancel', the end of input and a timeout end it with exit code 1")
    func declined() async throws {
        let bob = try await waiting("bob")
        let ann = try Command(["invite"] + options("ann"))
        let found = try await fields(ann)
        try await ann.send(Array("bob\n".utf8))
        #expect(try await fields(ann).first == "invited")
        try await bob.sees("accept? [y/N] ")
        try await bob.types("\n")
        #expect(try await ann.firstLine() == "notConnected\t1\t\(found[2])\tbob\t")
        try await bob.types("\u{3}")
        #expect(try await bob.end() == 130)
        #expect(try await ann.firstLine() == "lost\t1\t\(found[2])\tbob\t")
        let ending = try await ann.finish(Array("cancel\n".utf8))
        #expect(ending.code == 1)
        #expect(ending.errorLines == ["multipeer: cancelled"])
        #expect(try await Command(["invite"] + options("ann")).finish().code == 1)
        let late = try Command(["invite", "--for", "1"] + options("ann"))
        #expect(try await late.says("timed out"))
        #expect(try await late.finish().code == 1)
        let timed = try await Command(["invite", "--wait", "--for", "1"] + options("ann")).finish()
        #expect(timed.code == 0, "\(timed.errors)")
    }

    @Test(
        "on a terminal it prints sentences, on a dumb one without escape sequences",
        arguments: ["xterm", "dumb"])
    func terminal(_ kind: String) async throws {
        let host = try Command(["advertise", "--accept", "--info", "room=attic"] + options("host"))
        #expect(try await host.says("announcing"))
        let ann = try TerminalUser(["invite"] + options("ann"), terminal: kind)
        try await ann.sees("type a number or a name to invite")
        try await ann.sees("* 1  'host' (id ")
        try await ann.sees(") is here, with a random id (room=attic)")
        try await ann.types("1\n")
        try await ann.sees(") is connected")
        try await ann.types("list\n")
        try await ann.sees(") is connected (room=attic)")
        try await ann.types("done\n")
        #expect(try await ann.end() == 0)
        #expect((kind == "dumb") == !ann.screen.contains("\u{1b}"))
        host.process.signal(SIGINT)
        #expect(try await host.finish().code == 130)
    }

    @Test("without a terminal to ask at, invitations are declined, and a message says so")
    func unasked() async throws {
        let bob = try Command(
            ["invite", "--wait"] + options("bob"), through: ["/usr/bin/setsid", "--wait"])
        #expect(try await bob.says("announcing"))
        let ann = try Command(["invite"] + options("ann"))
        _ = try await ann.firstLine()
        try await ann.send(Array("1\n".utf8))
        #expect(try await fields(ann).first == "invited")
        #expect(try await fields(ann).first == "notConnected")
        #expect(try await bob.says("declined an invitation from 'ann': there is no terminal to ask"))
        #expect(try await ann.finish().code == 1)
        bob.process.signal(SIGINT)
        _ = try await bob.finish()
    }
}
