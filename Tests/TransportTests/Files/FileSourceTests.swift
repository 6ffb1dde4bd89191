import Foundation
import Glibc
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.4 The sent file", .inTurns)
struct FileSourceTests {
    private let folder = Folder()

    @Test("what a server sends faster than a peer takes it leaves room on the disk to others")
    func spool() throws {
        let few = [UInt8](repeating: 1, count: 1_000_000)
        let many = [UInt8](repeating: 2, count: 16_777_216)
        let small = try Spool(leaving: .max)
        try small.append(few)
        #expect { try small.append(many) } throws: { ($0 as? FileFault)?.reason == .noSpace }
        // What was there before is still read.
        #expect(try small.read(2_000_000) == few)
        let large = try Spool(leaving: 0)
        try large.append(many)
        #expect(try large.read(3) == [2, 2, 2])
    }

    @Test(
        "a file that is made when it is read is read to its end, whatever stat says of its size",
        arguments: ["/proc/version", "/proc/kallsyms", "/sys/devices/system/cpu/online"])
    func madeWhenRead(_ path: String) throws {
        guard let expected = try FileHandle(forReadingAtPath: path)?.readToEnd() else { return }
        let source = try FileSource(path)
        var bytes: [UInt8] = []
        while let piece = try source.read() { bytes += piece }
        #expect(!bytes.isEmpty && bytes == Array(expected))
        // One that is long has no known size.
        #expect(source.size == (bytes.count < FileSource.piece ? UInt64(bytes.count) : nil))
        // In a bundle, too, with the size that was read.
        let directory = try OpenDirectory(String(FilePath(path).directory))
        var (bundle, size) = ([7] as [UInt8], 0)
        func append(_ limit: Int) throws(FileFault) {
            try directory.append(FilePath(path).name, to: &bundle, upTo: limit) { found, _ in
                size = found.size
            }
        }
        if bytes.count < 10_000 {
            try append(10_000)
            #expect(bundle == [7] + bytes && size == bytes.count)
        }
        #expect(throws: FileFault.self) { try append(bytes.count - 1) }
    }

    @Test(
        "a file is read whole, in pieces of sixteen DATA frames",
        arguments: [0, 1, FileSource.piece - 1, FileSource.piece, FileSource.piece + 1, 3 * FileSource.piece])
    func whole(_ count: Int) throws {
        var seed = Seeded(UInt64(count))
        let bytes = seed.bytes(count)
        let source = try FileSource(folder.make("file", bytes))
        #expect(source.size == UInt64(count))
        var pieces: [[UInt8]] = []
        while let piece = try source.read() { pieces.append(piece) }
        #expect(pieces.flatMap(\.self) == bytes)
        #expect(pieces.dropLast().allSatisfy { $0.count == FileSource.piece })
        #expect(pieces.allSatisfy { !$0.isEmpty })
        #expect(try source.read() == nil)
    }

    @Test("a link is followed, because its owner chose it")
    func link() throws {
        let target = try folder.make("target", [1, 2, 3])
        unsafe symlink(target, folder.path("link"))
        #expect(try FileSource(folder.path("link")).read() == [1, 2, 3])
    }

    @Test("anything but a regular file is refused before anything is sent, without blocking")
    func kinds() throws {
        let pipe = folder.path("pipe")
        unsafe mkfifo(pipe, 0o600)
        #expect(throws: FileFault(.notRegular, path: pipe)) { try FileSource(pipe) }
        #expect(throws: FileFault(.notRegular, path: "/dev/zero")) { try FileSource("/dev/zero") }
        #expect(throws: FileFault(.isDirectory, path: folder.path)) { try FileSource(folder.path) }
        let lost = folder.path("missing")
        #expect(throws: FileFault(.notFound, path: lost)) { try FileSource(lost) }
        #expect(throws: FileFault(.notFound, path: lost + "/file")) { try FileSource(lost + "/file") }
        let loop = folder.path("loop")
        unsafe symlink(loop, loop)
        #expect(throws: FileFault(.notRegular, path: loop)) { try FileSource(loop) }
    }

    @Test("a path with a NUL is refused, instead of being cut there")
    func nul() throws {
        let path = try folder.make("file", [1])
        #expect(throws: FileFault(.notFound, path: path + "\0.txt")) { try FileSource(path + "\0.txt") }
    }

    @Test("a file without read permission is reported")
    func permission() async throws {
        let path = try folder.make("secret", [1])
        unsafe chmod(path, 0)
        unsafe chmod(folder.path, 0o755)
        // In a process of its own, which can stop being root.
        await #expect(processExitsWith: .success) { [path = path as String] in
            if geteuid() == 0 { try #require(setuid(65_534) == 0) }
            #expect(throws: FileFault(.permission, path: path)) { try FileSource(path) }
        }
    }

    @Test("a file that shrinks while it is read is an error, not a shorter file")
    func shrinking() throws {
        let path = try folder.make("file", [UInt8](repeating: 7, count: 2 * FileSource.piece))
        let source = try FileSource(path)
        #expect(try source.read()?.count == FileSource.piece)
        unsafe truncate(path, FileSource.piece + 5)
        #expect(throws: FileFault(.shrank, path: path)) { try source.read() }
    }

    @Test("a file that grows is read with its initial length")
    func growing() throws {
        let path = try folder.make("file", [1, 2, 3])
        let source = try FileSource(path)
        folder.append([4, 5], to: "file")
        #expect(source.size == 3)
        #expect(try source.read() == [1, 2, 3])
        #expect(try source.read() == nil)
    }

    @Test("a file that is replaced meanwhile is read as it was")
    func replaced() throws {
        let path = try folder.make("file", [1, 2, 3])
        let source = try FileSource(path)
        _ = try folder.make("file", [4])
        #expect(try source.read() == [1, 2, 3])
    }
}
