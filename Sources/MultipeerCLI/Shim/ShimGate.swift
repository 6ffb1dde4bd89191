import Multipeer

/// Where somebody waits who may not go on.
final class ShimGate: Sendable {
    private let waiters = Locked<[Promise<Void>]?>(nil)

    func close() { waiters.withLock { $0 = $0 ?? [] } }

    func open() {
        let waiting = waiters.withLock { $0.take() } ?? []
        for signal in waiting { signal.send(()) }
    }

    /// Returns when it is open.
    func passed() async {
        let signal = waiters.withLock { waiters -> Promise<Void>? in
            guard waiters != nil else { return nil }
            let signal = Promise<Void>()
            waiters?.append(signal)
            return signal
        }
        await signal?.value()
    }
}
