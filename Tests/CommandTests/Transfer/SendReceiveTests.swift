import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: send and receive", .serialized, .inTurns)
struct SendReceiveTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test("files arrive byte for byte under their names, and both sides print what was sent")
    func files() async throws {
        let (one, other) = (pattern(3_000_001, seed: 1), [UInt8]())
        let paths = [try folder.write(one, to: "one.bin"), try folder.write(other, to: "two 日本.bin")]
        let delivery = try TransferProcesses(paths, in: folder, send: ["--to", "bob"])
        let (sender, receiver) = try await delivery.finish()
        #expect(sender.code == 0, "\(sender.errors)")
        #expect(receiver.code == 0, "\(receiver.errors)")
        #expect(try delivery.inbox == ["one.bin", "two 日本.bin"])
        #expect(try delivery.received("one.bin") == one)
        #expect(try delivery.received("two 日本.bin").isEmpty)
        #expect(try folder.mode("inbox/one.bin") == 0o600)
        let digest = ", sha256 \(SHA256.hash(one).hexadecimal.prefix(8))..."
        #expect(sender.errors.contains("sent one.bin, 2.9 MiB in "))
        #expect(sender.errors.contains(digest))
        #expect(receiver.errors.contains("received \(folder.path("inbox/one.bin")), 2.9 MiB in "))
        #expect(receiver.errors.contains(digest))
        #expect(sender.errorLines.last?.hasPrefix("sent 2 files, 2.9 MiB in ") == true)
        #expect(receiver.errorLines.last?.hasPrefix("received 2 files, 2.9 MiB in ") == true)
        // No progress where there is no terminal.
        #expect(!sender.errors.contains("\u{1b}") && !receiver.errors.contains("\u{1b}"))
        #expect(sender.output.isEmpty && receiver.output.isEmpty)
        #expect(!folder.exists("ann.data") && !folder.exists("bob.data"))
    }

    @Test("standard input is sent under the given label")
    func input() async throws {
        let bytes = pattern(700_000, seed: 2)
        let delivery = try TransferProcesses(["-"], in: folder, send: ["--as", "a/b/../notes.txt"])
        let (sender, receiver) = try await delivery.finish(input: bytes)
        #expect(sender.code == 0, "\(sender.errors)")
        #expect(receiver.code == 0, "\(receiver.errors)")
        #expect(try delivery.received("notes.txt") == bytes)
    }

    @Test("a FIFO is sent, such as a shell makes for <(command)")
    func fifo() async throws {
        let words = ["send", "--unverified"] + TransferProcesses.options("ann", "bob", folder)
        let line = "exec \"$0\" \"$@\" --as notes.txt <(printf hello)"
        let sender = try Command(words, through: ["/bin/bash", "-c", line])
        let receiver = try Command(
            ["receive", folder.path("inbox")] + TransferProcesses.options("bob", "ann", folder))
        let sent = try await sender.finish()
        #expect(sent.code == 0, "\(sent.errors)")
        #expect(try await receiver.finish().code == 0)
        #expect(try Data(contentsOf: URL(filePath: folder.path("inbox/notes.txt"))) == Data("hello".utf8))
    }

    @Test("--quiet prints nothing, and with --no-digest no digest is printed")
    func quiet() async throws {
        let path = try folder.write("x", to: "x")
        let delivery = try TransferProcesses([path], in: folder, send: ["--quiet"], receive: ["--quiet"])
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (0, 0))
        #expect(sender.errors.isEmpty && receiver.errors.isEmpty)
        let again = try TransferProcesses(
            [path], in: folder, send: ["--no-digest"], receive: ["--force"], isKept: true)
        let (first, second) = try await again.finish()
        #expect((first.code, second.code) == (0, 0))
        #expect(!first.errors.contains("sha256") && !second.errors.contains("sha256"))
    }

    @Test("an existing file is kept and skipped, the others arrive, and both exit codes show it")
    func existing() async throws {
        let paths = try ["a", "b"].map { try folder.write("new \($0)", to: $0) }
        try FileManager.default.createDirectory(
            atPath: folder.path("inbox"), withIntermediateDirectories: true)
        _ = try folder.write("old", to: "inbox/a")
        let delivery = try TransferProcesses(paths, in: folder)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (5, 5))
        #expect(try delivery.received("a") == Array("old".utf8))
        #expect(try delivery.received("b") == Array("new b".utf8))
        #expect(
            receiver.errors.contains(
                "multipeer: skipped a: a different file of this name exists (use --force to replace files)\n")
        )
        #expect(receiver.errors.contains("received 1 file, 5 B in "))
        #expect(sender.errors.contains("multipeer: skipped a: bob has a different file of this name\n"))
        #expect(sender.errorLines.last == "multipeer: not all files were sent")
        #expect(receiver.errorLines.last == "multipeer: not all files were received")
    }

    @Test(
        "a file that is there already is compared: the same one is success, and one that is not compared is not"
    )
    func same() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("inbox"), withIntermediateDirectories: true)
        let bytes = pattern(2_000_000, seed: 11)
        let path = try folder.write(bytes, to: "movie")
        _ = try folder.write(bytes, to: "inbox/movie")
        let delivery = try TransferProcesses([path], in: folder, receive: ["--count", "1"], isKept: true)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (0, 0), "\(sender.errors) \(receiver.errors)")
        #expect(sender.errors.contains("movie: bob has the same file already\n"))
        #expect(receiver.errors.contains("\(folder.path("inbox/movie")) was there already, the same file\n"))
        let piped = try TransferProcesses(["-"], in: folder, send: ["--as", "movie"], isKept: true)
        let (writer, taker) = try await piped.finish(input: bytes)
        #expect((writer.code, taker.code) == (5, 5))
        #expect(
            writer.errors.contains("skipped movie: bob has a file of this name, which was not compared\n"))
        #expect(taker.errors.contains("skipped movie: already exists, and was not compared (use --force"))
        #expect(try delivery.inbox == ["movie"])
    }

    @Test("a file that is sent twice is compared when the first of them is there")
    func twice() async throws {
        let path = try folder.write(pattern(300_000, seed: 12), to: "movie")
        // The second one is offered, and refused, at once.
        let delivery = try TransferProcesses([path, path], in: folder, send: ["--limit", "300K"])
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (0, 0), "\(sender.errors) \(receiver.errors)")
        #expect(sender.errors.contains("movie: bob has the same file already\n"))
        #expect(try delivery.inbox == ["movie"])
    }

    @Test(
        "--force replaces files and symbolic links, but nothing received in the same run, and follows no link"
    )
    func force() async throws {
        for name in ["one", "two"] {
            try FileManager.default.createDirectory(
                atPath: folder.path(name), withIntermediateDirectories: false)
        }
        let first = try folder.write("first", to: "one/a")
        let paths = [first, try folder.write("second", to: "two/a"), try folder.write("b", to: "b")]
        try FileManager.default.createDirectory(
            atPath: folder.path("inbox"), withIntermediateDirectories: true)
        let target = try folder.write("secret", to: "target")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("inbox/a"), withDestinationPath: target)
        _ = try folder.write("old", to: "inbox/b")
        let delivery = try TransferProcesses(paths, in: folder, receive: ["--force"])
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (5, 5))
        #expect(try delivery.received("a") == Array("first".utf8))
        #expect(try delivery.received("b") == Array("b".utf8))
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "secret")
        #expect(receiver.errors.contains("skipped a: a file with this name was just received"))
    }

    @Test("a file that is too long is skipped, and the number of files is limited")
    func limits() async throws {
        let paths = try [("long", 2_000), ("a", 10), ("b", 10), ("c", 10)].map {
            try folder.write(pattern($1, seed: 3), to: $0)
        }
        let delivery = try TransferProcesses(
            paths, in: folder, receive: ["--max-size", "1K", "--count", "2"])
        let (sender, receiver) = try await delivery.finish()
        #expect(sender.code == 5)
        #expect(receiver.code == 5)
        #expect(try delivery.inbox == ["a", "b"])
        #expect(receiver.errors.contains("skipped long: 2.0 KiB is more than --max-size 1.0 KiB"))
        let enough = try TransferProcesses(
            [paths[1]], in: folder, receive: ["--count", "1", "--force"], isKept: true)
        let (last, taker) = try await enough.finish()
        #expect((last.code, taker.code) == (0, 0))
    }

    @Test("standard input that becomes too long is cut off, and nothing of it stays")
    func endless() async throws {
        let delivery = try TransferProcesses(["-"], in: folder, receive: ["--max-size", "64K"])
        let (sender, receiver) = try await delivery.finish(input: pattern(1 << 20, seed: 4))
        #expect((sender.code, receiver.code) == (5, 5))
        #expect(receiver.errors.contains("skipped input: more than --max-size 64 KiB"))
        #expect(try delivery.inbox.isEmpty)
    }

    @Test("a name that is unsafe at the receiver is changed, and both users read it")
    func unsafeName() async throws {
        let delivery = try TransferProcesses([try folder.write("x", to: ".hidden")], in: folder)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (0, 0), "\(sender.errors) \(receiver.errors)")
        #expect(sender.errors.contains(".hidden: bob saved it as _hidden\n"), "\(sender.errors)")
        let place = folder.path("inbox/_hidden")
        #expect(
            receiver.errors.contains(".hidden is no safe name here; saved as \(place)\n"),
            "\(receiver.errors)")
        #expect(try delivery.inbox == ["_hidden"])
    }

    @Test("a peer of another name is refused before there is a link")
    func otherName() async throws {
        let path = try folder.write("x", to: "x")
        let delivery = try TransferProcesses(
            [path], in: folder, send: ["--to", "carl"], receive: ["--timeout=2"].dropLast())
        let sender = try await delivery.sender.finish()
        #expect(sender.code == 3)
        #expect(sender.errorLines.last == "multipeer: this connection data is from bob, not carl")
        delivery.receiver.process.signal(SIGINT)
        let receiver = try await delivery.receiver.finish()
        #expect(receiver.code == 130)
        #expect(try delivery.inbox.isEmpty)
    }

    @Test("mistakes on the command line are reported before the network is used")
    func wrong() async throws {
        let data = folder.path("ann.data")
        for (words, code, text) in [
            (["send"], 2, "FILE is missing"),
            (["send", "-", "-"], 2, "standard input can be sent only once"),
            (["send", "--as", "x", "/etc/passwd", "/etc/group"], 2, "option '--as' takes one file, not 2"),
            (
                ["send", folder.path("nothing")], 4,
                "cannot send \(folder.path("nothing")): no such file or directory"
            ),
            (["send", "/dev/null"], 4, "cannot send /dev/null: it is a device, not a file"),
            (
                ["receive", "--into", folder.path("nothing/at-all")], 4,
                "cannot create the directory \(folder.path("nothing/at-all")): no such file or directory"
            ),
            (["receive", "--max-size", "big"], 2, "option '--max-size' takes a size"),
            (["receive", "--count", "0"], 2, "option '--count' takes a number"),
        ] as [([String], Int32, String)] {
            let ending = try await Command(words + ["--out", data]).finish()
            #expect(ending.code == code, "\(words)")
            #expect(ending.errors.hasPrefix("multipeer: \(text)"), "\(ending.errors)")
            #expect(ending.errors.split(separator: "\n").count == 1)
            #expect(!folder.exists("ann.data"))
        }
    }
}
