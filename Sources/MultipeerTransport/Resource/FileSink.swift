import MultipeerCore
package import MultipeerPlatform

/// A file that is being received: new, under a random name, readable by its owner only, and removed again unless it is kept.
/// [resource.private]
///
/// Everything here blocks: it is for a thread of the file pool.
package struct FileSink: ~Copyable {
    /// Nil for a descriptor that was open before.
    private let folder: OpenDirectory?
    private let name: String
    private var file: Descriptor?
    /// Keeps the file locked from its end until it has its name: no sweep removes it meanwhile.
    private var lock: Descriptor?
    /// What lets the next transfer have a descriptor when this one is over.
    private var turn: FileTurn?
    private var isKept = false
    /// Whether a later transfer finds it by its name.
    private let isResumable: Bool
    /// Whether writing may wait for a reader: of a pipe, a terminal or a socket. Then `writeSome` is for it.
    package let waitsForReader: Bool
    /// The number of bytes that an earlier transfer has left.
    package private(set) var count: UInt64 = 0
    package let path: String

    /// Creates a new file in a directory, which may be reached over links; the file itself never is one. `name` is called again
    /// when a file of that name already exists.
    ///
    /// Goes on with `unfinished` instead, or creates it, if that can be used.
    ///
    /// Throws `noSpace` at once when the file system has fewer bytes free than are missing of `size`.
    package init(
        in directory: String, size: UInt64? = nil, unfinished: UnfinishedFile? = nil,
        named choose: () -> String = PartialFile.makeName
    ) throws(FileFault) {
        try self.init(in: OpenDirectory(directory), size: size, unfinished: unfinished, named: choose)
    }

    /// The same in a directory that is open.
    package init(
        in directory: OpenDirectory, size: UInt64? = nil, unfinished: UnfinishedFile? = nil,
        named choose: () -> String = PartialFile.makeName
    ) throws(FileFault) {
        var name = ""
        var isResumable = false
        var count: UInt64 = 0
        var opened: Descriptor?
        if let unfinished, let size { opened = try unfinished.open(in: directory.number, upTo: size) }
        switch opened {
        case .some(let opened):
            count = UInt64(clamping: lseek(opened.number, 0, SEEK_CUR))
            (name, isResumable) = (unfinished?.name ?? "", true)
        case .none: break
        }
        if let size, size - min(count, size) > FileSink.free(directory.number) {
            if isResumable, count == 0 { unsafe unlinkat(directory.number, name, 0) }
            throw FileFault(.noSpace, path: directory.path)
        }
        if !isResumable { opened = try FileSink.create(&name, in: directory.number, directory.path, choose) }
        file = opened.take()
        self.isResumable = isResumable
        waitsForReader = false
        self.count = count
        folder = directory
        self.name = name
        path = FilePath(directory.path).appending(name)
    }

    /// Writes to a copy of a descriptor, such as that of standard output.
    package init(to descriptor: Int32) throws(FileFault) {
        path = descriptor == STDOUT_FILENO ? "standard output" : "descriptor \(descriptor)"
        let copy = Descriptors.duplicate(descriptor)
        guard copy >= 0 else { throw FileFault(lastAt: path) }
        var status = stat()
        waitsForReader = unsafe fstat(copy, &status) != 0 || status.st_mode & S_IFMT != S_IFREG
        file = Descriptor(copy)
        folder = nil
        name = ""
        isResumable = false
        count = 0
    }

    /// Holds the turn in which it was opened.
    mutating func hold(_ turn: FileTurn) { self.turn = turn }

    deinit {
        guard !isKept, let folder else { return }
        unsafe unlinkat(folder.number, name, 0)
    }

    /// Leaves any existing entry with the name alone, including a link, and tries another name.
    private static func create(
        _ name: inout String, in folder: Int32, _ directory: String,
        _ choose: () -> String
    ) throws(FileFault) -> Descriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC  // [resource.private]
        for _ in 0..<16 {
            name = choose()  // [resource.label]
            let file = Descriptor(Descriptors.open(name, in: folder, flags, 0o600))
            if file.number >= 0 {
                if PartialFile.lock(file, at: name, in: folder) { return file }
                continue
            }
            if errno != EEXIST { throw FileFault(lastAt: directory) }
        }
        throw FileFault(.other(EEXIST), path: directory)
    }

    /// Returns the space that is free for the owner of the file; if unknown, no limit.
    private static func free(_ folder: Int32) -> UInt64 {
        var status = statvfs()
        guard unsafe fstatvfs(folder, &status) == 0, status.f_blocks > 0 else { return .max }
        let (bytes, overflows) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return overflows ? .max : bytes
    }

    /// Appends all of the pieces. One that is all zeros takes no room on the disk, so that a sparse file stays sparse.
    package mutating func write(_ pieces: [[UInt8]]) throws(FileFault) {
        switch file {
        case .some(let file):
            var start = pieces.startIndex
            for place in pieces.indices where folder != nil && FileSink.isHole(pieces[place]) {
                try FileSink.append(pieces[start..<place], to: file.number, path)
                start = place + 1
                // It fails only beyond the longest file.
                guard lseek(file.number, off_t(pieces[place].count), SEEK_CUR) >= 0 else {
                    throw FileFault(.sizeLimit, path: path)
                }
            }
            if start < pieces.endIndex {
                try FileSink.append(pieces[start...], to: file.number, path)
            } else if start > pieces.startIndex {
                // Its length shows what is there, also after a crash.
                let end = lseek(file.number, 0, SEEK_CUR)
                guard end >= 0, ftruncate(file.number, end) == 0 else {
                    throw FileFault(lastWriting: path)
                }
            }
        case .none:
            throw FileFault(.other(EBADF), path: path)
        }
    }

    /// Returns whether all bytes are zeros, and enough to spare a block of a file system.
    private static func isHole(_ piece: [UInt8]) -> Bool {
        guard piece.count >= 4_096, piece[0] == 0, piece[piece.count - 1] == 0 else { return false }
        // Each byte is equal to the one before it.
        return unsafe piece.withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress else { return false }
            return unsafe memcmp(first, first.advanced(by: 1), bytes.count - 1) == 0
        }
    }

    private static func append(
        _ pieces: ArraySlice<[UInt8]>, to file: Int32, _ path: String
    ) throws(FileFault) {
        var rest = pieces
        while !rest.isEmpty {
            try unsafe write(rest.prefix(together), path) { vectors in
                unsafe writev(file, vectors, Int32(clamping: unsafe vectors.count))
            }
            rest = rest.dropFirst(together)
        }
    }

    /// Writes the first of these bytes, as many as there is room for; returns how many. Waits for room for at most this time, since
    /// other files need the thread: a reader may have stopped reading forever.
    package func writeSome(_ bytes: ArraySlice<UInt8>, waiting milliseconds: Int32) throws(FileFault) -> Int {
        switch file {
        case .some(let file):
            var one = pollfd(fd: file.number, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&one, 1, milliseconds) > 0 else { return 0 }
            // A pipe in which there is room takes that much at once, also one that would block.
            let part = bytes.prefix(FileSink.pipeRoom)
            let count = unsafe part.withUnsafeBytes { bytes in
                unsafe MultipeerPlatform.write(file.number, bytes.baseAddress, bytes.count)
            }
            if count >= 0 { return count }
            if [EAGAIN, EINTR].contains(errno) { return 0 }
            throw FileFault(lastAt: path)
        case .none:
            throw FileFault(.other(EBADF), path: path)
        }
    }

    /// `PIPE_BUF` of Linux; smaller on other systems, where more may wait.
    private static let pipeRoom = 4_096

    /// The number of pieces in one system call.
    private static let together = 32

    /// Calls `put`, which is `writev`, until it has written all of the pieces: it may write a part.
    package static func write(
        _ pieces: ArraySlice<[UInt8]>, _ path: String, with put: ([iovec]) -> Int
    ) throws(FileFault) {
        let total = pieces.reduce(0) { $0 + $1.count }
        var count = 0
        while count < total {
            var vectors: [iovec] = unsafe []
            unsafe vectors.reserveCapacity(pieces.count)
            let written = unsafe write(pieces, skipping: count, &vectors, with: put)
            if written > 0 {
                count += written
            } else if written == 0 {
                throw FileFault(.noSpace, path: path)
            } else if errno != EINTR {
                throw FileFault(lastWriting: path)
            }
        }
    }

    /// Writes what follows the first `skipped` bytes. Each call of itself lends one piece more, so that all pointers in
    /// `vectors` are valid in the innermost, which calls `put`.
    private static func write(
        _ pieces: ArraySlice<[UInt8]>, skipping skipped: Int, _ vectors: inout [iovec],
        with put: ([iovec]) -> Int
    ) -> Int {
        guard let piece = pieces.first else { return unsafe put(vectors) }
        if skipped >= piece.count {
            return unsafe write(
                pieces.dropFirst(), skipping: skipped - piece.count, &vectors, with: put)
        }
        return unsafe piece.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress?.advanced(by: skipped))
            unsafe vectors.append(iovec(iov_base: rest, iov_len: bytes.count - skipped))
            return unsafe write(pieces.dropFirst(), skipping: 0, &vectors, with: put)
        }
    }

    /// Returns bytes that an earlier transfer has left.
    package func read(at position: UInt64, _ wanted: Int) throws(FileFault) -> [UInt8] {
        switch file {
        case .some(let file): return try FileRead.bytes(of: path, wanted, at: position, of: file.number)
        case .none: throw FileFault(.other(EBADF), path: path)
        }
    }

    /// Drops everything that an earlier transfer has left.
    package mutating func clear() throws(FileFault) {
        count = 0
        switch file {
        case .some(let file):
            guard ftruncate(file.number, 0) == 0, lseek(file.number, 0, SEEK_SET) == 0 else {
                throw FileFault(lastAt: path)
            }
        case .none: break
        }
    }

    /// Keeps what is there for a later transfer, if it can be found again.
    package mutating func keepUnfinished(for lifetime: Duration) {
        var status = stat()
        switch file {
        case .some(let file):
            guard isResumable, unsafe fstat(file.number, &status) == 0, status.st_size > 0 else { return }
        case .none: return
        }
        isKept = true
        file = nil
        if let folder { UnfinishedFile.sweep(folder.number, keeping: lifetime) }
    }

    /// Returns whether the file, if it has a name, still has it: any process of this user could have replaced it.
    private func hasItsName(_ file: borrowing Descriptor) -> Bool {
        folder.map { PartialFile.isNamed(file, name, in: $0.number) } ?? true
    }

    /// Closes the file: only then is it known that everything was written. Waits until it is on disk if `isSynchronized`.
    package mutating func close(isSynchronized: Bool = false) throws(FileFault) {
        if isSynchronized, folder != nil {
            switch file {
            case .some(let file):
                guard fsync(file.number) == 0 else { throw FileFault(lastAt: path) }
            case .none: break
            }
        }
        guard try holdLock() else { return }
        let code = file.take()?.close() ?? 0
        if code != 0 { throw FileFault(FileFault.Reason(errno: code), path: path) }
    }

    /// A second descriptor has the same lock. Returns false where there is none to be had: then the first one keeps the lock, and all
    /// is on disk, as only that shows without closing it that everything was written.
    private mutating func holdLock() throws(FileFault) -> Bool {
        if folder == nil { return true }
        switch file {
        case .some(let file):
            guard hasItsName(file) else { throw FileFault(.notFound, path: path) }
            let copy = Descriptors.duplicate(file.number)
            if copy >= 0 {
                lock = Descriptor(copy)
                return true
            }
            guard fsync(file.number) == 0 else { throw FileFault(lastAt: path) }
            return false
        case .none: return true
        }
    }

    /// Keeps the file when its sink goes.
    package mutating func keep() { isKept = true }

    /// Removes the file from its directory again, under the name that it has got there.
    package func remove(named name: String) {
        guard let folder, isNow(name, in: folder) else { return }
        unsafe unlinkat(folder.number, name, 0)
    }

    private func isNow(_ name: String, in folder: OpenDirectory) -> Bool {
        switch lock {
        case .some(let lock): return PartialFile.isNamed(lock, name, in: folder.number)
        case .none: break
        }
        switch file {
        case .some(let file): return PartialFile.isNamed(file, name, in: folder.number)
        case .none: return false
        }
    }

    /// Waits until a new name of the file in its directory is on disk.
    package func synchronizeDirectory() throws(FileFault) {
        guard let folder else { return }
        do throws(FileFault) { try folder.synchronize() } catch {
            throw FileFault(error.reason, path: path)
        }
    }
}
