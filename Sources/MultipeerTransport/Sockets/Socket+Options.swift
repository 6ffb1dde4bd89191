import MultipeerCore
import MultipeerPlatform

extension Socket {
    /// Sets how long the peer may acknowledge nothing before the connection fails. Nil leaves that to the kernel.
    package borrowing func setUserTimeout(_ timeout: Duration?) {
        if setSimulatedTimeout(timeout) { return }
        let nanoseconds = timeout?.wholeNanoseconds ?? 0
        SocketOptions.setUserTimeout(descriptor, milliseconds: Int32(clamping: nanoseconds / 1_000_000))
    }

    /// Limits the time between two attempts to send the same data. Returns whether the system can.
    @discardableResult
    borrowing func limitBackOff(to interval: Duration) -> Bool {
        if isSimulated { return false }
        return SocketOptions.limitBackOff(
            descriptor, milliseconds: Int32(clamping: interval.wholeNanoseconds / 1_000_000))
    }

    /// How long TCP waits at most before it sends the same data again. Otherwise it doubles the time without end, and a network that
    /// was away for five seconds is found again after seven. The least that Linux accepts.
    static let backOff = Duration.seconds(1)

    /// Limits the unsent bytes in the kernel.
    borrowing func limitUnsent(to count: Int) {
        if !isSimulated { SocketOptions.limitUnsent(descriptor, to: Int32(clamping: count)) }
    }

    /// What every connection wants, as far as the kernel permits: nothing here is worth failing for.
    borrowing func tune() {
        try? set(TCP_NODELAY, at: Int32(IPPROTO_TCP), 1)
        SocketOptions.limitUnsent(descriptor, to: Int32(SendAhead.initial))
        limitBackOff(to: Socket.backOff)  // [live.repeat]
        SocketOptions.chooseCongestionControl(descriptor)
    }

    borrowing func set(_ option: Int32, at level: Int32, _ value: Int32) throws(SocketFault) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor, level, option, &value, size) == 0 else { throw .last }
    }
}
