import Foundation
import MultipeerCLI
import MultipeerCommandLine
import MultipeerTransport
import TestSupport
import Testing

@Suite("Command: directories that are sent and received", .computing)
struct ReceivedDirectoryTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
        for name in ["inbox", "outside"] { try make(name) }
    }

    private func make(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(name), withDestinationPath: folder.path(target))
    }

    private func inbox() throws -> OpenDirectory { try OpenDirectory(folder.path("inbox")) }

    private var outside: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path("outside")) }
    }

    @Test("directories are created as files need them, for their owner alone")
    func created() throws {
        let directory = try ReceivedDirectory("album", in: try inbox(), existing: nil)
        let parent = try directory.parent(of: try RelativePath("album/2024/may/a.jpg"))
        #expect(parent.path.hasSuffix("inbox/album/2024/may"))
        try directory.create(try RelativePath("album/empty"))
        #expect(try folder.mode("inbox/album/2024/may") == 0o700)
        #expect(folder.exists("inbox/album/empty"))
    }

    @Test("the directories that one sender has created are counted together, whatever it sends")
    func counted() throws {
        let count = ReceivedDirectory.Count(most: 3)
        let one = try ReceivedDirectory("one", in: try inbox(), existing: nil, counting: count)
        let two = try ReceivedDirectory("two", in: try inbox(), existing: nil, counting: count)
        try one.create(try RelativePath("one/a/b"))
        try two.create(try RelativePath("two/a"))
        #expect(throws: FileFault.self) { try two.create(try RelativePath("two/b")) }
        #expect(throws: FileFault.self) { try one.create(try RelativePath("one/b")) }
        try one.create(try RelativePath("one/a/b"))
        #expect(!folder.exists("inbox/two/b") && !folder.exists("inbox/one/b"))
    }

    @Test("a directory that exists gets a number, unless the user wants to fill it")
    func existing() throws {
        try make("inbox/album")
        for (existing, name) in [
            (nil, "album~1"), (.rename, "album~2"), (.skip, "album"), (.overwrite, "album"),
        ] as [(ExistingFiles?, String)] {
            let directory = try ReceivedDirectory("album", in: try inbox(), existing: existing)
            #expect(directory.name == name)
        }
    }

    @Test(
        "no link is followed, wherever it stands and whatever the user wants",
        arguments: ExistingFiles.allCases)
    func links(_ existing: ExistingFiles) throws {
        try link("inbox/album", to: "outside")
        let isRenamed = existing == .rename
        if !isRenamed {
            #expect(throws: FileFault.self) {
                try ReceivedDirectory("album", in: try inbox(), existing: existing)
            }
        }
        let directory = try ReceivedDirectory("other", in: try inbox(), existing: existing)
        try link("inbox/other/deep", to: "outside")
        #expect(throws: FileFault.self) { try directory.parent(of: try RelativePath("other/deep/x")) }
        #expect(throws: FileFault.self) { try directory.parent(of: try RelativePath("other/deep/a/x")) }
        #expect(throws: FileFault.self) { try directory.create(try RelativePath("other/deep/new")) }
        #expect(try outside.isEmpty)
    }

    @Test("a file where a directory has to be is an error")
    func obstacle() throws {
        let directory = try ReceivedDirectory("album", in: try inbox(), existing: nil)
        _ = try folder.write("x", to: "inbox/album/a")
        #expect(throws: FileFault.self) { try directory.parent(of: try RelativePath("album/a/b")) }
    }

    @Test("a directory that is moved away while it is used receives what it has begun, and nothing else does")
    func moved() throws {
        let directory = try ReceivedDirectory("album", in: try inbox(), existing: nil)
        let parent = try directory.parent(of: try RelativePath("album/d/a"))
        try FileManager.default.moveItem(atPath: folder.path("inbox/album/d"), toPath: folder.path("moved"))
        try link("inbox/album/d", to: "outside")
        var sink = try FileSink(in: parent)
        try sink.write([[1]])
        try sink.close()
        let destination = FileDestination(parent, "a", mayReplace: true)
        #expect(
            try destination.settle(FileManager.default.contentsOfDirectory(atPath: folder.path("moved"))[0])
                == "a")
        sink.keep()
        #expect(folder.exists("moved/a"))
        #expect(try outside.isEmpty)
    }

    @Test("time and the owner's right to execute are kept, and no other right")
    func attributes() throws {
        let inbox = try inbox()
        let time = FileTime(seconds: 1_000_000_007, nanoseconds: 123_000_000)
        for (kind, mode) in [(.file, 0o600), (.program, 0o700)] as [(SentFileDetails.Kind, Int)] {
            var sink = try FileSink(in: inbox)
            try sink.write([[1]])
            try sink.close()
            let details = SentFileDetails(FilePosition(1, of: 1), kind: kind, modified: time)
            let destination = FileDestination(inbox, "\(kind)", mayReplace: false, details)
            let draft = try #require(sink.path.split(separator: "/").last.map(String.init))
            _ = try destination.settle(draft)
            sink.keep()
            #expect(try folder.mode("inbox/\(kind)") == mode)
            let entry = inbox.entry("\(kind)")
            #expect(entry?.kind == .file(size: 1, modified: time, isExecutable: kind == .program))
        }
    }

    @Test("a sender lists files and empty directories, hidden ones too, and leaves out links")
    func listed() throws {
        for name in ["album/sub/.git", "album/empty"] { try make(name) }
        for name in ["album/b", "album/.hidden", "album/sub/.git/config"] {
            _ = try folder.write("12", to: name)
        }
        #expect(unsafe chmod(folder.path("album/b"), 0o4755) == 0)
        _ = try folder.write("secret", to: "outside/secret")
        try link("album/link", to: "outside/secret")
        try link("album/sub/dir", to: "outside")
        #expect(unsafe mkfifo(folder.path("album/fifo"), 0o600) == 0)
        let sent = try SentDirectory(folder.path("album") + "/")
        #expect(
            sent.entries.map(\.path.text) == [
                "album/.hidden", "album/b", "album/empty", "album/sub/.git/config",
            ])
        #expect(sent.entries.map(\.kind) == [.file, .program, .directory, .file])
        #expect(sent.size == 6)
        #expect(sent.failures.isEmpty)
        #expect(
            sent.omissions
                == "album: 2 symbolic links (album/link, album/sub/dir) and 1 socket, FIFO or device (album/fifo) left out"
        )
        #expect(try sent.open(sent.entries[3].path).read() == [49, 50])
    }

    @Test("a link that replaces a file or directory after it was listed is not followed")
    func replaced() throws {
        try make("album/sub")
        for name in ["album/sub/a", "album/b", "outside/a"] { _ = try folder.write("x", to: name) }
        let sent = try SentDirectory(folder.path("album"))
        try FileManager.default.removeItem(atPath: folder.path("album/b"))
        try link("album/b", to: "outside/a")
        try FileManager.default.removeItem(atPath: folder.path("album/sub"))
        try link("album/sub", to: "outside")
        for entry in sent.entries { #expect(throws: FileFault.self) { try sent.open(entry.path) } }
    }

    @Test(
        "names that a receiver refuses, and directories that are too deep or have too many files, are reported"
    )
    func unsent() throws {
        let deep = (0..<70).map { _ in "d" }.joined(separator: "/")
        try make("album/\(deep)")
        for name in ["album/a\nb", "album/c.", "album/good"] { _ = try folder.write("", to: name) }
        for name in ["l1", "l2", "l3", "l4"] { try link("album/\(name)", to: "good") }
        #expect(unsafe mkfifo(folder.path("album/fifo"), 0o600) == 0)
        let sent = try SentDirectory(folder.path("album"))
        let omissions = try #require(sent.omissions)
        #expect(omissions.hasPrefix("album: 4 symbolic links (album/l"))
        #expect(omissions.hasSuffix(" and 1 more) and 1 socket, FIFO or device (album/fifo) left out"))
        #expect(sent.entries.filter { $0.kind == .file }.map(\.path.text) == ["album/good"])
        #expect(sent.failures.count == 3)
        #expect(throws: CommandError.self) { try SentDirectory(folder.path("album"), most: 0) }
        #expect(throws: CommandError.self) { try SentDirectory("/") }
        #expect(throws: CommandError.self) { try SentDirectory(folder.path("nothing")) }
    }
}
