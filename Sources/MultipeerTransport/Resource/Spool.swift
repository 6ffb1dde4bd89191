import MultipeerPlatform

/// A first-in, first-out queue of bytes on disk: a file without a name, whose space is freed as it is read.
///
/// One thread appends and one reads. Both block.
package final class Spool: Sendable {
    private let file: Descriptor
    private let path: String
    private let span = Locked<(start: Int, end: Int)>((0, 0))

    /// Creates a spool in the system's temporary directory.
    package init() throws(FileFault) {
        path = "\(ResourceFolder.temporary())/\(RandomName.make())"
        file = Descriptor(Descriptors.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
        guard file.number >= 0 else { throw FileFault(lastAt: path) }
        unsafe unlink(path)
    }

    package var isEmpty: Bool { span.withLock { $0.start == $0.end } }

    package func append(_ bytes: [UInt8]) throws(FileFault) {
        let end = span.withLock { $0.end }
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
