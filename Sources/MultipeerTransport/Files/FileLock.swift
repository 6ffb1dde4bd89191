import MultipeerPlatform

/// Excludes other processes, and other threads of this one, that change a file in the same way. The system releases the lock when the
/// process ends.
///
/// It is on a file of its own, which only this user can open: another one that can open it can hold the lock, and all others wait.
enum FileLock {
    private static let ending = ".lock"
    /// How often the lock is tried, with a pause of 10 ms: a change takes far less than 1 s.
    private static let attempts = 100

    /// Waits for the lock of `path`, at most 1 s, and runs `body` while holding it. Blocks.
    static func holding<Value>(
        of path: String, _ body: () throws(MultipeerError) -> Value
    ) throws(MultipeerError) -> Value {
        let place = path + ending
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = Descriptor(Descriptors.open(place, flags, 0o600))
        var status = stat()
        guard file.number >= 0, unsafe fstat(file.number, &status) == 0 else {
            throw MultipeerError(.file, "\(FileFault(lastAt: place))")
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            throw MultipeerError(.file, "\(place) belongs to another user, or is no file")
        }
        // One that others can open is theirs to lock. Where the file system knows no such permissions, nothing can be done.
        if status.st_mode & 0o077 != 0 { _ = fchmod(file.number, 0o600) }
        for _ in 0..<attempts {
            if flock(file.number, LOCK_EX | LOCK_NB) == 0 { return try body() }
            // A file system without locks.
            if errno != EWOULDBLOCK, errno != EINTR { return try body() }
            usleep(10_000)
        }
        throw MultipeerError(.file, "another process holds the lock \(place)")
    }
}
