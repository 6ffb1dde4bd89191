import Foundation
import Multipeer
import MultipeerCLI
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: link", .serialized, .inTurns)
struct LinkCommandTests {
    @Test("what is written at one end is printed at the other, both ways, and the data files are removed")
    func transfer() async throws {
        let pair = try LinkProcesses()
        let (one, other) = (pattern(300_000, seed: 1), pattern(70_001, seed: 2))
        async let ann = pair.ann.finish(one)
        async let bob = pair.bob.finish(other)
        let (first, second) = try await (ann, bob)
        #expect(first.code == 0)
        #expect(second.code == 0)
        #expect(first.output == other)
        #expect(second.output == one)
        #expect(first.errorLines.last == "linked with bob, encrypted")
        #expect(!pair.folder.exists("ann.data"))
        #expect(!pair.folder.exists("bob.data"))
    }

    @Test("the data file is private, and the same line is on standard error")
    func data() async throws {
        let folder = try Folder()
        let ann = try LinkProcesses.start("ann", expecting: "bob", in: folder)
        #expect(try await ann.says("waiting for"))
        let text = try String(contentsOfFile: folder.path("ann.data"), encoding: .utf8)
        #expect(try folder.mode("ann.data") == 0o600)
        ann.process.signal(SIGINT)
        let ending = try await ann.finish()
        #expect(ending.code == 130)
        #expect(ending.errors.contains(text))
        #expect(ending.output.isEmpty)
        #expect(!folder.exists("ann.data"))
    }

    @Test(
        "preferences lead to the outcomes of chapter 5 [enc.outcome]", .longForSanitizers,
        arguments: EncryptionPreference.allCases)
    func preferences(_ one: EncryptionPreference) async throws {
        for other in EncryptionPreference.allCases {
            let pair = try LinkProcesses(ann: ["--preference", "\(one)"], bob: ["--preference", "\(other)"])
            async let ann = pair.ann.finish([1])
            async let bob = pair.bob.finish([2])
            for ending in try await [ann, bob] {
                switch Set([one, other]) {
                case [.none, .required]:
                    #expect(ending.code == 1, "\(one) \(other)")
                    #expect(ending.output.isEmpty)
                    #expect(ending.errorLines.last?.contains("encryption or identity do not agree") == true)
                case [.none], [.none, .optional]:
                    #expect(ending.code == 0, "\(one) \(other)")
                    #expect(ending.errorLines.last?.hasSuffix(", not encrypted") == true)
                default:
                    #expect(ending.code == 0, "\(one) \(other)")
                    #expect(ending.errorLines.last?.hasSuffix(", encrypted") == true)
                }
            }
        }
    }

    @Test("an identity is accepted by a peer that pins it, and by no other")
    func identity() async throws {
        let folder = try Folder()
        let made = try await Command.run("identity", "new", "--name", "ann", "--out", folder.path("ann.pem"))
        let fingerprint = made.text.trimmingCharacters(in: .newlines)
        let pair = try LinkProcesses(
            ann: ["--identity", folder.path("ann.pem")],
            bob: ["--trust", "fingerprint:\(fingerprint)", "--verbose"])
        async let ann = pair.ann.finish([1])
        async let bob = pair.bob.finish([2])
        let endings = try await [ann, bob]
        #expect(endings.map(\.code) == [0, 0])
        #expect(endings[1].errors.contains("verified by its fingerprint"))
        #expect(endings[1].errors.contains("protected by TLS_AES_128_GCM_SHA256"))
        let stranger = try LinkProcesses(bob: ["--trust", "fingerprint:\(fingerprint)"])
        async let first = stranger.ann.finish([1])
        async let refused = stranger.bob.finish([2])
        #expect(try await [first, refused].map(\.code) == [1, 1])
    }

    @Test("the key of the first link is remembered, and another one is refused")
    func firstUse() async throws {
        let folder = try Folder()
        let trust = ["--trust", "tofu", "--trust-store", folder.path("trust")]
        // As files were before ids had keys: 16 bytes and a name.
        let id = try folder.write("AAECAwQFRgeICQoLDA0OD2Fubg==\n", to: "id")
        for expected: Int32 in [0, 1] {
            let key = folder.path("key\(expected)")
            #expect(try await Command.run("identity", "new", "--out", key).code == 0)
            let pair = try LinkProcesses(ann: ["--id", id, "--identity", key], bob: trust)
            async let ann = pair.ann.finish([1])
            async let bob = pair.bob.finish([2])
            #expect(try await [ann, bob].map(\.code) == [expected, expected])
        }
        #expect(try folder.mode("trust") == 0o600)
    }

    @Test("a new id has a key in its file, with which every run is the same peer [uid.keyed]")
    func keyedID() async throws {
        let folder = try Folder()
        let trust = ["--trust", "tofu", "--trust-store", folder.path("trust"), "--verbose"]
        var ids: Set<Substring> = []
        for _ in 0..<2 {
            let pair = try LinkProcesses(ann: ["--id", folder.path("id")], bob: trust)
            async let ann = pair.ann.finish([1])
            async let bob = pair.bob.finish([2])
            let endings = try await [ann, bob]
            #expect(endings.map(\.code) == [0, 0], "\(endings.map(\.errors))")
            for line in endings[1].errorLines where line.contains("peer id ") {
                ids.insert(line.split(separator: " ").first { $0.count == 32 } ?? "")
            }
        }
        #expect(ids.count == 1)
        #expect(ids.first.map { Array($0)[12] } == "8", "\(ids)")
        #expect(try folder.mode("id") == 0o600)
        let plain = try await Command.run("link", "--id", folder.path("id"), "--preference", "none")
        #expect(plain.code == 2 && plain.errors.contains("'--preference none'"))
    }

    @Test("unusable data is reported in one line, with exit code 3", arguments: ["!", "TVBDRA==", "QUJD"])
    func wrongData(_ text: String) async throws {
        let ending = try await Command.run("link", "--quiet", "--listen", "127.0.0.1", "--data", text)
        #expect(ending.code == 3)
        #expect(ending.errors.split(separator: "\n").count == 1)
        #expect(ending.output.isEmpty)
    }

    @Test("a peer refuses its own data at once")
    func itself() async throws {
        let folder = try Folder()
        let ann = try LinkProcesses.start("ann", expecting: "ann", in: folder)
        let ending = try await ann.finish()
        #expect(ending.code == 1)
        #expect(ending.errorLines.last == "multipeer: the peer is this session itself")
    }

    @Test(
        "without an answer, or without the file, the command ends after the timeout",
        arguments: [true, false])
    func timeout(_ hasData: Bool) async throws {
        let folder = try Folder()
        var options = ["--timeout", "1", "--listen", "127.0.0.1"]
        if hasData {
            let gone = try LinkProcesses.start("bob", expecting: "nobody", in: folder)
            #expect(try await gone.says("waiting for"))
            options += ["--data", try String(contentsOfFile: folder.path("bob.data"), encoding: .utf8)]
            gone.process.signal(SIGKILL)
            _ = try await gone.finish()
        } else {
            options += ["--from", folder.path("bob.data")]
        }
        let ending = try await Command(["link"] + options).finish()
        #expect(ending.code == 1)
        let reason = hasData ? "the peer did not respond in time" : "no connection data in"
        #expect(ending.errorLines.last?.contains(reason) == true)
    }

    @Test("data is read from standard input when there is neither an argument nor a terminal")
    func prompt() async throws {
        let folder = try Folder()
        let bob = try LinkProcesses.start("bob", expecting: "ann", in: folder)
        #expect(try await bob.says("waiting for"))
        let theirs = try String(contentsOfFile: folder.path("bob.data"), encoding: .utf8)
        let ann = try Command(
            [
                "link", "--unverified", "--name", "ann", "--listen", "127.0.0.1", "--quiet", "--out",
                folder.path("ann.data"),
            ],
            through: ["/usr/bin/setsid", "--wait"])
        async let first = ann.finish(Array((theirs + "the rest").utf8))
        async let second = bob.finish(Array("hello".utf8))
        let (one, other) = try await (first, second)
        #expect(one.code == 0)
        #expect(one.text == "hello")
        #expect(one.errors.isEmpty)
        #expect(other.text == "the rest")
    }

    @Test(
        "at the prompt data may be wrapped, and a bad paste asks again, while the data that was shown stays valid"
    )
    func paste() async throws {
        let folder = try Folder()
        let bob = try LinkProcesses.start("bob", expecting: "ann", in: folder)
        #expect(try await bob.says("waiting for"))
        let theirs = try String(contentsOfFile: folder.path("bob.data"), encoding: .utf8)
        let ann = try TerminalUser([
            "link", "--unverified", "--name", "ann", "--listen", "127.0.0.1", "--out",
            folder.path("ann.data"),
        ])
        try await ann.sees("peer's connection data: ")
        try await ann.types("not data\n")
        try await ann.sees("invalid base64")
        try await ann.sees("again, or Ctrl-D to give up: ")
        let line = theirs.filter { !$0.isNewline }
        var damaged = Array(line)
        damaged[60] = damaged[60] == "A" ? "B" : "A"
        try await ann.types(String(damaged) + "\n")
        // What is typed before the question is discarded.
        _ = try await ann.sees(#/(?s)check 5 failed.*(again, or Ctrl-D to give up: )/#)
        let pieces = stride(from: 0, to: line.count, by: 60).map { line.dropFirst($0).prefix(60) }
        #expect(pieces.count > 2)
        try await ann.types(pieces.map { "  \($0)\n" }.joined())
        try await ann.sees("linked with bob, encrypted")
        async let ending = bob.finish(Array("hello".utf8))
        try await ann.sees("bob: hello")
        try await ann.types("\u{4}")
        #expect(try await ann.end() == 0)
        #expect(try await ending.code == 0)
    }

    @Test("in a chat every line has its speaker, and no text misleads the terminal")
    func chat() async throws {
        let pair = try LinkProcesses(bob: ["--chat"])
        async let ann = pair.ann.finish(Array("hello\n\u{1b}[2J\u{202e}x\n".utf8))
        async let bob = pair.bob.finish()
        #expect(try await ann.code == 0)
        #expect(try await bob.text == "ann: hello\nann: \\u{1b}[2J\\u{202e}x\n")
    }
}
