import MultipeerCore
import MultipeerPlatform

extension Socket {
    /// The number of unsent bytes in the kernel from which on a socket is not writable. Later data cannot overtake them: with
    /// 64 KiB, a message waits 10 ms for a file at 100 Mbit/s, instead of 220 ms.
    package static let unsentBytes: Int32 = 65_536

    /// Sets how long the peer may acknowledge nothing before the connection fails. Nil leaves that to the kernel.
    package borrowing func setUserTimeout(_ timeout: Duration?) {
        if setSimulatedTimeout(timeout) { return }
        let nanoseconds = timeout?.wholeNanoseconds ?? 0
        SocketOptions.setUserTimeout(descriptor, milliseconds: Int32(clamping: nanoseconds / 1_000_000))
    }

    /// What every connection wants, as far as the kernel permits: nothing here is worth failing for.
    borrowing func tune() {
        try? set(TCP_NODELAY, at: Int32(IPPROTO_TCP), 1)
        SocketOptions.limitUnsent(descriptor, to: Socket.unsentBytes)
        SocketOptions.chooseCongestionControl(descriptor)
    }

    borrowing func set(_ option: Int32, at level: Int32, _ value: Int32) throws(SocketFault) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor, level, option, &value, size) == 0 else { throw .last }
    }
}
