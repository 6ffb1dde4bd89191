import Glibc
import MultipeerCore

extension Socket {
    /// Bytes that wait in the kernel unsent before a socket stops being writable: what is queued behind cannot be
    /// overtaken, and 64 KiB keeps a message 10 ms behind a file at 100 Mbit/s instead of 220 ms.
    package static let unsentBytes: Int32 = 65_536

    /// Gives up on a peer that has not acknowledged anything for so long. Nil leaves it to the kernel.
    package borrowing func setUserTimeout(_ timeout: Duration?) {
        if setSimulatedTimeout(timeout) { return }
        let nanoseconds = timeout?.wholeNanoseconds ?? 0
        try? set(TCP_USER_TIMEOUT, at: Int32(IPPROTO_TCP), Int32(clamping: nanoseconds / 1_000_000))
    }

    /// What every connection wants, as far as the kernel permits: nothing here is worth failing for.
    borrowing func tune() {
        try? set(TCP_NODELAY, at: Int32(IPPROTO_TCP), 1)
        try? set(Socket.notSentLowWater, at: Int32(IPPROTO_TCP), Socket.unsentBytes)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CONGESTION, "bbr", 3)
    }

    borrowing func set(_ option: Int32, at level: Int32, _ value: Int32) throws(SocketFault) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor, level, option, &value, size) == 0 else { throw .last }
    }

    /// `TCP_NOTSENT_LOWAT`, which Swift's Glibc module does not have.
    private static let notSentLowWater: Int32 = 25
}
