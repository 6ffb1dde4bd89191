import MultipeerPlatform

/// A first-in, first-out queue of bytes on disk: a file without a name, whose space is freed as it is read.
///
/// One thread appends and one reads. Both block.
package final class Spool: Sendable {
    private let file: Descriptor
    private let path: String
    private let span = Locked<(start: Int, end: Int)>((0, 0))
    /// The free bytes of the file system that are left to others; nil for a sixteenth of it, at most a gibibyte.
    private let reserve: UInt64?
    /// What is appended from one look at the free space to the next.
    private static let step = 16_777_216

    /// Creates a spool in the system's temporary directory.
    package init(leaving reserve: UInt64? = nil) throws(FileFault) {
        self.reserve = reserve
        path = "\(ResourceFolder.temporary())/\(RandomName.make())"
        file = Descriptor(Descriptors.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
        guard file.number >= 0 else { throw FileFault(lastAt: path) }
        unsafe unlink(path)
    }

    package var isEmpty: Bool { span.withLock { $0.start == $0.end } }

    /// Throws `noSpace` when less than the reserve would be free: how much there is to append is up to a server.
    package func append(_ bytes: [UInt8]) throws(FileFault) {
        let end = span.withLock { $0.end }
        if end / Spool.step != (end + bytes.count) / Spool.step, !hasRoom {
            throw FileFault(.noSpace, path: path)
        }
        var count = 0
        while count < bytes.count {
            let put = unsafe bytes.withUnsafeBytes { bytes in
                unsafe pwrite(
                    file.number, bytes.baseAddress?.advanced(by: count), bytes.count - count,
                    end + count)
            }
            if put > 0 { count += put } else if put == 0 || errno != EINTR { throw FileFault(lastAt: path) }
        }
        span.withLock { $0.end += count }
    }

    private var hasRoom: Bool {
        var status = statvfs()
        guard unsafe fstatvfs(file.number, &status) == 0, status.f_blocks > 0 else { return true }
        let (free, all) = (UInt64(status.f_bavail), UInt64(status.f_blocks))
        let unit = max(UInt64(status.f_frsize), 1)
        return free >= (reserve.map { $0 / unit } ?? min(all / 16, (1 << 30) / unit))
    }

    /// Reads at most `limit` bytes; none when it is empty.
    package func read(_ limit: Int) throws(FileFault) -> [UInt8] {
        let (start, end) = span.withLock { $0 }
        let wanted = min(limit, end - start)
        // Without capacity, the standard library writes the count into the empty array that all threads share.
        if wanted == 0 { return [] }
        var failure: FileFault?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { room, count in
            while count < wanted {
                let got = unsafe pread(
                    file.number, room.baseAddress?.advanced(by: count), wanted - count, start + count)
                if got > 0 {
                    count += got
                } else if got == 0 || errno != EINTR {
                    failure = FileFault(lastAt: path)
                    return
                }
            }
        }
        if let failure { throw failure }
        SystemCalls.punchHole(file.number, start, wanted)
        span.withLock { $0.start += wanted }
        return bytes
    }
}
