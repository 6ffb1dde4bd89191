import Foundation
import Multipeer
import MultipeerCore
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: small files that travel together", .serialized, .inTurns)
struct BundleCommandTests {
    private let folder: Folder
    private static let count = 40

    init() throws {
        folder = try Folder()
        try make("album/d")
        for index in 0..<BundleCommandTests.count {
            _ = try folder.write("new \(index)", to: "album/\(name(index))")
        }
        #expect(unsafe chmod(folder.path("album/d/f1"), 0o755) == 0)
    }

    private func name(_ index: Int) -> String { index % 2 == 0 ? "f\(index)" : "d/f\(index)" }

    private func make(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }

    private func send(
        _ options: [String] = [], _ receive: [String]
    ) async throws -> (sender: Command.Ending, receiver: Command.Ending) {
        try await TransferProcesses(
            [folder.path("album")], in: folder, send: options, receive: receive, isKept: true
        ).finish()
    }

    private static func events(_ ending: Command.Ending) throws -> [[String: Any]] {
        try ending.text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test(
        "--json has an object for each file, with its digest and place, and modes and times are kept",
        arguments: ["required", "none"])
    func json(preference: String) async throws {
        try make("inbox")
        let link = ["--preference", preference]
        let (sender, receiver) = try await send(
            ["--json", "--limit", "10M"] + link, ["--json", "--fsync"] + link)
        #expect((sender.code, receiver.code) == (0, 0), "\(sender.errors) \(receiver.errors)")
        for (ending, isSender) in [(sender, true), (receiver, false)] {
            let events = try BundleCommandTests.events(ending)
            let done = events.filter { $0["event"] as? String == "done" }
            #expect(done.count == BundleCommandTests.count)
            let file = try #require(done.first { $0["file"] as? String == "album/d/f1" })
            #expect(file["bytes"] as? Int == 5)
            #expect(file["sha256"] as? String == SHA256.hash(Array("new 1".utf8)).hexadecimal)
            #expect(file["path"] as? String == (isSender ? nil : folder.path("inbox/album/d/f1")))
            let end = try #require(events.first { $0["event"] as? String == "end" })
            #expect(end["files"] as? Int == BundleCommandTests.count && end["skipped"] as? Int == 0)
        }
        #expect(try folder.mode("inbox/album/d/f1") == 0o700 && folder.mode("inbox/album/f0") == 0o600)
        let files = FileManager.default
        let times = try ["", "inbox/"].map { place in
            try files.attributesOfItem(atPath: folder.path("\(place)album/f0"))[.modificationDate] as? Date
        }
        #expect(times[0] == times[1])
        #expect(try files.contentsOfDirectory(atPath: folder.path("inbox")) == ["album"])
    }

    @Test("of a directory that is there in part, only the rest is sent, and its sender learns what was there")
    func skip() async throws {
        try make("inbox/album/d/f3")
        for index in [0, 1, 2] { _ = try folder.write("old", to: "inbox/album/\(name(index))") }
        let (sender, receiver) = try await send(["--json"], ["--exists", "skip"])
        #expect((sender.code, receiver.code) == (5, 5))
        let events = try BundleCommandTests.events(sender)
        let errors = events.filter { $0["event"] as? String == "error" && $0["file"] != nil }
        #expect(
            Set(errors.map { "\($0["file"] ?? "") \($0["reason"] ?? "")" }) == [
                "album/f0 differs", "album/d/f1 differs", "album/f2 differs", "album/d/f3 obstructed",
            ])
        let end = try #require(events.first { $0["event"] as? String == "end" })
        #expect(end["files"] as? Int == BundleCommandTests.count - 4 && end["skipped"] as? Int == 4)
        #expect(receiver.errors.contains("skipped album/d/f1: a different file of this name exists\n"))
        #expect(try text("inbox/album/f0") == "old" && text("inbox/album/d/f39") == "new 39")
    }

    @Test("an interrupted directory that is sent again ends well: what is there is compared, and counts")
    func interrupted() async throws {
        try make("inbox/album/d")
        for index in 0..<25 {
            _ = try folder.write("new \(index)", to: "inbox/album/\(name(index))")
        }
        let (sender, receiver) = try await send(["--json"], ["--exists", "skip"])
        #expect((sender.code, receiver.code) == (0, 0), "\(sender.errors) \(receiver.errors)")
        #expect(sender.errors.contains("sent album, 15 files, 90 B in "))
        #expect(sender.errors.contains("; 25 were there already\n"))
        #expect(receiver.errors.contains("received \(folder.path("inbox/album")), 15 files, 90 B in "))
        #expect(receiver.errors.contains("; 25 were there already\n") && !receiver.errors.contains("skipped"))
        let events = try BundleCommandTests.events(sender)
        let same = events.filter { $0["event"] as? String == "same" }
        #expect(same.count == 25)
        let file = try #require(same.first { $0["file"] as? String == "album/d/f1" })
        #expect(file["sha256"] as? String == SHA256.hash(Array("new 1".utf8)).hexadecimal)
        let end = try #require(events.first { $0["event"] as? String == "end" })
        #expect(end["files"] as? Int == 15 && end["same"] as? Int == 25 && end["skipped"] as? Int == 0)
        for side in ["ann", "bob"] {
            try? FileManager.default.removeItem(atPath: folder.path("\(side).data"))
        }
        // One that differs is found among them, also if it is as long.
        _ = try folder.write("old 7", to: "inbox/album/d/f7")
        let (again, taker) = try await send([], ["--exists", "skip"])
        #expect((again.code, taker.code) == (5, 5))
        #expect(again.errors.contains("skipped album/d/f7: bob has a different file of this name\n"))
        #expect(again.errors.contains("; 39 were there already; 1 skipped, 1 different\n"), "\(again.errors)")
        #expect(try text("inbox/album/d/f7") == "old 7")
    }

    @Test("what exists is replaced or kept, as the user wants, and what is too large is not taken")
    func existing() async throws {
        try make("inbox/album/f0")
        try make("inbox/album/d")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("inbox/album/f2"), withDestinationPath: folder.path("album/f4"))
        _ = try folder.write("old", to: "inbox/album/d/f1")
        let (sender, receiver) = try await send([], ["--exists", "overwrite", "--max-size", "5"])
        #expect((sender.code, receiver.code) == (5, 5))
        #expect(sender.errors.contains("skipped album/f0: bob has something else in its place\n"))
        #expect(sender.errors.contains("skipped album/f10: it is larger than bob accepts\n"))
        #expect(receiver.errors.contains("skipped album/f0: a directory with this name exists\n"))
        #expect(try text("inbox/album/d/f1") == "new 1" && text("inbox/album/f2") == "new 2")
        #expect(try text("album/f4") == "new 4" && !folder.exists("inbox/album/f10"))
        for side in ["ann", "bob"] {
            try? FileManager.default.removeItem(atPath: folder.path("\(side).data"))
        }
        let (again, _) = try await send([], ["--exists", "rename"])
        #expect(again.code == 0 && again.errors.contains("album: bob saved it as album~1\n"))
        #expect(try text("inbox/album~1/f10") == "new 10")
    }

    @Test(
        "with --fsync, files whose names cannot be brought to the disk are not there, and have failed at both ends",
        .enabled(if: BundleCommandTests.canHide, "no directory can be hidden from the receiver, or used then")
    )
    func namesNotOnDisk() async throws {
        try make("inbox/album")
        // One can create names in a directory that one may not list, but not bring them to the disk.
        #expect(unsafe chmod(folder.path("inbox/album"), 0o300) == 0)
        let (sender, receiver) = try await TransferProcesses(
            [folder.path("album")], in: folder, send: ["--json"],
            receive: ["--json", "--fsync", "--exists", "skip"], isKept: true,
            receiverThrough: BundleCommandTests.hiding
        ).finish()
        #expect(unsafe chmod(folder.path("inbox/album"), 0o700) == 0)
        #expect((sender.code, receiver.code) == (5, 5), "\(sender.errors) \(receiver.errors)")
        // In the other directory all is well.
        let rest = Set((0..<BundleCommandTests.count).map(name).filter { $0.hasPrefix("d/") })
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path("inbox/album"))
        #expect(Set(paths) == rest.union(["d"]))
        #expect(receiver.errors.contains("album/f0: not permitted\n"), "\(receiver.errors)")
        #expect(sender.errors.contains("album/f0: the other side is not permitted to write there\n"))
        for ending in [sender, receiver] {
            let events = try BundleCommandTests.events(ending)
            let done = events.filter { $0["event"] as? String == "done" }.compactMap {
                $0["file"] as? String
            }
            #expect(Set(done) == Set(rest.map { "album/\($0)" }) && done.count == rest.count)
            let end = try #require(events.first { $0["event"] as? String == "end" })
            #expect(end["files"] as? Int == rest.count)
        }
    }

    /// Root may list every directory, unless that is taken from it.
    private static let hiding =
        geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []

    /// The portable runtime opens no directory that may not be listed.
    private static let canHide =
        !TestedRuntime.isPortable
        && (hiding.isEmpty || ToolProcess.succeeds(hiding[0], [hiding[1], "/bin/true"]))

    @Test(
        "bundles that are no bundles, or name files outside the directory, change nothing outside [resource.label]"
    )
    func hostile() async throws {
        try make("inbox/outside")
        let receiver = try Command(
            ["receive", "--exists", "overwrite", folder.path("inbox")]
                + TransferProcesses.options("bob", "ann", folder))
        let (session, theirs) = try await join("ann", receiver, "bob")
        func bundle(_ files: [(Int, String, String)]) -> [UInt8] {
            var writer = FileBundleWriter()
            for (number, directory, name) in files {
                writer.enter([FilePath(directory)])
                FileBundleWriter.put(number, .file, FileTime(seconds: 1), name, size: 1, &writer.bytes)
                writer.bytes.append(1)
            }
            return writer.bytes
        }
        let good = bundle([(1, "a", "f")])
        let malformed = [
            [], good + [0], Array(good.dropLast()), bundle([(2, "a", "x"), (1, "a", "y")]),
            bundle([(91, "a", "x")]),
            bundle([(0, "a", "x")]), [UInt8](repeating: 1, count: FileBundle.longest + 1),
        ]
        var number = 0
        func send(_ bytes: [UInt8]) async throws -> Bool {
            number += 1
            let sending = try await session.send(
                contentsOf: One(bytes), size: UInt64(bytes.count), to: theirs.peer, name: "x",
                metadata: BundlePosition(number, files: 90).metadata)
            do { try await sending.waitUntilReceived() } catch { return false }
            return true
        }
        for bytes in malformed { #expect(try await !send(bytes), "\(bytes.prefix(40))") }
        #expect(try await send(good))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("inbox/a/link"), withDestinationPath: folder.path("inbox/outside"))
        let paths = HostilePaths.all.map { text, _ in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            return (parts.count > 1 ? parts.dropLast().joined(separator: "/") : "a", String(parts.last ?? ""))
        }
        let layouts = [("a/link", "x"), ("a/f", "g"), ("a/f/g", "h"), ("a", "f")]
        #expect(try await send(bundle(zip(2..., paths + layouts).map { ($0, $1.0, $1.1) })))
        try await session.send("files/1 question 7/90\nx", to: theirs.peer)
        await session.disconnect()
        let ending = try await receiver.finish()
        #expect(ending.code == 5)
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.path("inbox")).sorted()
        #expect(all == ["a", "a/f", "a/link", "outside"])
        #expect(!ending.errors.contains("\u{1b}") && !ending.text.contains("question"))
    }

    @Test(
        "a receiver that confirms a bundle and does not say what became of each file has received none of them"
    )
    func hostileReceiver() async throws {
        let sender = try Command(
            ["send", "-u", folder.path("album")] + TransferProcesses.options("ann", "bob", folder))
        let (session, theirs) = try await join("bob", sender, "ann")
        for message in ["files/1 bundles all", "files/1 bundles none", "files/1 answer 1 taken", "files/1 x"]
        {
            try await session.send(message, to: theirs.peer)
        }
        for await event in session.events {
            guard case .resource(let resource) = event else { continue }
            #expect(BundlePosition(metadata: resource.metadata) == BundlePosition(1, files: 40))
            try await session.send("files/1 result 1 taken*41", to: theirs.peer)
            let file = try await resource.receive(into: URL(filePath: folder.path("")))
            // The link is encrypted: TLS has authenticated it.
            #expect(!file.isVerified)
            break
        }
        let ending = try await sender.finish()
        #expect(ending.code == 5)
        #expect(ending.errors.contains("album/f0: the other side does not say whether it has it\n"))
        await session.disconnect()
    }

    /// Links a session of this test with a process.
    private func join(
        _ name: String, _ process: Command, _ other: String
    ) async throws -> (Session, ConnectionData) {
        #expect(try await process.says("send this to the other person"))
        var configuration = Session.Configuration()
        configuration.listenAddresses = [SocketAddress(.loopbackV4, port: 0)]
        let session = try Session(peer: PeerID(displayName: name), configuration: configuration)
        let data = Base64.encode(try await session.connectionData().bytes) + "\n"
        try Data(data.utf8).write(to: URL(filePath: folder.path("\(name).data")), options: .atomic)
        let theirs = try ConnectionData(try #require(Base64.decode(try text("\(other).data"))))
        try await session.connect(with: theirs)
        return (session, theirs)
    }
}

/// All bytes at once, or none.
private struct One: AsyncSequence, Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: [UInt8]?
        mutating func next() async -> [UInt8]? { rest.take() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes.isEmpty ? nil : bytes) }
}
