import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: browse and advertise", .serialized, .inTurns)
struct DiscoveryCommandTests {
    private let type = ServiceType.random()

    private func advertise(_ name: String, _ options: [String] = []) async throws -> Command {
        let command = try Command(["advertise", "--type", type, "--name", name] + options)
        #expect(try await command.says("announcing '\(name)' (id "))
        return command
    }

    @Test("a peer that advertises is a line with its id, info and address, and its loss is a line, too")
    func lines() async throws {
        let ann = try await advertise("ann", ["--info", "os=linux", "--info", "a=b c"])
        let browse = try Command(["browse", "--type", type, "--resolve"])
        let found = try await browse.firstLine().split(separator: "\t", omittingEmptySubsequences: false)
        #expect(found.count == 5 && found[0] == "found" && found[1].count == 32)
        #expect(found.dropFirst(2).prefix(2) == ["ann", "a=b c os=linux"])
        #expect(found.last?.hasPrefix("127.0.0.1:") == true)
        ann.process.signal(SIGINT)
        #expect(try await browse.firstLine() == "lost\t\(found[1])\tann\t")
        #expect(try await ann.finish().code == 130)
        browse.process.signal(SIGINT)
        let ending = try await browse.finish()
        #expect(ending.code == 130)
        #expect(ending.errors.isEmpty && ending.output.isEmpty)
    }

    @Test("JSON is one object per line, without the own peer and other types, until the timeout")
    func json() async throws {
        let people = [try await advertise("ann", ["--info", "k=v"]), try await advertise("bob")]
        let browse = try Command(["browse", "--type", type, "--json"])
        var names: Set<String> = []
        for _ in people {
            let line = Data(try await browse.firstLine().utf8)
            let object = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
            #expect(object["event"] as? String == "found")
            #expect((object["id"] as? String)?.count == 32)
            #expect((object["seconds"] as? Double ?? -1) >= 0)
            #expect(object["verification"] as? String == "unverified: found on the network")
            let name = try #require(object["name"] as? String)
            #expect(object["info"] as? [String: String] == (name == "ann" ? ["k": "v"] : [:]))
            names.insert(name)
        }
        #expect(names == ["ann", "bob"])
        browse.process.signal(SIGTERM)
        #expect(try await browse.finish().code == 143)
        let other = try await Command.run("browse", "--type", ServiceType.random(), "--for", "1")
        #expect(other.code == 0)
        #expect(other.errors.isEmpty && other.output.isEmpty)
        for one in people { one.process.signal(SIGINT) }
        for one in people { #expect(try await one.finish().code == 130) }
    }

    @Test("on a terminal it is a table that is updated, on a dumb terminal it is lines")
    func table() async throws {
        let ann = try await advertise("ann", ["--info", "k=v"])
        let screen = try TerminalUser(["browse", "--type", type])
        let dumb = try TerminalUser(["browse", "--type", type], terminal: "dumb")
        try await screen.sees("NAME  ID        KIND    FOR   INFO\r\nann   ")
        try await dumb.sees("found\t")
        ann.process.signal(SIGINT)
        try await dumb.sees("lost\t")
        try await screen.sees("0 peers of type \(type) on this machine only\r\n")
        try await screen.types("\u{3}")
        try await dumb.types("\u{3}")
        #expect(try await screen.end() == 130)
        #expect(try await dumb.end() == 130)
        #expect(!dumb.screen.contains("\u{1b}"))
        #expect(try await ann.finish().code == 130)
    }

    @Test("an invitation is shown and declined, and the inviter is notified")
    func declined() async throws {
        let folder = try Folder()
        let path = try folder.write("x", to: "x")
        let ann = try await advertise("ann", ["--info", "does=receive"])
        let bob = try await Command.run(
            "send", "--unverified", path, "--name", "bob", "--to", "ann", "--type", type)
        #expect(bob.code == 1)
        #expect(bob.errorLines.last?.contains("declined") == true, "\(bob.errors)")
        let invited = try await ann.firstLine().split(separator: "\t").map(String.init)
        #expect([invited[0], invited[2], invited[3]] == ["invited", "bob", "send 1 1\\u{a}1 x"])
        #expect(try await ann.firstLine() == "declined\t\(invited[1])\tbob\t")
        ann.process.signal(SIGINT)
        #expect(try await ann.finish().code == 130)
    }

    @Test("a peer that is refused for certain, for want of a terminal, is not shown what the files are")
    func unnamed() async throws {
        let folder = try Folder()
        let path = try folder.write("secret", to: "plan.txt")
        let ann = try await advertise("ann", ["--info", "does=receive", "--accept", "--json"])
        let words = ["send", path, "--name", "bob", "--to", "ann", "--type", type]
        let bob = try await Command(words, through: ["/usr/bin/setsid", "--wait"]).finish()
        #expect(bob.code == 1 && bob.errors.contains("ann is not verified"), "\(bob.errors)")
        let invited = try await ann.firstLine()
        #expect(invited.contains("\"context\":\"send 1 -\""), "\(invited)")
        ann.process.signal(SIGINT)
        #expect(try await ann.finish().code == 130)
    }

    @Test("with --accept both are linked, and received data is dropped")
    func accepted() async throws {
        let folder = try Folder()
        let path = try folder.write("x", to: "x")
        let ann = try await advertise("ann", ["--info", "does=receive", "--accept", "--json"])
        let bob = try await Command.run(
            "send", "--unverified", path, "--name", "bob", "--to", "ann", "--type", type)
        #expect(bob.code == 5, "\(bob.errors)")
        #expect(bob.errors.contains("linked with ann, encrypted\n"))
        for event in ["invited", "linked", "ended"] {
            #expect(try await ann.firstLine().contains("\"event\":\"\(event)\""))
        }
        ann.process.signal(SIGINT)
        #expect(try await ann.finish().code == 130)
    }

    @Test("an interface that does not exist is an error, with a hint")
    func noInterface() async throws {
        for words in [
            ["browse"], ["advertise"], ["receive", "--yes"], ["chat"], ["send", "/etc/passwd", "--to", "x"],
        ] {
            let ending = try await Command(words + ["--interface", "nothing0", "--type", type]).finish()
            #expect(ending.code == 4, "\(words)")
            #expect(
                ending.errorLines.last?.hasSuffix(" (run 'multipeer doctor' to diagnose)") == true,
                "\(ending.errors)")
        }
    }
}

extension ServiceType {
    /// One that no other test has.
    static func random() -> String {
        "t" + String((0..<12).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement() ?? "x" })
    }
}
