import Glibc
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.4 A whole file that gets its name in one step", .inTurns)
struct NewFileTests {
    private let folder = Folder()
    private let bytes: [UInt8] = [9, 1, 2, 3, 9]
    private static let time = FileTime(seconds: 1_000_000_007, nanoseconds: 123_000_000)

    private var contents: ArraySlice<UInt8> { bytes[1..<4] }

    private func open() throws -> OpenDirectory { try OpenDirectory(folder.path) }

    private func read(_ name: String) throws -> [UInt8]? { try FileSource(folder.path(name)).read() }

    @Test(
        "a file has its bytes, its time and its owner's rights, and nothing else is left [resource.private]")
    func created() throws {
        let directory = try open()
        for isExecutable in [false, true] {
            var new = NewFile()
            new.modified = NewFileTests.time
            new.isExecutable = isExecutable
            new.isSynchronized = true
            #expect(try directory.create("\(isExecutable)", contents, as: new))
            #expect(
                directory.entry("\(isExecutable)")?.kind
                    == .file(size: 3, modified: NewFileTests.time, isExecutable: isExecutable))
            #expect(try read("\(isExecutable)") == [1, 2, 3])
            var status = stat()
            #expect(unsafe stat(folder.path("\(isExecutable)"), &status) == 0)
            #expect(status.st_mode & 0o777 == (isExecutable ? 0o700 : 0o600) && status.st_nlink == 1)
        }
        #expect(try directory.create("empty", [], as: NewFile()) && read("empty") == nil)
        #expect(folder.names.sorted() == ["empty", "false", "true"])
        try directory.synchronize()
    }

    @Test("what has the name stays, unless it may be replaced, and a directory always stays")
    func taken() throws {
        let directory = try open()
        let secret = try folder.make("secret", [7])
        unsafe symlink(secret, folder.path("link"))
        unsafe symlink(folder.path("nowhere"), folder.path("dangling"))
        unsafe mkdir(folder.path("directory"), 0o700)
        _ = try folder.make("file", [8])
        for name in ["file", "link", "dangling", "directory"] {
            #expect(try !directory.create(name, contents, as: NewFile()), "\(name)")
        }
        #expect(try read("file") == [8] && read("secret") == [7])
        var new = NewFile()
        new.isReplacing = true
        #expect(throws: FileFault.self) { try directory.create("directory", contents, as: new) }
        for name in ["file", "link", "dangling"] {
            #expect(try directory.create(name, contents, as: new))
            #expect(try read(name) == [1, 2, 3])
        }
        #expect(try read("secret") == [7])
        #expect(folder.names.sorted() == ["dangling", "directory", "file", "link", "secret"])
    }

    @Test(
        "a name is one component, for a new file and for one that is read",
        arguments: ["", ".", "..", "a/b", "a\u{0}b"])
    func names(_ name: String) throws {
        let directory = try open()
        #expect(throws: FileFault.self) { try directory.create(name, contents, as: NewFile()) }
        var all: [UInt8] = [5]
        #expect(throws: FileFault.self) { try directory.append(name, to: &all, upTo: 9) { _, _ in } }
        #expect(all == [5] && folder.names.isEmpty)
    }

    @Test("a file is appended after its head, and nothing of one that is a link, too large, or no file")
    func append() throws {
        let directory = try open()
        _ = try folder.make("file", [1, 2, 3])
        unsafe symlink(folder.path("file"), folder.path("link"))
        unsafe mkfifo(folder.path("fifo"), 0o600)
        unsafe mkdir(folder.path("directory"), 0o700)
        var all: [UInt8] = [5]
        try directory.append("file", to: &all, upTo: 3) { found, bytes in bytes.append(UInt8(found.size)) }
        #expect(all == [5, 3, 1, 2, 3])
        for name in ["link", "fifo", "directory", "nothing"] {
            #expect(throws: FileFault.self) { try directory.append(name, to: &all, upTo: 9) { $1.append(6) } }
        }
        #expect(throws: FileFault(.tooLarge, path: "\(folder.path)/file")) {
            try directory.append("file", to: &all, upTo: 2) { $1.append(6) }
        }
        #expect(all == [5, 3, 1, 2, 3])
    }
}
