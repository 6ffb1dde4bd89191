import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: rooms with a code", .serialized, .inTurns)
struct CodeRoomTests {
    private let type = ServiceType.random()

    private func join(_ name: String, _ options: [String] = []) throws -> Command {
        try Command(
            ["chat", "--name", name, "--type", type, "--room", "kitchen", "--timeout", "20"] + options)
    }

    /// Opens a room, and returns its code.
    private func open(_ name: String) async throws -> (Command, code: String) {
        let command = try join(name, ["--code", "new"])
        #expect(try await command.says("others join with: multipeer chat "))
        let line = try #require(command.written.split(separator: "\n").last)
        let words = try #require(line.split(separator: ":").last).split(separator: " ").map(String.init)
        #expect(Array(words.dropFirst(3)) == ["--room", "kitchen", "--type", type])
        return (command, try #require(words.dropFirst(2).first))
    }

    @Test("those who have the code of a room are linked, and a script sends to them")
    func members() async throws {
        let (ann, code) = try await open("ann")
        let bob = try join("bob", [code])
        #expect(try await ann.says("bob joined, encrypted; unverified: has the code that its group shares"))
        let cid = try join("cid", ["--code", code])
        #expect(try await bob.says("cid joined"))
        #expect(try await ann.says("cid joined"))
        #expect(try await cid.says(all: ["ann joined", "bob joined"]) == [])
        try await cid.types("hello")
        for one in [ann, bob] { #expect(try await one.firstLine() == "cid: hello") }
        for one in [ann, bob, cid] { #expect(try await one.leaves().code == 0) }
    }

    @Test("a peer with other words is not let in, and everyone is told")
    func wrongWords() async throws {
        let (ann, code) = try await open("ann")
        let number = code.prefix { $0 != "-" }
        let eve = try join("eve", ["--code", "\(number)-guitar-island-guitar-island"])
        #expect(try await ann.says("tried a wrong code, and was not let in"))
        #expect(try await eve.says("ann has other words in its code, or has guessed: not let in"))
        try await ann.types("hello?")
        let bob = try join("bob", ["--code", code])
        #expect(try await ann.says("bob joined"))
        try await ann.types("hello")
        var heard = try await bob.firstLine()
        if heard == "ann: hello?" { heard = try await bob.firstLine() }
        #expect(heard == "ann: hello")
        for one in [ann, bob] { #expect(try await one.leaves().code == 0) }
        let ending = try await eve.leaves()
        #expect(ending.output.isEmpty && !ending.errors.contains("joined"), "\(ending.errors)")
    }

    @Test("without the code nobody is let in, and the user hears that the room has one")
    func withoutCode() async throws {
        let (ann, _) = try await open("ann")
        let dan = try join("dan")
        #expect(try await dan.says("ann is in a room of the same name that needs a code (--code)"))
        #expect(try await ann.says("dan is in a room of the same name without a code"))
        try await ann.types("/add TVBDRA==")
        #expect(try await ann.says("this room has a code: others join with --code"))
        for one in [ann, dan] {
            one.process.signal(SIGINT)
            let ending = try await one.finish()
            #expect(ending.code == 130 && !ending.errors.contains("joined"), "\(ending.errors)")
        }
    }
}
