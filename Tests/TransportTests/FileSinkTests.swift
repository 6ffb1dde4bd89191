import Foundation
import Glibc
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.4 The file that is received")
struct FileSinkTests {
    private let folder = Folder()

    @Test("what is kept has the bytes, and only its owner may read it [resource.private]")
    func kept() throws {
        var random = SystemRandomness()
        let before = umask(0)
        defer { umask(before) }
        var sink = try FileSink(in: folder.path, size: 5, using: &random)
        try sink.write([[1, 2], [], [3, 4, 5]])
        try sink.close()
        sink.keep()
        let path = sink.path
        #expect(try PrivateFile.read(path, limit: 9) == [1, 2, 3, 4, 5])
        var status = stat()
        unsafe lstat(path, &status)
        #expect(status.st_mode == S_IFREG | 0o600)
        #expect(folder.names.count == 1)
    }

    @Test("what is not kept is gone, written, closed or not [resource.private]", arguments: 0..<3)
    func dropped(_ steps: Int) throws {
        var random = SystemRandomness()
        do {
            var sink = try FileSink(in: folder.path, using: &random)
            #expect(folder.names.count == 1)
            if steps > 0 { try sink.write([[1, 2, 3]]) }
            if steps > 1 { try sink.close() }
        }
        #expect(folder.names == [])
    }

    @Test("a file or link that has the name is left alone, and another is taken [resource.private]")
    func taken() throws {
        // The same numbers give the same names.
        var random = Seeded(1)
        var first = try FileSink(in: folder.path, using: &random)
        try first.write([[1]])
        try first.close()
        first.keep()
        let target = folder.path("target")
        let second = try name(after: 1)
        unsafe symlink(target, folder.path(second))
        random = Seeded(1)
        var third = try FileSink(in: folder.path, using: &random)
        try third.write([[2]])
        try third.close()
        third.keep()
        #expect(third.path != first.path && third.path != folder.path(second))
        #expect(try PrivateFile.read(first.path, limit: 9) == [1])
        #expect(!folder.names.contains("target"))
        #expect(folder.names.count == 3)
        // Names that never end are an error, not a loop.
        var stuck = Stuck()
        _ = try folder.make(try nameOfStuck(), [9])
        #expect(throws: FileFault.self) { _ = try FileSink(in: folder.path, using: &stuck) }
    }

    /// The name that a sink takes as the second, with the numbers of `Seeded(1)`.
    private func name(after count: Int) throws -> String {
        var random = Seeded(1)
        for _ in 0..<(2 * count) { _ = random.next() }
        return try probe(&random)
    }

    private func nameOfStuck() throws -> String {
        var stuck = Stuck()
        return try probe(&stuck)
    }

    private func probe(_ random: inout some RandomNumberGenerator) throws -> String {
        let other = Folder()
        let sink = try FileSink(in: other.path, using: &random)
        return String(sink.path.dropFirst(other.path.count + 1))
    }

    private struct Stuck: RandomNumberGenerator {
        func next() -> UInt64 { 5 }
    }

    @Test("a directory that does not serve says so")
    func directories() throws {
        var random = SystemRandomness()
        let file = try folder.make("file", [1])
        let lost = folder.path("missing")
        for path in [file, lost, "\(folder.path)\0x"] {
            #expect(throws: FileFault(.notFound, path: path)) { _ = try FileSink(in: path, using: &random) }
        }
        #expect(folder.names == ["file"])
    }

    @Test("a directory that may not be written to says so")
    func permission() async throws {
        unsafe chmod(folder.path, 0o555)
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            if geteuid() == 0 { try #require(setuid(65_534) == 0) }
            var random = SystemRandomness()
            #expect(throws: FileFault(.permission, path: path)) { _ = try FileSink(in: path, using: &random) }
        }
        unsafe chmod(folder.path, 0o755)
    }

    @Test("a file that becomes larger than the system allows is an error, and gone")
    func limit() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var most = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
            unsafe setrlimit(__rlimit_resource_t(1), &most)
            var random = SystemRandomness()
            var sink = try FileSink(in: path, using: &random)
            try sink.write([[UInt8](repeating: 1, count: 65_536)])
            let place = sink.path
            #expect(throws: FileFault(.tooLarge, path: place)) { try sink.write([[1]]) }
        }
        #expect(folder.names == [])
    }

    @Test(
        "a full disk says so, at once where the size is known, and nothing stays [resource.space]",
        .enabled(if: geteuid() == 0, "only root can mount a small file system"))
    func fullDisk() throws {
        guard try Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.path]) else {
            print("skipped: a small file system cannot be mounted here")
            return
        }
        defer { _ = try? Self.run("/bin/umount", [folder.path]) }
        var random = SystemRandomness()
        #expect(throws: FileFault(.noSpace, path: folder.path)) {
            _ = try FileSink(in: folder.path, size: 2_097_152, using: &random)
        }
        #expect(folder.names == [])
        do {
            var sink = try FileSink(in: folder.path, using: &random)
            let piece = [UInt8](repeating: 1, count: 262_144)
            let place = sink.path
            #expect(throws: FileFault(.noSpace, path: place)) {
                for _ in 0..<5 { try sink.write([piece]) }
            }
        }
        #expect(folder.names == [])
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

@Suite("9.4 The session's own directory")
struct ResourceFolderTests {
    private let parent = Folder()

    @Test("it is made when needed, its owner's alone, and goes when it is empty [resource.private]")
    func life() throws {
        var folder: ResourceFolder? = ResourceFolder(in: parent.path)
        #expect(parent.names == [])
        let path = try #require(try folder?.path())
        #expect(try folder?.path() == path)
        var status = stat()
        unsafe lstat(path, &status)
        #expect(status.st_mode == S_IFDIR | 0o700)
        folder = nil
        #expect(parent.names == [])
    }

    @Test("one with files in it stays")
    func used() throws {
        var folder: ResourceFolder? = ResourceFolder(in: parent.path)
        let path = try #require(try folder?.path())
        try PrivateFile.replace("\(path)/file", with: [1])
        folder = nil
        #expect(parent.names.count == 1)
        unsafe unlink("\(path)/file")
    }

    @Test("one that was removed meanwhile, or replaced by a link, is made anew [resource.private]")
    func removed() throws {
        let folder = ResourceFolder(in: parent.path)
        let path = try folder.path()
        unsafe rmdir(path)
        let second = try folder.path()
        #expect(second != path)
        unsafe rmdir(second)
        unsafe symlink("/tmp", second)
        #expect(try folder.path() != second)
        unsafe unlink(second)
    }
}
