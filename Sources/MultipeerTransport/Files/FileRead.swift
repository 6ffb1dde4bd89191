import Glibc

/// Reads at a position of a file. Everything here blocks.
enum FileRead {
    /// What is read at a time to hash a file: so much that a call of the system does not count, and so little that other tasks
    /// of the thread do not wait for long.
    static let piece = 262_144

    /// Returns these bytes of an open file; throws `shrank` when it ends before.
    static func bytes(
        of path: String, _ wanted: Int, at position: UInt64, of descriptor: Int32
    ) throws(FileFault) -> [UInt8] {
        // Without capacity, the standard library writes the count into the empty array that all threads share.
        if wanted <= 0 { return [] }
        guard let start = off_t(exactly: position) else { throw FileFault(.shrank, path: path) }
        var failure: FileFault?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { room, count in
            while count < wanted {
                let got = unsafe pread(
                    descriptor, room.baseAddress?.advanced(by: count), wanted - count, start + off_t(count))
                if got > 0 {
                    count += got
                } else if got == 0 {
                    failure = FileFault(.shrank, path: path)
                    return
                } else if errno != EINTR {
                    failure = FileFault(lastAt: path)
                    return
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
