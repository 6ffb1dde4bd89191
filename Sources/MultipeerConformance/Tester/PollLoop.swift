import MultipeerPlatform

/// The owner of a descriptor that is called when it can be read or written.
protocol PollSource: AnyObject {
    /// Negative when there is nothing to poll.
    var descriptor: Int32 { get }
    var wantsToRead: Bool { get }
    var wantsToWrite: Bool { get }
    /// Reads what has come and writes what waits; called when the descriptor is ready.
    func move()
}

/// The one place in which a case waits: for a frame, an event or the clock. While it waits, all its connections and
/// the process of the subject are served. A case has one thread and this is its only loop, so nothing needs a lock.
final class PollLoop {
    typealias Instant = ContinuousClock.Instant
    private var sources: [any PollSource] = []
    /// Every wait ends at this moment: the case has used up its time.
    var limit: Instant?
    private(set) var isLimitReached = false

    func add(_ source: any PollSource) { sources.append(source) }
    func remove(_ source: any PollSource) { sources.removeAll { $0 === source } }

    func removeAll() {
        let removed = sources
        sources = []
        // Only now are they released: some remove themselves then.
        withExtendedLifetime(removed) {}
    }

    /// The connections that are open.
    var connections: [TesterConnection] { sources.compactMap { $0 as? TesterConnection } }

    /// Serves everything until `isDone` returns true or the time is over; returns the last result of `isDone`.
    @discardableResult
    func wait(until deadline: Instant, for isDone: () -> Bool) -> Bool {
        let deadline = limit.map { min($0, deadline) } ?? deadline
        while true {
            if isDone() { return true }
            let now = Instant.now
            if let limit, now >= limit { isLimitReached = true }
            // Polled again after the deadline: the time may have been spent outside the loop.
            turn(atMost: max(.zero, deadline - now))
            if now >= deadline { return isDone() }
        }
    }

    @discardableResult
    func wait(_ duration: Duration, for isDone: () -> Bool) -> Bool {
        wait(until: .now + duration, for: isDone)
    }

    /// Lets time pass.
    func wait(_ duration: Duration) { wait(duration) { false } }

    private func turn(atMost duration: Duration) {
        let watched = sources.filter { $0.descriptor >= 0 && ($0.wantsToRead || $0.wantsToWrite) }
        var list = watched.map { source in
            let events = (source.wantsToRead ? POLLIN : 0) | (source.wantsToWrite ? POLLOUT : 0)
            return pollfd(fd: source.descriptor, events: Int16(events), revents: 0)
        }
        let milliseconds = min(1_000, Int32(clamping: Int64((duration / .milliseconds(1)).rounded(.up))))
        guard unsafe poll(&list, nfds_t(list.count), milliseconds) > 0 else { return }
        for (source, entry) in zip(watched, list) where entry.revents != 0 { source.move() }
    }
}
