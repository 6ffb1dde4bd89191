import Glibc
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.6 What a killed process leaves", .inTurns)
struct PartialFileTests {
    private let parent = Folder()
    private static let name = "multipeer-1abcdefghijkl-2abcdefghijkl"
    private static let part = "multipeer-3abcdefghijkl-4abcdefghijkl.part"

    /// Makes a directory with an incomplete file, as a killed process leaves them.
    private func abandon(_ name: String = PartialFileTests.name) throws -> String {
        unsafe mkdir(parent.path(name), 0o700)
        return try parent.make("\(name)/\(PartialFileTests.part)", [1])
    }

    private func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    @Test("the directory and the incomplete files of a process that is gone are removed by the next one")
    func gone() throws {
        let part = try abandon()
        let path = try ResourceFolder(in: parent.path).path()
        #expect(!exists(part) && !exists(parent.path(PartialFileTests.name)))
        #expect(!exists(path))
        #expect(parent.names == [])
    }

    @Test("what has an owner stays, and so do complete files and files of other names")
    func kept() throws {
        let living = ResourceFolder(in: parent.path)
        var sink = try FileSink(in: try living.path())
        let part = try abandon()
        let complete = try parent.make("\(PartialFileTests.name)/multipeer-5abcdefghijkl-6abcdefghijkl", [2])
        let other = try parent.make("\(PartialFileTests.name)/notes.part", [3])
        defer { for path in [complete, other] { unsafe unlink(path) } }
        unsafe mkdir(parent.path("multipeer-tests-abcdef"), 0o700)
        // Another parent directory for the same place: it is swept once per process and path.
        _ = try ResourceFolder(in: parent.path + "/.").path()
        #expect(!exists(part) && exists(complete) && exists(other))
        #expect(exists(sink.path))
        #expect(parent.names.contains("multipeer-tests-abcdef"))
        try sink.write([[1]])
        try sink.close()
        PartialFile.sweep(try living.path())
        let path = try PartialFile.complete(sink.path)
        sink.keep()
        #expect(try PrivateFile.read(path, limit: 9) == [1])
        unsafe unlink(path)
    }

    @Test("a symbolic link, and what it leads to, are left alone")
    func links() throws {
        let elsewhere = Folder()
        let part = try elsewhere.make(PartialFileTests.part, [1])
        unsafe symlink(elsewhere.path, parent.path(PartialFileTests.name))
        let directory = "multipeer-7abcdefghijkl-8abcdefghijkl"
        let link = parent.path("\(directory)/multipeer-9abcdefghijkl-0abcdefghijkl.part")
        _ = try abandon(directory)
        unsafe symlink(part, link)
        defer { unsafe unlink(link) }
        _ = try ResourceFolder(in: parent.path).path()
        #expect(exists(part) && exists(link) && exists(parent.path(PartialFileTests.name)))
        #expect(!exists(parent.path("\(directory)/\(PartialFileTests.part)")))
    }

    @Test("names are read to the end of each buffer of the directory, and not beyond it")
    func manyNames() throws {
        // More than two buffers of 32 KiB.
        let others = try (0..<2_000).map { try parent.make("other-\($0)", []) }
        defer { for path in others { unsafe unlink(path) } }
        let parts = try (0..<9).map { number in
            try parent.make("multipeer-\(number)abcdefghijkl-2abcdefghijkl.part", [1])
        }
        PartialFile.sweep(parent.path)
        #expect(parts.allSatisfy { !exists($0) })
        #expect(others.allSatisfy(exists))
    }

    @Test("a directory that other users can use is not ours")
    func open() throws {
        let part = try abandon()
        unsafe chmod(parent.path(PartialFileTests.name), 0o755)
        _ = try ResourceFolder(in: parent.path).path()
        #expect(exists(part))
        unsafe unlink(part)
    }
}
