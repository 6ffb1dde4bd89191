import MultipeerCore

/// Whether this process has to refuse the connections of other peers, because it has too many open files.
package final class AcceptShortage: Sendable {
    package static let shared = AcceptShortage()

    /// For how long after a connection had to wait or was refused there is a shortage: it is noted more often than that while it lasts.
    private static let memory = Duration.seconds(1)

    /// Settled with the first shortage.
    package let first = Promise<Void>()
    private let last = Locked<Moment?>(nil)

    func note() {
        last.withLock { $0 = EventLoop.currentMoment() }
        first.send(())
    }

    /// The error that says so; nil when connections are accepted.
    package var error: MultipeerError? {
        let last = last.withLock { $0 }
        guard let last, EventLoop.currentMoment() - last <= AcceptShortage.memory else { return nil }
        return MultipeerError(.tooManyFiles, "too many open files: peers that connect are refused")
    }
}
