import Glibc
import MultipeerTransport
import TestSupport
import Testing

@Suite("Private files", .inTurns)
struct PrivateFileTests {
    private let folder = Folder()

    @Test("a written file is read back, and only its owner may read it")
    func roundTrip() throws {
        let path = folder.path("identity")
        let before = umask(0)
        defer { umask(before) }
        try PrivateFile.replace(path, with: [1, 2, 3])
        #expect(try PrivateFile.read(path, limit: 3) == [1, 2, 3])
        #expect(mode(of: path) == S_IFREG | 0o600)
        unsafe chmod(path, 0o644)
        try PrivateFile.replace(path, with: [])
        #expect(try PrivateFile.read(path, limit: 0) == [])
        #expect(mode(of: path) == S_IFREG | 0o600)
        #expect(folder.names == ["identity"])
    }

    @Test("a file that is too large, missing, or not a regular file is reported with its path")
    func faults() throws {
        let path = folder.path("store")
        #expect(throws: FileFault(.notFound, path: path)) { try PrivateFile.read(path, limit: 9) }
        try PrivateFile.replace(path, with: [1, 2, 3])
        #expect(throws: FileFault(.tooLarge, path: path)) { try PrivateFile.read(path, limit: 2) }
        #expect(throws: FileFault(.isDirectory, path: folder.path)) {
            try PrivateFile.read(folder.path, limit: 9)
        }
        #expect(throws: FileFault(.isDirectory, path: folder.path)) {
            try PrivateFile.replace(folder.path, with: [])
        }
        #expect(throws: FileFault(.notRegular, path: "/dev/null")) {
            try PrivateFile.read("/dev/null", limit: 9)
        }
        let lost = folder.path("missing/file")
        #expect(throws: FileFault(.notFound, path: lost)) { try PrivateFile.replace(lost, with: []) }
        #expect("\(FileFault(.notFound, path: lost))" == "\(lost): no such file or directory")
    }

    @Test("a link is neither followed nor replaced")
    func links() throws {
        let target = folder.path("target")
        let link = folder.path("link")
        try PrivateFile.replace(target, with: [1])
        unsafe symlink(target, link)
        #expect(throws: FileFault(.notRegular, path: link)) { try PrivateFile.read(link, limit: 9) }
        #expect(throws: FileFault(.notRegular, path: link)) { try PrivateFile.replace(link, with: [2]) }
        #expect(throws: FileFault(.notRegular, path: link)) { try KeyLogFile(link) }
        #expect(try PrivateFile.read(target, limit: 9) == [1])
        #expect(folder.names == ["link", "target"])
    }

    @Test("a pipe does not block")
    func pipes() {
        let path = folder.path("pipe")
        unsafe mkfifo(path, 0o600)
        #expect(throws: FileFault(.notRegular, path: path)) { try PrivateFile.read(path, limit: 9) }
        #expect(throws: FileFault(.notRegular, path: path)) { try KeyLogFile(path) }
    }

    @Test("a path without a directory refers to the current one")
    func relative() async {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            unsafe chdir(path)
            try PrivateFile.replace("name", with: [7])
            #expect(try PrivateFile.read("name", limit: 1) == [7])
        }
        #expect(folder.names == ["name"])
    }

    @Test("a key log is appended to, and is private when it is new")
    func keyLog() throws {
        let path = folder.path("keys")
        try KeyLogFile(path).append("a 1")
        let log = try KeyLogFile(path)
        try log.append("b 2")
        try log.append("c 3")
        #expect(try PrivateFile.read(path, limit: 99) == Array("a 1\nb 2\nc 3\n".utf8))
        #expect(mode(of: path) == S_IFREG | 0o600)
    }

    @Test("a key log that was readable by all is private from then on")
    func exposedKeyLog() throws {
        let path = folder.path("keys")
        try PrivateFile.replace(path, with: Array("# mine\n".utf8))
        unsafe chmod(path, 0o644)
        try KeyLogFile(path).append("a 1")
        #expect(mode(of: path) == S_IFREG | 0o600)
        #expect(try PrivateFile.read(path, limit: 99) == Array("# mine\na 1\n".utf8))
    }

    @Test("random bytes fill their buffer")
    func randomness() {
        var random = SystemRandomness()
        #expect(random.bytes(0) == [])
        let bytes = random.bytes(10_000)
        #expect(bytes.count == 10_000)
        #expect(Set(bytes).count == 256)
        #expect(random.next() != random.next())
    }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        unsafe lstat(path, &status)
        return status.st_mode
    }
}
