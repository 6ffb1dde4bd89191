import Foundation
import Glibc
import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.4 The received file", .inTurns)
struct FileSinkTests {
    private let folder = Folder()

    @Test("a kept file has the bytes, and only its owner may read it [resource.private]")
    func kept() throws {
        let before = umask(0)
        defer { umask(before) }
        var sink = try FileSink(in: folder.path, size: 5)
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

    @Test("a file that is not kept is removed, written, closed or not [resource.private]", arguments: 0..<3)
    func dropped(_ steps: Int) throws {
        do {
            var sink = try FileSink(in: folder.path)
            #expect(folder.names.count == 1)
            if steps > 0 { try sink.write([[1, 2, 3]]) }
            if steps > 1 { try sink.close() }
        }
        #expect(folder.names == [])
    }

    @Test("a file or link with the same name is left alone, and another name is used [resource.private]")
    func taken() throws {
        _ = try folder.make("mine", [1])
        unsafe symlink(folder.path("target"), folder.path("link"))
        var names = ["new", "link", "mine"]
        var sink = try FileSink(in: folder.path, named: { names.removeLast() })
        try sink.write([[2]])
        try sink.close()
        sink.keep()
        #expect(sink.path == folder.path("new"))
        #expect(try PrivateFile.read(folder.path("mine"), limit: 9) == [1])
        #expect(folder.names == ["link", "mine", "new"])
        // Names that never end are an error, not a loop.
        #expect(throws: FileFault(.other(EEXIST), path: folder.path)) {
            _ = try FileSink(in: folder.path, named: { "mine" })
        }
    }

    @Test("an unusable directory is reported")
    func directories() throws {
        let file = try folder.make("file", [1])
        let lost = folder.path("missing")
        for path in [file, lost, "\(folder.path)\0x"] {
            #expect(throws: FileFault(.notFound, path: path)) { _ = try FileSink(in: path) }
        }
        #expect(folder.names == ["file"])
    }

    @Test("a directory without write permission is reported")
    func permission() async throws {
        unsafe chmod(folder.path, 0o555)
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            if geteuid() == 0 { try #require(setuid(65_534) == 0) }
            #expect(throws: FileFault(.permission, path: path)) { _ = try FileSink(in: path) }
        }
        unsafe chmod(folder.path, 0o755)
    }

    @Test("after a write of a part, or none because of a signal, the rest is written", arguments: 1...9)
    func partial(_ most: Int) throws {
        var written: [UInt8] = []
        var calls = 0
        try unsafe FileSink.write([[1, 2, 3], [], [4], [5, 6, 7, 8]], "x") { vectors in
            calls += 1
            if calls == 2 {
                errno = EINTR
                return -1
            }
            let rest = unsafe vectors.flatMap { vector in
                unsafe Array(UnsafeRawBufferPointer(start: vector.iov_base, count: vector.iov_len))
            }
            written += rest.prefix(most)
            return min(most, rest.count)
        }
        #expect(written == Array(1...8))
    }

    @Test("a file that exceeds the system's limit fails for that reason, and is removed [resource.space]")
    func limit() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var most = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
            unsafe setrlimit(__rlimit_resource_t(1), &most)
            var sink = try FileSink(in: path)
            try sink.write([[UInt8](repeating: 1, count: 65_536)])
            let place = sink.path
            #expect(throws: FileFault(.sizeLimit, path: place)) { try sink.write([[1]]) }
            // Zeros take no room, but the file would be too long.
            var hole = try FileSink(in: path)
            let end = hole.path
            #expect(throws: FileFault(.sizeLimit, path: end)) {
                try hole.write([[UInt8](repeating: 0, count: 65_537)])
            }
        }
        #expect(folder.names == [])
    }

    /// Pieces as a channel brings them: the blocks of a file system begin elsewhere.
    private static let zeros = [UInt8](repeating: 0, count: 65_528)

    @Test("zeros take no room on the disk, and are read as such", arguments: [true, false])
    func sparse(_ endsInZeros: Bool) throws {
        var sink = try FileSink(in: folder.path)
        var almost = FileSinkTests.zeros
        almost[40_000] = 1
        let short = [UInt8](repeating: 0, count: 4_095)
        let zeros = [[UInt8]](repeating: FileSinkTests.zeros, count: 160)
        var pieces = [[1, 2], short] + zeros + [almost, [3]] + zeros
        if !endsInZeros { pieces += [[4]] }
        // Also a piece at a time.
        try sink.write(Array(pieces.prefix(80)))
        for piece in pieces.dropFirst(80) { try sink.write([piece]) }
        try sink.close()
        sink.keep()
        let total = pieces.reduce(0) { $0 + $1.count }
        var status = stat()
        #expect(unsafe lstat(sink.path, &status) == 0)
        #expect(status.st_size == total)
        #expect(status.st_blocks * 512 < total / 10)
        #expect(try PrivateFile.read(sink.path, limit: total + 1) == pieces.flatMap(\.self))
    }

    @Test("a file of zeros alone has its length")
    func onlyZeros() throws {
        var sink = try FileSink(in: folder.path)
        try sink.write([FileSinkTests.zeros])
        try sink.close(isSynchronized: true)
        sink.keep()
        #expect(try PrivateFile.read(sink.path, limit: 100_000) == FileSinkTests.zeros)
    }

    @Test("zeros are written to a descriptor, which may be a pipe")
    func zerosToPipe() throws {
        let path = try folder.make("out", [])
        let file = unsafe open(path, O_WRONLY | O_APPEND)
        defer { close(file) }
        var sink = try FileSink(to: file)
        try sink.write([[1], [UInt8](repeating: 0, count: 8_192), [2]])
        try sink.close()
        #expect(
            try PrivateFile.read(path, limit: 10_000) == [1] + [UInt8](repeating: 0, count: 8_192) + [2])
    }

    @Test(
        "a full disk is reported, at once where the size is known, and no file stays [resource.space]",
        .enabled(if: geteuid() == 0, "only root can mount a small file system"))
    func fullDisk() throws {
        guard ToolProcess.succeeds("/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.path])
        else {
            print("skipped: a small file system cannot be mounted here")
            return
        }
        defer { _ = ToolProcess.succeeds("/bin/umount", [folder.path]) }
        #expect(throws: FileFault(.noSpace, path: folder.path)) {
            _ = try FileSink(in: folder.path, size: 2_097_152)
        }
        #expect(folder.names == [])
        do {
            var sink = try FileSink(in: folder.path)
            let piece = [UInt8](repeating: 1, count: 262_144)
            let place = sink.path
            #expect(throws: FileFault(.noSpace, path: place)) {
                for _ in 0..<5 { try sink.write([piece]) }
            }
        }
        #expect(folder.names == [])
    }
}

@Suite("9.4 The session's own directory", .inTurns)
struct ResourceFolderTests {
    private let parent = Folder()

    @Test(
        "it is made when needed, accessible to its owner only, and removed when it is empty [resource.private]"
    )
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

    @Test("a directory with files in it stays")
    func used() throws {
        var folder: ResourceFolder? = ResourceFolder(in: parent.path)
        let path = try #require(try folder?.path())
        try PrivateFile.replace("\(path)/file", with: [1])
        folder = nil
        #expect(parent.names.count == 1)
        unsafe unlink("\(path)/file")
    }

    @Test("a directory that was removed meanwhile, or replaced by a link, is made again [resource.private]")
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

@Suite("9.6 The received file until its sender is notified", .inTurns)
struct ReceivedFileTests {
    private let folder = Folder()
    private let worker: EventLoop

    init() throws { worker = try EventLoop() }

    /// A file that a peer offers, and what stands for the link.
    private func offered() throws -> (IncomingResource, ChannelReceiveQueue) {
        let queue = ChannelReceiveQueue(ChannelOpening(kind: .resource, name: "file")) {}
        let peer = try PeerID(validating: UID(high: 1, low: 2), displayName: "ann")
        return (IncomingResource(ChannelReceiver(from: peer, queue), folder: ResourceFolder()), queue)
    }

    /// What is written to a descriptor gets no name.
    private static let unnamed = IncomingResource.Completion { path throws(FileFault) in path }

    /// Receives it; the outcome is there when it is over.
    private func receive(
        _ resource: IncomingResource, into place: IncomingResource.Place,
        _ completion: IncomingResource.Completion = IncomingResource.Completion()
    ) -> Notes<ResourceFault?> {
        let outcome = Notes<ResourceFault?>()
        Task { [worker] in
            do throws(ResourceFault) {
                _ = try await resource.receive(into: place, completing: completion, on: worker)
                outcome.append(nil)
            } catch {
                outcome.append(error)
            }
        }
        return outcome
    }

    @Test("a file whose name cannot be brought to the disk is there for neither side [resource.done]")
    func nameNotOnDisk() async throws {
        let (resource, queue) = try offered()
        let completion = IncomingResource.Completion(isSynchronized: true) {
            [folder] draft throws(FileFault) in
            let name = try PartialFile.complete(draft)
            // From here on, fsync of the directory fails with EBADF.
            folder.exchangeDescriptors(for: folder.path, Folder.placeOnly)
            return name
        }
        let outcome = receive(resource, into: .directory(folder.path), completion)
        queue.deliver([1, 2, 3])
        queue.end(.finished(digest: nil))
        queue.tell()
        try await until { !outcome.all.isEmpty }
        guard case .file = outcome.all[0] else { return #expect(outcome.all == []) }
        #expect(folder.names == [])
        #expect(queue.take().done != .ok)
    }

    @Test("a reader that has stopped does not keep a thread from other files, and the file can be cancelled")
    func pausedReader() async throws {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        defer { ends.forEach { _ = Glibc.close($0) } }
        let (paused, pausedQueue) = try offered()
        let first = receive(paused, into: .descriptor(ends[1]), Self.unnamed)
        pausedQueue.deliver([UInt8](repeating: 7, count: 1 << 20))
        pausedQueue.tell()
        try await until {
            var one = pollfd(fd: ends[1], events: Int16(POLLOUT), revents: 0)
            return unsafe poll(&one, 1, 0) == 0
        }
        let (other, otherQueue) = try offered()
        let second = receive(other, into: .directory(folder.path))
        otherQueue.deliver([1, 2, 3])
        otherQueue.end(.finished(digest: nil))
        otherQueue.tell()
        try await until { !second.all.isEmpty }
        #expect(second.all == [nil] && folder.names.count == 1)
        paused.cancel()
        try await until { !first.all.isEmpty }
        #expect(first.all == [.cancelled])
    }

    @Test("a reader that goes on gets every byte, in order")
    func slowReader() async throws {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        let output = ends[1]
        defer { ends.forEach { _ = Glibc.close($0) } }
        let (resource, queue) = try offered()
        let outcome = receive(resource, into: .descriptor(output), Self.unnamed)
        let sent = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        queue.deliver(sent)
        queue.end(.finished(digest: nil))
        queue.tell()
        #expect(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        var received: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 10_000)
        try await until {
            let count = unsafe read(ends[0], &piece, piece.count)
            if count > 0 { received += piece.prefix(count) }
            return received.count >= sent.count
        }
        try await until { !outcome.all.isEmpty }
        #expect(outcome.all == [nil] && received == sent)
    }
}
