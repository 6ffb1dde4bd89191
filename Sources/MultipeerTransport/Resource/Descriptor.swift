import MultipeerPlatform

/// A file descriptor that closes with its owner.
struct Descriptor: ~Copyable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    /// What was not opened leaves `errno` as it is: it says why.
    deinit { if number >= 0 { MultipeerPlatform.close(number) } }

    /// Returns the descriptor, which the caller then has to close.
    consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// Closes it, and returns 0 or the `errno` of that: a failure to write to the disk may be reported only here.
    consuming func close() -> Int32 {
        let number = number
        discard self
        // After EINTR the descriptor is closed on Linux, and nothing is lost.
        return MultipeerPlatform.close(number) == 0 || errno == EINTR ? 0 : errno
    }
}
