import MultipeerPlatform

/// Excludes other processes, and other threads of this one, that change files of a directory in the same way. The system releases
/// the lock when the process ends.
enum DirectoryLock {
    /// How often the lock is tried, with a pause of 10 ms: a change takes far less than 5 s.
    private static let attempts = 500

    /// Waits for the lock of the directory that contains `path`, at most 5 s, and runs `body` while holding it.
    static func holding<Value>(
        of path: String, _ body: () throws(MultipeerError) -> Value
    ) throws(MultipeerError) -> Value {
        let directory = PrivateFile.split(path).directory
        let descriptor = Descriptors.open(
            directory.isEmpty ? "/" : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw MultipeerError(.file, "\(FileFault(lastAt: path))") }
        defer { close(descriptor) }
        for _ in 0..<attempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return try body() }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            usleep(10_000)
        }
        throw MultipeerError(.file, "\(FileFault(lastAt: path))")
    }
}
