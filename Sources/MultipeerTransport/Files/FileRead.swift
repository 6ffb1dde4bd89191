import MultipeerPlatform

/// Reads at a position of a file. Everything here blocks.
enum FileRead {
    /// What is read at a time to hash a file: so much that a call of the system does not count, and so little that other tasks
    /// of the thread do not wait for long.
    static let piece = 262_144

    /// Returns these bytes of an open file; throws `shrank` when it ends before.
    static func bytes(
        of path: String, _ wanted: Int, at position: UInt64, of descriptor: Int32
    ) throws(FileFault) -> [UInt8] {
        guard let start = off_t(exactly: position) else { throw FileFault(.shrank, path: path) }
        return try unsafe bytes(of: path, wanted) { room, count in
            unsafe pread(descriptor, room?.advanced(by: count), wanted - count, start + off_t(count))
        }
    }

    /// Returns the next bytes of an open file. When it ends before, throws `shrank`, or returns what there is if `orFewer`.
    static func bytes(
        of path: String, next wanted: Int, orFewer: Bool = false, of descriptor: Int32
    ) throws(FileFault) -> [UInt8] {
        try unsafe bytes(of: path, wanted, orFewer: orFewer) { room, count in
            unsafe read(descriptor, room?.advanced(by: count), wanted - count)
        }
    }

    /// Returns the first bytes of an open file: fewer only when it has no more. It changes no position.
    static func bytes(
        of path: String, firstUpTo most: Int, of descriptor: Int32
    ) throws(FileFault) -> [UInt8] {
        try unsafe bytes(of: path, most, orFewer: true) { room, count in
            unsafe pread(descriptor, room?.advanced(by: count), most - count, off_t(count))
        }
    }

    /// Calls `get`, which is `read` or `pread`, with the room for all of the bytes and the number of those that are there, until
    /// there are as many as wanted.
    private static func bytes(
        of path: String, _ wanted: Int, orFewer: Bool = false,
        with get: (UnsafeMutablePointer<UInt8>?, Int) -> Int
    ) throws(FileFault) -> [UInt8] {
        // Without capacity, the standard library writes the count into the empty array that all threads share.
        if wanted <= 0 { return [] }
        var failure: FileFault?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { room, count in
            while count < wanted {
                let got = unsafe get(room.baseAddress, count)
                if got > 0 {
                    count += got
                } else if got == 0 {
                    if !orFewer { failure = FileFault(.shrank, path: path) }
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
