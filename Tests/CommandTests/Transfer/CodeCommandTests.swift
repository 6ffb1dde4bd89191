import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: one-time codes", .serialized, .inTurns)
struct CodeCommandTests {
    private let folder: Folder
    private let type = ServiceType.random()

    init() throws {
        folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.path("inbox"), withIntermediateDirectories: true)
    }

    private func start(_ words: [String], _ name: String) throws -> Command {
        try Command(words + ["--name", name, "--type", type])
    }

    /// Starts a command that makes a code, and returns the code that it prints alone.
    private func maker(_ words: [String], _ name: String) async throws -> (Command, code: String) {
        let command = try start(words + ["--quiet"], name)
        return (command, try await command.firstLine())
    }

    private func sender(_ text: String = "hello") async throws -> (Command, code: String) {
        try await maker(["send", try folder.write(text, to: "note.txt")], "ann")
    }

    private var receiving: [String] { ["--into", folder.path("inbox")] }

    private func received() throws -> String {
        try String(contentsOf: URL(filePath: folder.path("inbox/note.txt")), encoding: .utf8)
    }

    /// A code with the same number and other words.
    private func wrong(_ code: String) -> String {
        "\(code.prefix { $0 != "-" })-\(code.hasSuffix("guitar-island") ? "island-guitar" : "guitar-island")"
    }

    @Test(
        "a file goes to the peer that has the code, both sides know that it is verified, and neither is asked"
    )
    func sends() async throws {
        let ann = try start(["send", try folder.write("hello", to: "note.txt")], "ann")
        #expect(try await ann.says("in another terminal, run: multipeer "))
        let line = try #require(ann.written.split(separator: "\n").last)
        let words = line.split(separator: ":").last?.split(separator: " ").map(String.init) ?? []
        #expect(Array(words.dropFirst(2)) == ["--type", type])
        let bob = try start([words[1]] + receiving, "bob")
        let (sent, got) = (try await ann.finish(), try await bob.finish())
        #expect((sent.code, got.code) == (0, 0), "\(sent.errors) \(got.errors)")
        #expect(try received() == "hello")
        #expect(sent.errors.contains("bob is verified by code\n"))
        #expect(got.errors.contains("ann is verified by code\n"))
        #expect(sent.output.isEmpty && got.output.isEmpty)
    }

    @Test(
        "a code may be typed in capitals, with spaces, or with the beginnings of its words",
        arguments: [0, 1, 2])
    func typed(_ form: Int) async throws {
        let (ann, code) = try await sender()
        let parts = code.split(separator: "-").map(String.init)
        let words =
            switch form {
            case 0: [code.uppercased()]
            case 1: parts
            default: [([parts[0]] + parts.dropFirst().map { String($0.prefix(4)) }).joined(separator: "-")]
            }
        let bob = try await start(["receive"] + words + receiving, "bob").finish()
        #expect(bob.code == 0, "\(bob.errors)")
        #expect(try await ann.finish().code == 0)
        #expect(try received() == "hello")
    }

    @Test(
        "the receiver can make the code, and a file or standard input can hold it", arguments: [true, false])
    func receiverMakes(_ isFile: Bool) async throws {
        let (bob, code) = try await maker(["receive", "--code", "new"] + receiving, "bob")
        let file = try folder.write("\(code)\n", to: "code")
        let words = ["send", try folder.write("hello", to: "note.txt"), "--code", isFile ? "@\(file)" : "@-"]
        let ann = try await start(words, "ann").finish(Array("\(code)\n".utf8))
        #expect(ann.code == 0, "\(ann.errors)")
        #expect(try await bob.finish().code == 0)
        #expect(try received() == "hello")
    }

    @Test(
        "after a code, peers with ids that they keep recognise each other, and another key with that name is refused"
    )
    func remembers() async throws {
        let path = try folder.write("hello", to: "note.txt")
        for home in ["a", "b"] {
            try FileManager.default.createDirectory(
                atPath: folder.path(home), withIntermediateDirectories: false)
        }
        func kept(_ name: String) -> [String] { ["--id", folder.path("\(name).id")] }
        func start(_ words: [String], _ name: String, home: String) throws -> Command {
            try Command(
                words + ["--name", name, "--type", type] + kept(name),
                environment: ["HOME": folder.path(home), "XDG_CONFIG_HOME": ""])
        }
        let ann = try start(["send", path, "--quiet"], "ann", home: "a")
        let code = try await ann.firstLine()
        #expect(try await start(["receive", code] + receiving, "bob", home: "b").finish().code == 0)
        #expect(try await ann.finish().code == 0)
        #expect(folder.exists("a/.config/multipeer/trust") && folder.exists("b/.config/multipeer/trust"))
        for isTrue in [true, false] {
            if !isTrue { try FileManager.default.removeItem(atPath: folder.path("bob.id")) }
            let bob = try start(["receive", "--yes", "--force"] + receiving, "bob", home: "b")
            #expect(try await bob.says("waiting as 'bob'"))
            let sent = try await start(["send", path, "--to", "bob"], "ann", home: "a").finish()
            #expect(sent.code == (isTrue ? 0 : 1), "\(sent.errors)")
            let line =
                isTrue
                ? #/bob: key known since [-0-9]+, verified by code/#
                : #/key has changed since [-0-9]+: old/#
            #expect(sent.errors.firstMatch(of: line) != nil, "\(sent.errors)")
            if !isTrue { bob.process.signal(SIGINT) }
            _ = try await bob.finish()
        }
    }

    @Test("a wrong code ends the code, both users are told, and nothing is sent")
    func wrongCode() async throws {
        let (ann, code) = try await sender()
        let bob = try await start(["receive", wrong(code)] + receiving, "bob").finish()
        #expect(bob.code == 1 && bob.errors.contains("the code is wrong"), "\(bob.errors)")
        let ending = try await ann.finish()
        #expect(ending.code == 1)
        #expect(
            ending.errors.contains(
                "entered a wrong code, so \(code) is no longer valid; nothing was sent or received "
                    + "(run the command again for a new code)"), "\(ending.errors)")
        #expect(!folder.exists("inbox/note.txt"))
    }

    @Test("a code that cannot be one is refused before anything is sent, and stays valid")
    func mistyped() async throws {
        let (ann, code) = try await sender()
        for (typed, complaint) in [
            ("\(code)x", "no code has the word"), ("\(code.prefix { $0 != "-" })", "this one has 0"),
            ("0-guitar-island", "a code begins with a number from 1 to 999"),
            (
                "\(code)-\(code.split(separator: "-").dropFirst().joined(separator: "-"))",
                "has fewer than 4 words"
            ),
        ] {
            let ending = try await start([typed] + receiving, "bob").finish()
            #expect(ending.code == 3 && ending.errors.contains(complaint), "\(ending.errors)")
        }
        let other = try await start(["link", code], "bob").finish()
        #expect(other.code == 1)
        #expect(
            other.errors.contains(
                "is announced by ann, which runs 'multipeer send' (use 'multipeer receive CODE' here)"))
        let bob = try await start(["receive", code] + receiving, "bob").finish()
        #expect(bob.code == 0, "\(bob.errors)")
        #expect(try await ann.finish().code == 0)
    }

    @Test("a link with a code carries both inputs")
    func link() async throws {
        let bob = try start(["link", "--code", "new", "--quiet"], "bob")
        #expect(try await bob.says("-"))
        let code = try #require(bob.written.split(separator: "\n").last)
        let ann = try start(["link", String(code)], "ann")
        async let first = ann.finish(Array("from ann".utf8))
        async let second = bob.finish(Array("from bob".utf8))
        let (one, other) = try await (first, second)
        #expect((one.code, other.code) == (0, 0), "\(one.errors) \(other.errors)")
        #expect((one.text, other.text) == ("from bob", "from ann"))
        #expect(one.errors.contains("bob is verified by code"))
    }

    @Test("without the other side, both commands end with a reason")
    func alone() async throws {
        let ann = try await start(["send", "/etc/hostname", "--timeout", "1"], "ann").finish()
        #expect(ann.code == 1)
        #expect(
            ann.errorLines.last
                == "multipeer: no peer has used the code in time (without --timeout there is no limit)")
        let bob = try await start(["receive", "7-guitar-island", "--timeout", "1"], "bob").finish()
        #expect(bob.code == 1)
        #expect(bob.errors.contains("no peer with code number 7 was found on this machine only"))
        #expect(bob.errors.contains("without multicast, add --to ADDRESS of the other machine"))
    }

    @Test(
        "a number that no one waits with is reported after a moment, without those of others, and the search goes on"
    )
    func otherNumber() async throws {
        let (ann, code) = try await sender()
        let number = try #require(Int(code.prefix { $0 != "-" }))
        let typed = number % 999 + 1
        let mistyped = "\(typed)\(code.drop { $0 != "-" })"
        let bob = try start(["receive", mistyped] + receiving, "bob")
        #expect(
            try await bob.says(
                "no one waits with code number \(typed) on this machine only yet, but 1 peer waits with another "
                    + "number: check the number"))
        #expect(!bob.written.contains("number \(number) ") && !bob.written.contains("'ann'"))
        let other = try Advertiser(
            peer: PeerID(displayName: "eve"), service: type, info: ["does": "send"],
            code: InvitationCode(mistyped), configuration: .loopback)
        try await other.start()
        let declining = Task {
            for await invitation in other.invitations { try await invitation.decline() }
        }
        let ending = try await bob.finish()
        #expect(ending.code == 1 && ending.errors.contains("declined"), "\(ending.errors)")
        await other.stop()
        try await declining.value
        // A code that no one has tried is valid as before.
        #expect(try await start(["receive", code] + receiving, "bob").finish().code == 0)
        #expect(try await ann.finish().code == 0)
    }

    @Test("a wrong number is still explained at the end, by how many wait with others")
    func otherNumberAtLast() async throws {
        let senders = [try await sender(), try await sender()]
        let numbers = senders.map { Int($0.code.prefix { $0 != "-" }) }
        let typed = try #require((1...3).first { !numbers.contains($0) })
        // On a busy machine a second may be over before both are found.
        var ending: Command.Ending?
        for seconds in ["1", "6", "20"] where ending?.errors.contains("2 peers wait") != true {
            ending = try await start(
                ["receive", "\(typed)-guitar-island", "--quiet", "--timeout", seconds] + receiving, "bob"
            ).finish()
        }
        #expect(ending?.code == 1)
        let last = try #require(ending?.errorLines.last)
        #expect(
            last.hasPrefix(
                "multipeer: no peer with code number \(typed) was found on this machine only, but 2 peers wait with other "
                    + "numbers (check the number"))
        for (command, _) in senders {
            command.process.signal(SIGINT)
            #expect(try await command.finish().code == 130)
        }
    }

    @Test("if two peers announce the number of a code, it is tried on neither")
    func ambiguous() async throws {
        let (ann, code) = try await sender()
        let number = code.prefix { $0 != "-" }
        // Two of one process answer at the same moment, also on a busy machine. Ann is not to answer before them.
        try await ann.suspend()
        let others = try [("eve", "island-guitar"), ("zoe", "guitar-island")].map { name, words in
            try Advertiser(
                peer: PeerID(displayName: name), service: type, info: ["does": "send"],
                code: InvitationCode("\(number)-\(words)"), configuration: .loopback)
        }
        for one in others { try await one.start() }
        let bob = try await start(["receive", code] + receiving, "bob").finish()
        #expect(bob.code == 1)
        #expect(bob.errors.contains("2 peers announce code number \(number)"), "\(bob.errors)")
        for one in others {
            var guesses = one.codeEvents.makeAsyncIterator()
            await one.stop()
            #expect(await guesses.next() == nil)
        }
        ann.process.signal(SIGCONT)
        #expect(try await start(["receive", code] + receiving, "bob").finish().code == 0)
        #expect(try await ann.finish().code == 0)
    }
}
