import Foundation
import MultipeerCLI
import MultipeerTransport
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: transfers that end badly", .serialized, .inTurns)
struct TransferEndTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func huge() throws -> String { try folder.sparse(1 << 32, to: "huge") }

    @Test("an interrupted sender notifies the receiver, and no file is left", arguments: [SIGINT, SIGTERM])
    func sender(_ signal: Int32) async throws {
        let delivery = try TransferProcesses([try huge(), "--no-digest"], in: folder)
        try await delivery.isUnderWay()
        delivery.sender.process.signal(signal)
        let (sender, receiver) = try await delivery.finish()
        #expect(sender.code == 128 + signal)
        #expect(receiver.code == 5, "\(receiver.errors)")
        #expect(receiver.errors.contains("multipeer: huge: cancelled by the other side\n"))
        #expect(try delivery.inbox.isEmpty)
        #expect(!folder.exists("ann.data") && !folder.exists("bob.data"))
    }

    @Test(
        "after a redirection a proxy is asked for the address that was checked, not for the name",
        .enabled(if: ToolProcess.succeeds("/usr/bin/env", ["curl", "--version"]), "no curl"))
    func redirectionBehindProxy() async throws {
        let requests = Locked<[String]>([])
        // The proxy, and the server of the first URL: what is asked of it is a whole URL, or the end of a tunnel.
        let proxy = try WebServer { place, write in
            let isFirst = requests.withLock { requests in
                requests.append(place)
                return requests.count == 1
            }
            _ = write(
                isFirst
                    ? WebServer.head("302 Found", "Location: http://localhost:9/next", "Content-Length: 0")
                    : WebServer.head("403 Forbidden", "Content-Length: 0"))
        }
        let ann = ["send", "--unverified", "http://127.0.0.1:9/start"]
        let sender = try Command(
            ann + TransferProcesses.options("ann", "bob", folder),
            environment: [
                "http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "", "NO_PROXY": "",
            ])
        try FileManager.default.createDirectory(
            atPath: folder.path("inbox"), withIntermediateDirectories: true)
        let receiver = try Command(
            ["receive", "--into", folder.path("inbox")] + TransferProcesses.options("bob", "ann", folder))
        async let ending = receiver.finish()
        let code = try await sender.finish().code
        _ = try await ending
        #expect(code != 0)
        let asked = requests.withLock { $0 }
        #expect(asked.first == "http://127.0.0.1:9/start")
        #expect(asked.dropFirst() == ["127.0.0.1:9"] || asked.dropFirst() == ["[::1]:9"], "\(asked)")
    }

    @Test("an interrupted receiver notifies the sender, and no file is left", arguments: [SIGINT, SIGTERM])
    func receiver(_ signal: Int32) async throws {
        let delivery = try TransferProcesses(
            [try huge(), try folder.write("x", to: "x"), "--no-digest"], in: folder)
        try await delivery.isUnderWay()
        delivery.receiver.process.signal(signal)
        let (sender, receiver) = try await delivery.finish()
        #expect(receiver.code == 128 + signal)
        #expect(sender.code == 5, "\(sender.errors)")
        #expect(sender.errors.contains("multipeer: huge: cancelled by the other side\n"))
        #expect(sender.errors.contains("2 failed"))
        #expect(try delivery.inbox.isEmpty)
    }

    @Test("a lost link ends the receiver, and no file is left that cannot be resumed")
    func killed() async throws {
        let delivery = try TransferProcesses([try huge(), "--no-digest"], in: folder)
        try await delivery.isUnderWay()
        delivery.sender.process.signal(SIGKILL)
        let (sender, receiver) = try await delivery.finish()
        #expect(sender.code == 128 + SIGKILL)
        #expect(receiver.code == 1)
        #expect(receiver.errorLines.last?.hasPrefix("multipeer: the link to ann ended: ") == true)
        #expect(try delivery.inbox.isEmpty)
    }

    @Test("a lost link ends the sender")
    func lostReceiver() async throws {
        let delivery = try TransferProcesses([try huge()], in: folder)
        try await delivery.isUnderWay()
        delivery.receiver.process.signal(SIGKILL)
        let (sender, _) = try await delivery.finish()
        #expect(sender.code == 1, "\(sender.errors)")
        #expect(sender.errorLines.last?.contains("the link to bob") == true)
    }

    @Test("what a killed receiver leaves is removed by the next one in the same directory")
    func killedReceiver() async throws {
        let delivery = try TransferProcesses([try huge(), "--no-digest"], in: folder)
        try await delivery.isUnderWay()
        delivery.receiver.process.signal(SIGKILL)
        _ = try await delivery.finish()
        #expect(try delivery.inbox.count == 1 && delivery.inbox[0].hasSuffix(".part"))
        // The connection data of the processes that have ended would be read otherwise.
        for name in ["ann", "bob"] {
            try? FileManager.default.removeItem(atPath: folder.path("\(name).data"))
        }
        let next = try TransferProcesses([try folder.write("x", to: "x")], in: folder, isKept: true)
        #expect(try await next.finish().sender.code == 0)
        #expect(try next.inbox == ["x"])
    }

    @Test(
        "on a file system without free inodes, a file is received if it can have its name, and both sides agree",
        .enabled(if: TransferEndTests.canMount), arguments: [2, 1])
    func inodes(_ count: Int) async throws {
        // The directory has one inode, the file the other; a second link to it would need a third. The portable runtime has
        // no other way to give a file a new name without replacing one, so there it gets none, and both sides agree on that.
        let script = """
            mount -t tmpfs -o nr_inodes=\(count) none \(folder.path("inbox")) || exit 9
            "$@"; code=$?; cat \(folder.path("inbox"))/*; exit $code
            """
        let wrapper = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh"]
        let delivery = try TransferProcesses(
            [try folder.write("contents", to: "file")], in: folder, receiverThrough: wrapper)
        let (sender, receiver) = try await delivery.finish()
        let isReceived = count == 2 && !TestedRuntime.isPortable
        #expect((sender.code, receiver.code) == (isReceived ? (0, 0) : (5, 5)), "\(receiver.errors)")
        #expect(receiver.text == (isReceived ? "contents" : ""))
        #expect(sender.errors.contains("no space left on the other side") == !isReceived)
    }

    /// What a directory is made before it is received into, and what the sender reads then.
    @Test(
        "a receiver that cannot store says why, in words, for one file and for many that travel together",
        .enabled(if: TransferEndTests.canMount),
        arguments: [
            ("mount -t tmpfs -o ro none DIR", "the file system on the other side is read-only", "read-only"),
            ("ulimit -f 2", "the other side cannot store a file as long as this", "size-limit"),
        ], [false, true])
    func trouble(_ trouble: (script: String, words: String, word: String), _ areMany: Bool) async throws {
        let inbox = folder.path("inbox")
        // So that the command itself finds nothing wrong.
        let setting = trouble.script.replacing("DIR", with: "\(inbox)/album")
        let script = "\(setting) || exit 9; exec \"$@\""
        for place in ["album", "inbox/album"] {
            try FileManager.default.createDirectory(
                atPath: folder.path(place), withIntermediateDirectories: true)
        }
        let count = areMany ? 20 : 1
        for index in 0..<count {
            _ = try folder.write([UInt8](repeating: 7, count: 8_000), to: "album/f\(index)")
        }
        let wrapper = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh"]
        let delivery = try TransferProcesses(
            [folder.path("album")], in: folder, send: ["--json"], receive: ["--exists", "skip"],
            isKept: true, receiverThrough: wrapper)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (5, 5), "\(sender.errors) \(receiver.errors)")
        #expect(sender.errors.contains("album/f0: \(trouble.words)\n"), "\(sender.errors)")
        #expect(sender.text.components(separatedBy: "\"reason\":\"\(trouble.word)\"").count == count + 1)
        for text in [sender.errors, receiver.errors] {
            #expect(!text.contains("INTERNAL") && !text.contains("error 2"), "\(text)")
        }
    }

    @Test("a reader of standard output that ends is no system error, and the sender reads it in words")
    func closedOutput() async throws {
        let sender = try Command(
            ["send", "--unverified", try huge(), "--no-digest"]
                + TransferProcesses.options("ann", "bob", folder))
        let receiver = try Command(
            ["receive", "--into", "-"] + TransferProcesses.options("bob", "ann", folder))
        #expect(try await receiver.says("linked with ann"))
        receiver.closeOutput()
        let ending = try await sender.finish()
        #expect(ending.code == 5)
        #expect(
            ending.errors.contains("huge: the program that reads it on the other side has ended\n"),
            "\(ending.errors)")
        #expect(receiver.process.wait() == 5)
        #expect(try await receiver.says("huge: standard output: closed by the program that reads it"))
    }

    /// Mounting needs a namespace of one's own.
    private static let canMount: Bool = {
        guard let one = try? ChildProcess("/usr/bin/unshare", ["-m", "/bin/true"]) else { return false }
        defer { one.closeStreams() }
        return one.wait() == 0
    }()

    @Test("a sender does not receive a confirmation of a file that cannot get its name")
    func noName() async throws {
        let delivery = try TransferProcesses(["-", "--as", "name"], in: folder, receive: ["--force"])
        try await delivery.sender.send([1, 2, 3])
        try await delivery.isUnderWay()
        let directory = folder.path("inbox/name")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (5, 5), "\(sender.errors) \(receiver.errors)")
        #expect(!sender.errors.contains("sent name"))
        #expect(try delivery.inbox == ["name"])
    }

    @Test("a file that shrinks while it is sent fails on both sides, and the next one is sent")
    func shrinking() async throws {
        let path = try huge()
        let delivery = try TransferProcesses([path, try folder.write("x", to: "x")], in: folder)
        try await delivery.isUnderWay()
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 1)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (5, 5))
        #expect(try delivery.inbox == ["x"])
    }

    @Test("a sender that never finishes its input can be interrupted")
    func input() async throws {
        let delivery = try TransferProcesses(["-"], in: folder)
        try await delivery.sender.send([1, 2, 3])
        try await delivery.isUnderWay()
        delivery.sender.process.signal(SIGINT)
        let (sender, receiver) = try await delivery.finish(input: nil)
        #expect((sender.code, receiver.code) == (130, 5))
        #expect(try delivery.inbox.isEmpty)
    }
}
