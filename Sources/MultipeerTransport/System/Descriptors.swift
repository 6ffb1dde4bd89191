package import MultipeerPlatform

/// Opens descriptors, and leaves a few to the rest of the process. Everything in the library that opens one does so here.
///
/// The kernel gives the lowest number that is free. A number near the limit shows that all below it are in use: it is closed again,
/// and the call fails as it would without a free one. So none of ours is ever among the last, whatever other threads open at the
/// same time.
package enum Descriptors {
    /// The descriptors that are left to the rest of the process. Without any, libdispatch ends the process: once a second, while
    /// tasks wait for a thread, it opens a file of each of its threads (`_dispatch_workq_count_runnable_workers`), and traps if it
    /// cannot. No peer may be able to bring that about. What other code of the process opens may still use them.
    package static let reserved = 4

    /// Returns a descriptor that a call has just returned; or -1, with EMFILE, when the reserve would not be left. An error of the
    /// call is passed on.
    static func admitted(_ number: Int32, leaving count: Int = reserved) -> Int32 {
        if number < 0 || leaves(count, after: number) { return number }
        _ = close(number)
        errno = EMFILE
        return -1
    }

    /// Returns like `open`.
    package static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
        open(path, in: AT_FDCWD, flags, mode)
    }

    /// Returns like `openat`. A file that was created for it is removed again when the reserve would not be left.
    static func open(_ name: String, in folder: Int32, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
        let number = unsafe openat(folder, name, flags, mode)
        let admitted = admitted(number)
        if number >= 0, admitted < 0, flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL {
            unsafe unlinkat(folder, name, 0)
            errno = EMFILE
        }
        return admitted
    }

    /// Returns another descriptor of the same file, or -1.
    package static func duplicate(_ number: Int32) -> Int32 { admitted(fcntl(number, F_DUPFD_CLOEXEC, 0)) }

    /// Returns both ends of a pipe that no other program inherits, unless one is started at this moment; nil, with `errno`, when there
    /// is none.
    package static func pipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard unsafe MultipeerPlatform.pipe(&ends) == 0, let ends = both(ends[0], ends[1]) else { return nil }
        _ = fcntl(ends.reading, F_SETFD, FD_CLOEXEC)
        _ = fcntl(ends.writing, F_SETFD, FD_CLOEXEC)
        return ends
    }

    /// Returns the ends of a pipe that a call has just opened; nil, with EMFILE, when the reserve would not be left.
    static func both(_ reading: Int32, _ writing: Int32) -> (reading: Int32, writing: Int32)? {
        if leaves(reserved, after: max(reading, writing)) { return (reading, writing) }
        _ = close(reading)
        _ = close(writing)
        errno = EMFILE
        return nil
    }

    /// Returns whether another descriptor could be opened now, and this many would be left.
    package static func isFree(leaving count: Int = reserved) -> Bool {
        let next = unsafe openat(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A process that may not read this directory is not short of descriptors.
        guard next >= 0 else { return errno != EMFILE && errno != ENFILE }
        defer { _ = close(next) }
        return leaves(count, after: next)
    }

    private static func leaves(_ count: Int, after number: Int32) -> Bool {
        let limit = sysconf(Int32(_SC_OPEN_MAX))
        return limit < 0 || Int(number) + count < limit
    }
}
