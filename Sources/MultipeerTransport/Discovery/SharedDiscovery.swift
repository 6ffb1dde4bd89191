/// The backends of a process, one for each of its settings, as long as a user keeps it.
final class SharedDiscovery<Discovery: LoopDiscovery>: Sendable {
    private struct Weak: Sendable {
        weak var discovery: Discovery?
    }

    private let running = Locked<[MulticastSettings: Weak]>([:])

    /// Returns the backend with these settings, which is created if there is none.
    func discovery(
        for settings: MulticastSettings, _ create: () throws(MultipeerError) -> Discovery
    ) throws(MultipeerError) -> Discovery {
        try running.withLock { running throws(MultipeerError) in
            if let known = running[settings]?.discovery { return known }
            let new = try create()
            running[settings] = Weak(discovery: new)
            return new
        }
    }
}
