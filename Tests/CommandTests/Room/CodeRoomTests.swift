import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: rooms with a code", .serialized, .inTurns)
struct CodeRoomTests {
    private let type = ServiceType.random()

    private func join(
        _ name: String, _ options: [String] = [], type other: String? = nil, room: String = "kitchen"
    ) throws -> Command {
        try Command(
            ["chat", "--name", name, "--type", other ?? type, "--room", room, "--timeout", "20"] + options)
    }

    /// Opens a room, and returns its code.
    private func open(_ name: String, _ options: [String] = []) async throws -> (Command, code: String) {
        let command = try join(name, ["--code", "new"] + options)
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

    @Test("a room is joined through a member at an address, with its code, and without discovery")
    func address() async throws {
        let (ann, code) = try await open("ann", ["--verbose"])
        let place = try ann.place()
        // Other service types: they cannot find each other.
        let bob = try join("bob", ["--code", code, "--to", place], type: ServiceType.random())
        #expect(try await bob.says("ann joined, encrypted; unverified: has the code that its group shares"))
        let cid = try join("cid", ["--code", code, "--to", "ann@\(place)"], type: ServiceType.random())
        #expect(try await cid.says(all: ["ann joined", "bob joined"]) == [])
        try await cid.types("hello")
        for one in [ann, bob] { #expect(try await one.firstLine() == "cid: hello") }
        let eve = try join("eve", ["--to", place], type: ServiceType.random())
        #expect(try await eve.says("can be invited only with its code"))
        for one in [ann, bob, cid] { #expect(try await one.leaves().code == 0) }
        eve.process.signal(SIGINT)
        _ = try await eve.finish()
    }

    @Test("the member at an address is in the room, and is the one that is meant, or the user is told")
    func otherAddress() async throws {
        let ann = try join("ann", ["--verbose"])
        #expect(try await ann.says("you are "))
        let place = try ann.place()
        for (room, option, problem) in [
            ("garden", place, "the peer at \(place) is not in the room garden"),
            ("kitchen", "zoe@\(place)", "another than the given one"),
        ] {
            let bob = try join("bob", ["--to", option], type: ServiceType.random(), room: room)
            #expect(try await bob.says(problem))
            bob.process.signal(SIGINT)
            _ = try await bob.finish()
        }
        for (wrong, problem) in [
            ("ann", "takes the address of a member"), ("192.0.2.1:99999", "a port is a number"),
        ] {
            let ending = try await join("bob", ["--to", wrong]).finish()
            #expect(ending.code == ExitCode.usage.rawValue)
            #expect(ending.errors.contains(problem))
        }
        #expect(try await ann.leaves().code == 0)
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

extension Command {
    /// Returns the address at which it listens, which it has said with `--verbose`.
    fileprivate func place() throws -> String {
        let line = try #require(written.split(separator: "\n").first { $0.contains("listening at port ") })
        return "127.0.0.1:\(try #require(line.split(separator: " ").last))"
    }
}
