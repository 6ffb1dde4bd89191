import Foundation
import Glibc
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.4 A directory that is held open", .inTurns)
struct OpenDirectoryTests {
    private let folder = Folder()

    private func open() throws -> OpenDirectory { try OpenDirectory(folder.path) }

    @Test(
        "a name is one component, whatever is done with it",
        arguments: ["", ".", "..", "a/b", "/etc", "a\u{0}b"])
    func names(_ name: String) throws {
        let directory = try open()
        _ = try folder.make("good", [1])
        #expect(throws: FileFault.self) { try directory.directory(name) }
        #expect(throws: FileFault.self) { try directory.create(name) }
        #expect(throws: FileFault.self) { try directory.file(name) }
        #expect(throws: FileFault.self) { try directory.remove(name) }
        #expect(throws: FileFault.self) { try directory.rename("good", replacing: name) }
        #expect(throws: FileFault.self) { try directory.rename("good", toNew: name) }
        #expect(throws: FileFault.self) { try directory.set(name, modified: nil, isExecutable: true) }
        #expect(directory.entry(name) == nil)
        #expect(folder.names == ["good"])
    }

    @Test("links are neither opened nor entered nor changed [resource.private]")
    func links() throws {
        let directory = try open()
        let secret = try folder.make("secret", [1])
        unsafe symlink(secret, folder.path("link"))
        unsafe symlink("/tmp", folder.path("directory"))
        #expect(throws: FileFault.self) { try directory.file("link") }
        #expect(throws: FileFault.self) { try directory.directory("directory") }
        #expect(throws: FileFault.self) { try directory.set("link", modified: nil, isExecutable: true) }
        _ = try directory.set("link", modified: FileTime(seconds: 5), isExecutable: false)
        #expect(directory.entry("link")?.kind == .link)
        guard case .file(_, let modified, let isExecutable) = try #require(directory.entry("secret")).kind
        else {
            Issue.record("no file")
            return
        }
        #expect(modified.seconds != 5 && !isExecutable)
        #expect(try !directory.create("link") && !directory.rename("secret", toNew: "link"))
        try directory.remove("link")
        #expect(try directory.file("secret").read() == [1])
    }

    @Test("its entries are listed by their names, without those of itself and of the one above")
    func entries() throws {
        _ = try folder.make("b", [1, 2])
        _ = try folder.make(".a", [])
        let directory = try open()
        #expect(try directory.create("c"))
        #expect(unsafe mkfifo(folder.path("d"), 0o600) == 0)
        #expect(try directory.entries().map(\.name) == [".a", "b", "c", "d"])
        #expect(directory.entry("c")?.kind == .directory && directory.entry("d")?.kind == .other)
    }

    @Test(
        "names are brought to the disk, unless the file system cannot do that, or the directory may not be listed",
        arguments: [false, true])
    func synchronize(mayBeListed: Bool) throws {
        let directory = try open()
        try directory.synchronize()
        if mayBeListed {
            // EINVAL, as on some file systems.
            folder.exchangeDescriptors(for: "/dev/null", O_RDONLY)
            try directory.synchronize()
        } else {
            folder.exchangeDescriptors(for: folder.path, Folder.placeOnly)
            #expect(throws: FileFault(.permission, path: folder.path)) { try directory.synchronize() }
        }
    }

    @Test("bytes for a descriptor are all written, and it stays open")
    func descriptor() throws {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        defer { ends.forEach { _ = Glibc.close($0) } }
        #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        var sink = try FileSink(to: ends[1])
        try sink.write([[1, 2], [3]])
        try sink.close(isSynchronized: true)
        sink.keep()
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(unsafe read(ends[0], &bytes, 4) == 3 && bytes == [1, 2, 3, 0])
        #expect(unsafe write(ends[1], &bytes, 1) == 1)
    }
}
