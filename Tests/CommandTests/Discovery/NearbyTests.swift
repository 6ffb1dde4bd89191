import Foundation
import Multipeer
import MultipeerCLI
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: files and rooms on the network", .serialized, .inTurns)
struct NearbyTests {
    private let type = ServiceType.random()
    private let folder: Folder

    init() throws {
        folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.path("inbox"), withIntermediateDirectories: false)
    }

    private func options(_ name: String) -> [String] { ["--name", name, "--type", type] }

    private func receive(_ name: String, _ more: [String] = ["--yes"]) throws -> [String] {
        ["receive", "--into", folder.path("inbox")] + options(name) + more
    }

    @Test("a file is sent to the peer with the given name, byte for byte")
    func file() async throws {
        let bytes = pattern(300_001, seed: 5)
        let path = try folder.write(bytes, to: "a file")
        let receiver = try Command(try receive("bob"))
        let other = try Command(try receive("carl"))
        let sender = try await Command(["send", "--unverified", path, "--to", "bob"] + options("ann"))
            .finish()
        #expect(sender.code == 0, "\(sender.errors)")
        #expect(sender.errors.contains("looking for bob on this machine only\n"))
        #expect(sender.errors.contains("linked with bob, encrypted\n"))
        let ending = try await receiver.finish()
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.errors.contains("linked with ann, encrypted\n"))
        #expect(Array(try Data(contentsOf: URL(filePath: folder.path("inbox/a file")))) == bytes)
        #expect(sender.output.isEmpty && ending.output.isEmpty)
        other.process.signal(SIGINT)
        #expect(try await other.finish().code == 130)
    }

    @Test(
        "the last argument of send that is no file here is the receiver, in any case, and receive takes a directory"
    )
    func operands() async throws {
        let path = try folder.write("x", to: "x")
        let receiver = try Command(["receive", folder.path("new"), "-y", "-n", "Bob", "--type", type])
        let sender = try await Command(["send", "-u", path, "bob"] + options("ann")).finish()
        #expect(sender.code == 0, "\(sender.errors)")
        let ending = try await receiver.finish()
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.errors.contains("received \(folder.path("new/x")), 1 B in "))
        #expect(folder.exists("new/x"))
        let typo = try await Command(["send", path, "y", "--timeout", "1"] + options("ann")).finish()
        #expect(typo.code == 1)
        #expect(typo.errors.contains("no peer named 'y' found"))
        #expect(typo.errors.contains("and there is no file of this name"))
        #expect(typo.errors.contains("'multipeer send FILE --to ADDRESS'; 'multipeer doctor' says"))
    }

    @Test("a text is printed by the receiver, as it is in a pipe and escaped on a terminal")
    func text() async throws {
        let piped = try Command(["receive"] + options("bob") + ["--yes"])
        let sender = try await Command(["send", "-u", "--text", "see\u{1b}[2J you", "bob"] + options("ann"))
            .finish()
        #expect(sender.code == 0, "\(sender.errors)")
        #expect(sender.errorLines.last == "sent a text, 11 B")
        let ending = try await piped.finish()
        #expect(ending.code == 0 && ending.text == "see\u{1b}[2J you", "\(ending.errors)")
        let bob = try TerminalUser(["receive"] + options("bob"))
        try await bob.sees("waiting as")
        async let again = Command(["send", "-u", "-m", "see\u{1b}[2J you", "-t", "bob"] + options("ann"))
            .finish()
        try await bob.sees("wants to send a text, 11 B.")
        try await bob.types("y\n")
        try await bob.sees("see\\u{1b}[2J you\r\n")
        #expect(try await again.code == 0)
        #expect(try await bob.end() == 0)
    }

    @Test("a text that the receiver does not print is an error of both")
    func longText() async throws {
        let bob = try Command(["receive"] + options("bob") + ["--yes", "--max-size", "3"])
        let sender = try await Command(
            ["send", "-u", "--text", "hello", "bob", "--timeout", "20"] + options("ann")
        ).finish()
        let ending = try await bob.finish()
        #expect((sender.code, ending.code) == (1, 5), "\(sender.errors) \(ending.errors)")
        #expect(ending.errors.contains("skipped text from ann: 5 B is more than --max-size 3 B"))
    }

    @Test("link finds the peer that waits, whose user is asked once")
    func link() async throws {
        let bob = try TerminalUser(["link"] + options("bob"))
        try await bob.sees("the other side runs 'multipeer link bob --type \(type)'")
        let ann = try Command(["link", "bob", "--unverified"] + options("ann"))
        try await bob.sees("wants to link, and exchange input and output.\r\n")
        try await bob.sees("\r\nann is not verified: found on the network; first contact\r\nAccept? [y/N] ")
        try await bob.types("y\n")
        try await bob.sees("linked with ann, encrypted")
        try await ann.types("hello")
        try await bob.sees("ann: hello")
        try await bob.types("\u{4}")
        let ending = try await ann.finish()
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(try await bob.end() == 0)
        #expect(!bob.screen.contains("go on?"))
    }

    @Test("a name that looks like something else is shown as the other side has to type it, and found so")
    func unusualName() async throws {
        let bob = try Command(["link", "--yes", "--unverified"] + options("42"))
        #expect(try await bob.says("the other side runs 'multipeer link --to 42 --type \(type)'"))
        async let ann = Command(["link", "--to", "42", "--unverified"] + options("ann")).finish([1])
        let (one, other) = (try await bob.finish([2]), try await ann)
        #expect((one.code, other.code) == (0, 0), "\(one.errors) \(other.errors)")
        #expect((one.output, other.output) == ([1], [2]))
        let marked = try Command(try receive("C#"))
        #expect(try await marked.says("the other side runs 'multipeer send FILE NAME#"))
        let digits = try #require(marked.written.firstMatch(of: #/FILE NAME#([0-9a-f]{8}) /#)).1
        let path = try folder.write("x", to: "x")
        let sender = try Command(["send", "-u", path, "C##\(digits)"] + options("ann"))
        #expect(try await sender.finish().code == 0)
        #expect(try await marked.finish().code == 0)
    }

    @Test("two peers with one name are listed with their ids, which choose one of them")
    func sameName() async throws {
        let path = try folder.write("x", to: "x")
        let receivers = try (0..<2).map { _ in try Command(try receive("bob", ["--yes", "--keep"])) }
        for one in receivers { #expect(try await one.says("waiting as")) }
        var sender: Command.Ending?
        // On a busy machine the second may answer so late that there is only one for the sender.
        for _ in 0..<20 where sender?.code != 1 {
            sender = try await Command(["send", "--unverified", path, "--to", "bob"] + options("ann"))
                .finish()
            if folder.exists("inbox/x") { try FileManager.default.removeItem(atPath: folder.path("inbox/x")) }
        }
        #expect(sender?.code == 1)
        let complaint = try #require(sender?.errorLines.last)
        #expect(complaint.hasPrefix("multipeer: 'bob' can be any of 2 peers (choose 'bob#"))
        let choices = complaint.matches(of: /'(bob#[0-9a-f]{8})'/).map { String($0.1) }
        try #require(choices.count == 2)
        for choice in choices {
            let chosen = ["send", "--unverified", path, "--as", choice, "--to", choice] + options("ann")
            #expect(try await Command(chosen).finish().code == 0)
        }
        for one in receivers {
            one.process.signal(SIGINT)
            let ending = try await one.finish()
            #expect(ending.code == 130)
            // Each has what was sent to its id, and nothing else.
            let own = choices.filter { ending.errors.contains("waiting as 'bob' (id \($0.dropFirst(4)))") }
            let received = choices.filter { ending.errors.contains("received \(folder.path("inbox/\($0)"))") }
            #expect(own.count == 1 && received == own, "\(ending.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox"))
        #expect(names.sorted() == choices.sorted())
    }

    @Test("when no peer has the name, those that are there are listed")
    func nobody() async throws {
        let path = try folder.write("x", to: "x")
        let carl = try Command(try receive("carl"))
        #expect(try await carl.says("waiting as"))
        var sender: Command.Ending?
        // On a busy machine a second may be over before carl is found.
        for seconds in ["1", "6", "20"] where sender?.errors.contains("'carl'") != true {
            let words = ["send", "--unverified", path, "--to", "bob", "--timeout", seconds]
            sender = try await Command(words + options("ann")).finish()
        }
        #expect(sender?.code == 1)
        #expect(
            sender?.errorLines.last?.hasPrefix(
                "multipeer: no peer named 'bob' found on this machine only; did you mean 'carl' (id ")
                == true)
        carl.process.signal(SIGINT)
        #expect(try await carl.finish().code == 130)
        let lonely = try await Command(try receive("bob", ["--yes", "--timeout", "1"])).finish()
        #expect(lonely.code == 1)
        #expect(lonely.errorLines.last == "multipeer: no peer connected (use --timeout to wait longer)")
    }

    @Test("a nearly right name is answered after a moment, and the search goes on")
    func suggested() async throws {
        let path = try folder.write("x", to: "x")
        let carl = try Command(try receive("carl-pc"))
        let sender = try Command(["send", "--unverified", path, "--to", "carlpc"] + options("ann"))
        #expect(
            try await sender.says("no 'carlpc' found on this machine only yet; did you mean 'carl-pc' (id "))
        let right = try Command(try receive("carlpc"))
        let ending = try await sender.finish()
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.errors.contains("linked with carlpc, encrypted\n"))
        #expect(try await right.finish().code == 0)
        carl.process.signal(SIGINT)
        #expect(try await carl.finish().code == 130)
    }

    @Test("a command that listens at another port than the usual one, which another command has, says so")
    func otherPort() async throws {
        let path = try folder.write("x", to: "x")
        // Commands of other tests use this port for a while, too.
        var keeper: Command?
        for _ in 0..<50 where keeper?.written.contains("listening at port 4761\n") != true {
            keeper?.process.signal(SIGINT)
            _ = try await keeper?.finish()
            keeper = try Command(try receive("carl", ["--yes", "--keep", "--verbose"]))
            #expect(try await keeper?.says("listening at port ") == true)
        }
        let others = [
            ["send", path], ["send", path, "--code", "new"], ["receive", "--yes"],
            ["receive", "--code", "new"], ["link", "--yes"], ["chat", "--unverified", "--room", "kitchen"],
        ]
        for words in others {
            let command = try Command(words + options("ann") + ["--listen", "0.0.0.0"])
            #expect(
                try await command.says("port 4761 is in use by another command, so this one listens at "),
                "\(words): \(command.written)")
            let line = command.written.split(separator: "\n").last { $0.contains("in use") }
            #expect(line?.hasSuffix(": a firewall that lets in only 4761 keeps others out") == true)
            #expect(line?.contains("listens at 4761:") == false)
            command.process.signal(SIGINT)
            _ = try await command.finish(nil)
        }
        // One that nobody on another machine can reach has nothing to say about a firewall.
        let hidden = try Command(try receive("ann", ["--yes", "--verbose", "--listen", "127.0.0.1"]))
        #expect(try await hidden.says("listening at port "))
        #expect(!hidden.written.contains("in use") && !hidden.written.contains("listening at port 4761\n"))
        for one in [hidden, keeper] {
            one?.process.signal(SIGINT)
            #expect(try await one?.finish().code == 130)
        }
    }

    @Test("after a sender that sent nothing, receive says so and takes the files of the next one")
    func nothing() async throws {
        let path = try folder.write("x", to: "x")
        let bob = try Command(try receive("bob", ["--yes", "--count", "1"]))
        // It links, is not told to go on with a peer that is not verified, and leaves.
        func leaves() async throws {
            let words = ["send", path, "--to", "bob"] + options("ann")
            let ann = try await Command(words, through: ["/usr/bin/setsid", "--wait"]).finish()
            #expect(ann.code == 1 && ann.errors.contains("nothing was sent"), "\(ann.errors)")
        }
        for _ in 0..<2 {
            try await leaves()
            #expect(
                try await bob.says("ann disconnected without sending a file; waiting for another sender"))
        }
        let ann = try await Command(["send", "--unverified", path, "bob"] + options("ann")).finish()
        #expect(ann.code == 0, "\(ann.errors)")
        let ending = try await bob.finish()
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.errors.components(separatedBy: "waiting as 'bob'").count == 2)
        #expect(folder.exists("inbox/x"))
        var limited: Command.Ending?
        // --timeout counts from the start. On a busy machine it may be over before the first sender comes.
        for seconds in ["5", "20"] where limited?.code != 5 {
            let bob = try Command(try receive("bob", ["--yes", "--timeout", seconds]))
            #expect(try await bob.says("waiting as"))
            _ = try await Command(
                ["send", path, "--to", "bob", "--timeout", seconds] + options("ann"),
                through: ["/usr/bin/setsid", "--wait"]
            ).finish()
            limited = try await bob.finish()
        }
        #expect(limited?.code == 5)
        #expect(
            limited?.errorLines.last
                == "multipeer: no other peer connected (use --timeout to wait longer)")
    }

    @Test("without a terminal nothing is accepted, unless --yes is given")
    func unasked() async throws {
        let words = try receive("bob", [])
        let ending = try await Command(words, through: ["/usr/bin/setsid", "--wait"]).finish()
        #expect(ending.code == 2)
        #expect(
            ending.errors.hasPrefix(
                "multipeer: no terminal to ask for consent on (use --yes "))
    }

    @Test("the user is asked about every sender, and files are accepted only after a yes")
    func consent() async throws {
        let path = try folder.write("x", to: "x")
        let bob = try TerminalUser(try receive("bob", []))
        try await bob.sees("waiting as")
        async let refused = Command(["send", "--unverified", path, "--to", "bob"] + options("eve")).finish()
        try await bob.sees("), found on the network, wants to send 'x', 1 B.\r\n")
        try await bob.sees("\r\neve is not verified: found on the network; first contact\r\nAccept? [y/N] ")
        #expect(bob.screen.contains("'eve' (id "))
        try await bob.types("\n")
        let eve = try await refused
        #expect(eve.code == 1)
        #expect(eve.errorLines.last?.contains("declined") == true, "\(eve.errors)")
        async let taken = Command(["send", "--unverified", path, path, "--to", "bob"] + options("ann"))
            .finish()
        try await bob.sees(
            "), found on the network, wants to send 2 files, 2 B.\r\n  x  1 B\r\n  x  1 B\r\nann is not verified: "
        )
        try await bob.sees("found on the network; first contact\r\nAccept?")
        try await bob.types("y\n")
        // The second one is the same as the first, which is there by then.
        #expect(try await taken.code == 0)
        #expect(try await bob.end() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox")) == ["x"])
    }

    @Test(
        "the end of input at the question ends the command; one that stays refuses this sender, and says why")
    func unanswered() async throws {
        let path = try folder.write("x", to: "x")
        for isStaying in [false, true] {
            let name = isStaying ? "bob" : "carl"
            let receiver = try TerminalUser(try receive(name, isStaying ? ["--keep"] : []))
            try await receiver.sees("waiting as")
            async let sending = Command(["send", "--unverified", path, "--to", name] + options("eve"))
                .finish()
            try await receiver.sees("Accept? [y/N] ")
            try await receiver.types("\u{4}")
            try await receiver.sees("multipeer: cannot ask about 'eve' (id ")
            if isStaying {
                try await receiver.sees("the terminal's input ended before an answer; it was refused")
                try await receiver.types("\u{3}")
            }
            #expect(try await receiver.end() == (isStaying ? 130 : 4))
            #expect(try await sending.code == 1)
        }
    }

    @Test("the question goes away when the sender gives up, and the next one is asked")
    func withdrawn() async throws {
        let path = try folder.write("x", to: "x")
        let bob = try TerminalUser(try receive("bob", []))
        try await bob.sees("waiting as")
        let eve = try Command(["send", "--unverified", path, "--to", "bob"] + options("eve"))
        try await bob.sees("Accept? [y/N] ")
        eve.process.signal(SIGINT)
        #expect(try await eve.finish().code == 130)
        try await bob.sees(") no longer wants to send\r\n")
        async let sent = Command(["send", "--unverified", path, "--to", "bob"] + options("ann")).finish()
        try await bob.sees("'ann' (id ")
        try await bob.sees("'x', 1 B.\r\nann is not verified: ")
        try await bob.sees("; first contact\r\nAccept? [y/N] ")
        try await bob.types("y\n")
        #expect(try await sent.code == 0)
        #expect(try await bob.end() == 0)
    }

    @Test("peers in the same room are linked with each other, and with no other peer")
    func rooms() async throws {
        let names = ["ann", "bob", "cid"]
        let people = try names.map {
            try Command(["chat", "--unverified", "--room", "kitchen"] + options($0))
        }
        let eve = try Command(["chat", "--unverified", "--room", "cellar"] + options("eve"))
        for (one, name) in zip(people, names) {
            let others = names.filter { $0 != name }.map { "\($0) joined, encrypted" }
            #expect(try await one.says(all: others) == [])
        }
        try await people[0].types("hello")
        for one in people[1...] { #expect(try await one.firstLine() == "ann: hello") }
        let dan = try Command(["chat", "kitchen", "--unverified"] + options("dan"))
        #expect(try await dan.says(all: names.map { "\($0) joined" }) == [])
        let ending = try await people[0].leaves()
        #expect(ending.code == 0)
        #expect(!ending.errors.contains("eve joined"))
        #expect(!ending.errors.contains("it contains a secret"))
        #expect(try await dan.says("ann left"))
        for one in people[1...] + [dan] { #expect(try await one.leaves().code == 0) }
        eve.process.signal(SIGINT)
        let alone = try await eve.finish()
        #expect(alone.code == 130)
        #expect(!alone.errors.contains("joined"))
    }

    @Test("a script whose room stays empty ends with a message and exit code 1")
    func empty() async throws {
        let ending = try await Command.run(
            "chat", "--timeout", "1", "--type", type, input: Array("hello\n".utf8))
        #expect(ending.code == 1)
        #expect(
            ending.errorLines.last == "multipeer: nobody joined the room (run 'multipeer doctor' to diagnose)"
        )
    }
}
