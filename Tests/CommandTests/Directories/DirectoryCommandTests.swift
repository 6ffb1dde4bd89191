import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: directories, and what exists already", .serialized, .inTurns)
struct DirectoryCommandTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func make(_ names: String...) throws {
        for name in names {
            try FileManager.default.createDirectory(
                atPath: folder.path(name), withIntermediateDirectories: true)
        }
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }

    /// Two files, one of them a program, a hidden file, an empty directory and a link.
    private func album() throws -> String {
        try make("album/sub/.git", "album/empty")
        for (name, contents) in [("a.txt", "a"), ("sub/run", "run"), ("sub/.git/config", "config")] {
            _ = try folder.write(contents, to: "album/\(name)")
        }
        #expect(unsafe chmod(folder.path("album/sub/run"), 0o755) == 0)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
            ofItemAtPath: folder.path("album/a.txt"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("album/link"), withDestinationPath: "/etc/passwd")
        return folder.path("album")
    }

    @Test("names that look the same and are not, of files and of directories, all arrive")
    func lookalikes() async throws {
        let names = ["\u{e9}", "e\u{301}", "\u{301}", "a\u{301}"]
        for directory in names {
            // By the system's own call: Foundation may change names.
            #expect(unsafe mkdir(folder.path("") + "/\(directory)", 0o700) == 0)
            for name in names {
                let file = unsafe fopen(folder.path("") + "/\(directory)/\(name)", "w")
                unsafe fputs("\(directory)/\(name)", file)
                unsafe fclose(file)
            }
        }
        let delivery = try TransferProcesses(
            names.map { folder.path("") + "/\($0)" }, in: folder, receive: ["--exists", "overwrite"])
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (0, 0), "\(sender.errors) \(receiver.errors)")
        #expect(!receiver.errors.contains("skipped"))
        let found = try OpenDirectory(folder.path("inbox")).entries().map(\.name)
        #expect(found.count == names.count)
        for directory in found {
            let inner = try OpenDirectory(folder.path("inbox") + "/\(directory)").entries().map(\.name)
            #expect(inner.count == names.count)
        }
    }

    @Test("of files whose names are random bytes all arrive whose names can, and the sender names the others")
    func randomNames() async throws {
        var random = Seeded(44)
        let good = [
            "a", "b", "Z", "0", ".", "-", "~", " ", "\\", ":", "*", "é", "e\u{301}", "\u{3164}", "日", "👨",
        ].map { Array($0.utf8) }
        let bad = ["\n", "\u{1b}", "\u{202e}"].map { Array($0.utf8) } + [[0x80], [0xc3], [0xff]]
        var contents: [[UInt8]: String] = [:]
        try make("album")
        for number in 0..<300 {
            let name = (0..<Int.random(in: 1...6, using: &random)).flatMap { _ in
                (Int.random(in: 0..<12, using: &random) == 0 ? bad : good).randomElement(using: &random) ?? []
            }
            guard name != [0x2e], name != [0x2e, 0x2e] else { continue }
            contents[name] = "\(number)"
            let path = Array((folder.path("album") + "/").utf8) + name + [0]
            let file = unsafe try #require(fopen(path.map { CChar(bitPattern: $0) }, "w"))
            unsafe fputs("\(number)", file)
            unsafe fclose(file)
        }
        let names = contents.keys.map { String(validating: $0, as: UTF8.self) }
        let sendable = Set(
            zip(contents.values, names).filter { $1.map { RelativePath.fault(ofName: $0) == nil } ?? false }
                .map(\.0))
        #expect((50..<contents.count - 50).contains(sendable.count))
        let (sender, _) = try await TransferProcesses([folder.path("album")], in: folder).finish()
        #expect(sender.code == ExitCode.incomplete.rawValue, "\(sender.errors)")
        #expect(try OpenDirectory(folder.path("inbox")).entries().map(\.name) == ["album"])
        let found = try OpenDirectory(folder.path("inbox/album")).entries().map(\.name)
        #expect(Set(try found.map { try text("inbox/album/\($0)") }) == sendable)
        #expect(found.count == sendable.count)
    }

    @Test("a directory arrives with all its files, times and programs, under a new name if its own is taken")
    func whole() async throws {
        let path = try album()
        for name in ["album", "album~1"] {
            let delivery = try TransferProcesses([path], in: folder, isKept: name != "album")
            if name == "album" { try make("inbox") }
            let (sender, receiver) = try await delivery.finish()
            #expect((sender.code, receiver.code) == (0, 0), "\(sender.errors) \(receiver.errors)")
            let place = "inbox/\(name)"
            #expect(try text("\(place)/a.txt") == "a" && text("\(place)/sub/.git/config") == "config")
            #expect(try folder.mode("\(place)/sub/run") == 0o700 && folder.mode("\(place)/a.txt") == 0o600)
            let facts = try FileManager.default.attributesOfItem(atPath: folder.path("\(place)/a.txt"))
            #expect(facts[.modificationDate] as? Date == Date(timeIntervalSince1970: 1_000_000_000))
            #expect(folder.exists("\(place)/empty") && !folder.exists("\(place)/link"))
            #expect(sender.errors.contains("album: 1 symbolic link (album/link) left out\n"))
            let figures = "3 files and 1 directory, 10 B in "
            #expect(sender.errorLines.last?.hasPrefix("sent album, \(figures)") == true)
            #expect(
                receiver.errorLines.last?.hasPrefix("received \(folder.path(place)), \(figures)") == true)
            #expect(receiver.errors.contains("saving as \(folder.path(place))\n") == (name != "album"))
            for name in ["ann", "bob"] {
                try? FileManager.default.removeItem(atPath: folder.path("\(name).data"))
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox")).count == 2)
    }

    @Test("what the sender cannot send is missing at the receiver, too", arguments: [1, 40])
    func unsent(_ count: Int) async throws {
        try make("album")
        // Many travel together.
        for index in 0..<count { _ = try folder.write("x", to: "album/f\(index)") }
        for name in ["bad.", "bad "] { _ = try folder.write("x", to: "album/\(name)") }
        let delivery = try TransferProcesses([folder.path("album")], in: folder)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (5, 5), "\(sender.errors) \(receiver.errors)")
        #expect(sender.errors.contains("album/bad.: ") && sender.errors.contains("album/bad : "))
        let missing = "ann disconnected; 2 of \(count + 2) files missing (its command says which, and why)"
        #expect(receiver.errorLines.last == "multipeer: \(missing)", "\(receiver.errors)")
        #expect(try text("inbox/album/f0") == "x")
    }

    @Test("what exists is kept, gets company, or is replaced, as the user wants, and the sender says which")
    func existing() async throws {
        let path = try album()
        let single = try folder.write("new", to: "single")
        let says = [
            "skip": [
                "skipped single: bob has a different file of this name",
                "skipped album/a.txt: bob has a different file of this name",
                "; 2 skipped, 2 different",
            ],
            "rename": ["single: bob saved it as single~1", "album: bob saved it as album~1"],
            "overwrite": [],
        ]
        for (word, lines) in says {
            try? FileManager.default.removeItem(atPath: folder.path("inbox"))
            try make("inbox/album")
            for name in ["inbox/album/a.txt", "inbox/album/mine", "inbox/single"] {
                _ = try folder.write("old", to: name)
            }
            let delivery = try TransferProcesses(
                [path, single], in: folder, receive: ["--exists", word], isKept: true)
            let (sender, receiver) = try await delivery.finish()
            let code: Int32 = word == "skip" ? 5 : 0
            #expect(
                (sender.code, receiver.code) == (code, code), "\(word): \(sender.errors) \(receiver.errors)")
            for line in lines { #expect(sender.errors.contains(line), "\(sender.errors)") }
            #expect(try text("inbox/single") == (word == "overwrite" ? "new" : "old"))
            #expect(try text("inbox/album/a.txt") == (word == "overwrite" ? "a" : "old"))
            #expect(try text("inbox/album/mine") == "old")
            #expect(folder.exists("inbox/album/sub/run") == (word != "rename"))
            if word == "rename" {
                #expect(try text("inbox/album~1/a.txt") == "a" && text("inbox/single~1") == "new")
            }
            for name in ["ann", "bob"] {
                try? FileManager.default.removeItem(atPath: folder.path("\(name).data"))
            }
        }
    }

    @Test("two directories of one name, or too many of them, are refused before the network is used")
    func names() async throws {
        for index in 0..<65 { try make("d\(index)", "other/d\(index)") }
        for (words, text) in [
            ([folder.path("d1"), folder.path("other/d1")], "two directories are called d1"),
            ((0..<65).map { folder.path("d\($0)") }, "65 directories are more than 64"),
        ] {
            let ending = try await Command(["send"] + words).finish()
            #expect(ending.errors.hasPrefix("multipeer: \(text)"), "\(ending.errors)")
        }
    }

    @Test("very many files are on their way at once, and all of them arrive")
    func many() async throws {
        for index in 0..<10 {
            try make("many/d\(index)")
            for number in 0..<40 {
                _ = try folder.write("\(index) \(number)", to: "many/d\(index)/f\(number)")
            }
        }
        let delivery = try TransferProcesses([folder.path("many")], in: folder)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (0, 0), "\(sender.errors) \(receiver.errors)")
        for index in 0..<10 {
            for number in 0..<40 {
                #expect(try text("inbox/many/d\(index)/f\(number)") == "\(index) \(number)")
            }
        }
        #expect(sender.errorLines.last?.hasPrefix("sent many, 400 files, ") == true)
    }

    @Test(
        "a sender that names files outside its directory is refused, and nothing outside is touched [resource.label]"
    )
    func hostile() async throws {
        try make("inbox/mine/d", "outside")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("inbox/link"), withDestinationPath: folder.path("outside"))
        let receiver = try Command(
            ["receive", "--exists", "overwrite", folder.path("inbox")]
                + TransferProcesses.options("bob", "ann", folder))
        var configuration = Session.Configuration()
        configuration.listenAddresses = [SocketAddress(.loopbackV4, port: 0)]
        let session = try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        let line = Base64.encode(try await session.connectionData().bytes) + "\n"
        try Data(line.utf8).write(to: URL(filePath: folder.path("ann.data")), options: .atomic)
        #expect(try await receiver.says("send this to the other person"))
        let data = try String(contentsOfFile: folder.path("bob.data"), encoding: .utf8)
        let theirs = try ConnectionData(try #require(Base64.decode(data)))
        try await session.connect(with: theirs)
        let refused = [
            "../x", "/etc/x", "a/../../x", "a//x", "a/..", "a/.", "", "a/b\u{0}c", "a/\u{1b}c", "a/x.",
            "link/x",
            "mine", "a/f/g", "a/f/g/h", "mine/d", String(repeating: "d/", count: 64) + "x",
        ]
        for (index, path) in (["a/f"] + refused).enumerated() {
            let metadata = Array("\(index + 1)/\(refused.count + 1) - 1.000000000\n\(path)".utf8)
            let sending = try await session.send(
                contentsOf: One(bytes: [1]), to: theirs.peer, name: "x", metadata: metadata)
            do {
                try await sending.waitUntilReceived()
                #expect(index == 0, "\(path)")
            } catch {
                #expect(index > 0 && error.code == .declined, "\(path) \(error)")
            }
        }
        await session.disconnect()
        let ending = try await receiver.finish()
        #expect(ending.code == 5)
        #expect(ending.errors.contains("skipped a/f/g: a file or link is where a directory has to be"))
        let outside = try FileManager.default.contentsOfDirectory(atPath: folder.path("outside"))
        #expect(outside.isEmpty)
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.path("inbox")).sorted()
        #expect(all == ["a", "a/f", "link", "mine", "mine/d"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).contains("x") == false)
    }

    @Test(
        "a receiver that declines without a reason, or says what makes no sense, is reported, and shows nothing of its own"
    )
    func hostileReceiver() async throws {
        let sender = try Command(
            ["send", "-u", try album()] + TransferProcesses.options("ann", "bob", folder))
        #expect(try await sender.says("send this to the other person"))
        var configuration = Session.Configuration()
        configuration.listenAddresses = [SocketAddress(.loopbackV4, port: 0)]
        let session = try Session(peer: PeerID(displayName: "bob"), configuration: configuration)
        let data = Base64.encode(try await session.connectionData().bytes)
        _ = try folder.write("\(data)\n", to: "bob.data")
        let text = try String(contentsOfFile: folder.path("ann.data"), encoding: .utf8)
        let theirs = try ConnectionData(try #require(Base64.decode(text)))
        try await session.connect(with: theirs)
        var count = 0
        for await event in session.events {
            guard case .resource(let resource) = event else { continue }
            for note in [
                "files/1 1 renamed \u{1b}[2J", "files/1 99 exists", "files/1 2 later", "files/1", "x",
            ] {
                try await session.send(note, to: theirs.peer)
            }
            resource.decline()
            count += 1
            if count == 4 { break }
        }
        let ending = try await sender.finish()
        #expect(ending.code == 5)
        #expect(ending.errors.components(separatedBy: ": declined by the other side\n").count == 5)
        #expect(!ending.errors.contains("\u{1b}") && !ending.errors.contains("saved it as"))
        await session.disconnect()
    }

    @Test("one file goes to standard output, and everything for people to standard error")
    func output() async throws {
        let bytes = pattern(300_000, seed: 9)
        let sender = try Command(
            ["send", "-u", try folder.write(bytes, to: "a")] + TransferProcesses.options("ann", "bob", folder)
        )
        let receiver = try Command(
            ["receive", "--into", "-"] + TransferProcesses.options("bob", "ann", folder))
        let ending = try await receiver.finish()
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.output == bytes)
        #expect(ending.errors.contains("received a, 293 KiB in "))
        #expect(try await sender.finish().code == 0)
    }

    @Test("--json prints objects alone on standard output, of files, errors and totals")
    func json() async throws {
        let paths = [try album(), try folder.write("new", to: "single")]
        try make("inbox")
        _ = try folder.write("old", to: "inbox/single")
        let delivery = try TransferProcesses(
            paths, in: folder, send: ["--json"], receive: ["--json"], isKept: true)
        let (sender, receiver) = try await delivery.finish()
        for (ending, isSender) in [(sender, true), (receiver, false)] {
            let events = try ending.text.split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
            func all(_ kind: String) -> [[String: Any]] { events.filter { $0["event"] as? String == kind } }
            #expect(all("offer").first?["peer"] as? String == (isSender ? "bob" : "ann"))
            let done = all("done")
            #expect(done.count == 4)
            let file = try #require(done.first { $0["file"] as? String == "album/sub/run" })
            #expect(file["bytes"] as? Int == 3 && (file["sha256"] as? String)?.count == 64)
            #expect(file["path"] as? String == (isSender ? nil : folder.path("inbox/album/sub/run")))
            let errors = all("error")
            #expect(errors.count == 2 && errors[0]["reason"] as? String == "differs")
            #expect(errors[1]["file"] == nil)
            let end = try #require(all("end").first)
            #expect(end["files"] as? Int == 3 && end["directories"] as? Int == 1)
            #expect(end["skipped"] as? Int == 1 && end["failed"] as? Int == 0)
            if isSender {
                let offer = try #require(all("offer").first)
                #expect(offer["totalFiles"] as? Int == 4 && offer["totalDirectories"] as? Int == 1)
            }
        }
        #expect((sender.code, receiver.code) == (5, 5))
    }

    @Test("with --progress, lines come where there is no terminal, and --limit makes them necessary")
    func progress() async throws {
        let path = try folder.sparse(1 << 32, to: "huge")
        let delivery = try TransferProcesses([path], in: folder, send: ["--progress", "--limit", "100K"])
        #expect(try await delivery.sender.says("huge  ["))
        delivery.sender.process.signal(SIGINT)
        let (sender, _) = try await delivery.finish()
        #expect(sender.code == 130)
    }

    @Test(
        "mistakes with these options are reported before the network is used",
        arguments: [
            (["send", "--limit", "fast", "/etc/passwd"], "option '--limit' takes a size"),
            (["send", "--limit", "0", "/etc/passwd"], "option '--limit' takes a size"),
            (["send", "--as", "x", "/etc"], "a directory is sent under its own name, without --as"),
            (["receive", "--exists", "maybe"], "option '--exists' takes skip, rename or overwrite"),
            (["receive", "--exists", "skip", "--force"], "--exists and --force cannot be used together"),
            (["receive", "--keep", "--code", "new"], "--keep and --code cannot be used together"),
            (["receive", "--keep", "7-guitar-island"], "--keep and a code cannot be used together"),
            (
                ["receive", "--into", "-", "--json"],
                "standard output takes one file, without --json"
            ),
        ])
    func mistakes(_ words: [String], _ text: String) async throws {
        let ending = try await Command(words).finish()
        #expect(ending.code == 2)
        #expect(ending.errors.hasPrefix("multipeer: \(text)"), "\(ending.errors)")
    }
}

@Suite("Command: a receiver that stays", .serialized, .inTurns)
struct KeepCommandTests {
    private let type = ServiceType.random()
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test(
        "several senders are received at once and one after the other, each introduced before its first file, until there are enough"
    )
    func keep() async throws {
        let bob = try Command(
            ["receive", folder.path("inbox"), "-y", "-k", "--count", "3", "-n", "bob", "--type", type])
        #expect(try await bob.says("waiting as"))
        func sender(_ name: String) throws -> Command {
            try Command(["send", "-u", try folder.write(name, to: name), "bob", "-n", name, "--type", type])
        }
        let (ann, cid) = (try sender("ann"), try sender("cid"))
        async let first = ann.finish()
        async let second = cid.finish()
        #expect(try await (first.code, second.code) == (0, 0))
        #expect(try await sender("dan").finish().code == 0)
        let ending = try await bob.finish()
        #expect(ending.code == 0, "\(ending.errors)")
        for name in ["ann", "cid", "dan"] {
            let verified = try #require(ending.errors.range(of: "\(name) is not verified: "))
            let linked = try #require(ending.errors.range(of: "linked with \(name), encrypted\n"))
            let received = try #require(ending.errors.range(of: "(from \(name))\n"))
            #expect(verified.upperBound < linked.lowerBound && linked.upperBound < received.lowerBound)
            #expect(folder.exists("inbox/\(name)"))
        }
    }

    @Test("files may be replaced, but no sender replaces those that another one has just sent")
    func owners() async throws {
        for path in ["inbox/album", "ann/album/empty", "cid/album/empty"] {
            try FileManager.default.createDirectory(
                atPath: folder.path(path), withIntermediateDirectories: true)
        }
        // So many that they travel together.
        let files = (0..<16).map { "album/f\($0)" } + ["single"]
        for name in files {
            for place in ["inbox", "ann", "cid"] { _ = try folder.write(place, to: "\(place)/\(name)") }
        }
        _ = try folder.write("mine", to: "cid/album/mine")
        let bob = try Command(
            ["receive", folder.path("inbox"), "-y", "-k", "--force", "-n", "bob", "--type", type])
        #expect(try await bob.says("waiting as"))
        for (name, code) in [("ann", Int32(0)), ("cid", 5)] {
            let paths = ["single", "album"].map { folder.path("\(name)/\($0)") }
            let sender = try Command(["send", "-u"] + paths + ["bob", "-n", name, "--type", type])
            let ending = try await sender.finish()
            #expect(ending.code == code, "\(ending.errors)")
            guard code != 0 else { continue }
            for file in files {
                let line = "skipped \(file): bob has just received a file of this name\n"
                #expect(ending.errors.contains(line), "\(ending.errors)")
            }
            #expect(ending.errors.components(separatedBy: "skipped ").count == files.count + 1)
        }
        bob.process.signal(SIGINT)
        _ = try await bob.finish()
        for (name, text) in files.map({ ($0, "ann") }) + [("album/mine", "mine")] {
            #expect(try String(contentsOfFile: folder.path("inbox/\(name)"), encoding: .utf8) == text)
        }
    }

    @Test("a receiver that stays reports what a sender could not send")
    func unsentKept() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("album"), withIntermediateDirectories: true)
        for name in ["good", "bad."] { _ = try folder.write("x", to: "album/\(name)") }
        let bob = try Command(["receive", folder.path("inbox"), "-y", "-k", "-n", "bob", "--type", type])
        #expect(try await bob.says("waiting as"))
        let path = folder.path("album")
        let sender = try Command(["send", "-u", path, "bob", "-n", "ann", "--type", type])
        #expect(try await sender.finish().code == 5)
        #expect(try await bob.says("ann disconnected; 1 of 2 files missing"))
        bob.process.signal(SIGINT)
        #expect(try await bob.finish().code == 130)
    }

    @Test("a signal ends a receiver that stays")
    func signal() async throws {
        let bob = try Command(["receive", folder.path("inbox"), "-y", "-k", "-n", "bob", "--type", type])
        #expect(try await bob.says("waiting as"))
        bob.process.signal(SIGINT)
        #expect(try await bob.finish().code == 130)
    }
}

/// One piece.
private struct One: AsyncSequence, Sendable {
    let bytes: [UInt8]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: [UInt8]?
        mutating func next() async -> [UInt8]? { rest.take() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes) }
}
