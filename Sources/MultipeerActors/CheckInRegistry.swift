import Multipeer
import MultipeerCore
import MultipeerTransport

/// Who has checked in where, of all linked peers and of this side; and who watches it.
final class CheckInRegistry: Sendable {
    struct Slot: Hashable, Sendable {
        let key: String
        /// A mangled name.
        let type: String
    }

    enum Change: Sendable {
        case arrived(ActorID)
        case left(ActorID)
    }

    /// In the order in which they came, with a number that tells apart who has gone and come again.
    private typealias Present = OrderedTable<ActorID, UInt64>

    /// What one who watches has been told, and about whom there is something new: however slow, never more than are there
    /// and were told of.
    private struct Watcher {
        var told: [ActorID: UInt64] = [:]
        /// Of those who began to watch; they are woken in that order.
        let number: UInt64
        var news = OrderedTable<ActorID, Void>()
        var waiter: Promise<Void>?

        /// Somebody has come or gone.
        mutating func note(_ id: ActorID, isPresent: Bool) -> Promise<Void>? {
            if isPresent || told[id] != nil {
                news.append(id, ())
            } else {
                news.remove(id)
            }
            return waiter.take()
        }

        mutating func next(_ present: Present) -> Change? {
            while let (id, _) = news.head() {
                let present = present[id]
                switch (told[id], present) {
                case (let before?, let now?) where before == now: news.remove(id)
                // One who has come again meanwhile is told of next.
                case (_?, _):
                    told[id] = nil
                    if present == nil { news.remove(id) }
                    return .left(id)
                case (nil, let now?):
                    told[id] = now
                    news.remove(id)
                    return .arrived(id)
                case (nil, nil): news.remove(id)
                }
            }
            return nil
        }
    }

    private struct State {
        var present: [Slot: Present] = [:]
        var arrivals: UInt64 = 0
        var watches: UInt64 = 0
        var watchers: [Slot: [ObjectIdentifier: Watcher]] = [:]
    }

    private let state = Locked(State())

    /// Those who wait for news, to be woken after all locks: whoever is woken may run at once.
    struct Wakeups: Sendable {
        fileprivate var signals: [Promise<Void>] = []

        func wake() { for signal in signals { signal.send(()) } }
    }

    func arrived(_ checkIn: Envelope.CheckIn, _ peer: PeerID) -> Wakeups {
        let (slot, id) = (checkIn.slot, ActorID(peer: peer, place: checkIn.place))
        return tell(slot, id) { state in
            state.arrivals += 1
            return state.present[slot, default: Present()].append(id, state.arrivals)
        }
    }

    func left(_ checkIn: Envelope.CheckIn, _ peer: PeerID) -> Wakeups {
        let (slot, id) = (checkIn.slot, ActorID(peer: peer, place: checkIn.place))
        return tell(slot, id) { state in
            guard state.present[slot]?.remove(id) != nil else { return false }
            if state.present[slot]?.isEmpty == true { state.present[slot] = nil }
            return true
        }
    }

    func present(_ slot: Slot) -> [ActorID] { state.withLock { $0.present[slot]?.keys ?? [] } }

    func watch(_ slot: Slot) -> CheckInWatch {
        let watch = CheckInWatch(self, slot)
        state.withLock { state in
            state.watches += 1
            var watcher = Watcher(number: state.watches)
            for id in state.present[slot]?.keys ?? [] { watcher.news.append(id, ()) }
            state.watchers[slot, default: [:]][ObjectIdentifier(watch)] = watcher
        }
        return watch
    }

    fileprivate func end(_ watch: CheckInWatch) {
        state.withLock { state in
            state.watchers[watch.slot]?[ObjectIdentifier(watch)] = nil
            if state.watchers[watch.slot]?.isEmpty == true { state.watchers[watch.slot] = nil }
        }
    }

    /// What is new, or else the signal comes when there is something.
    fileprivate func next(_ watch: CheckInWatch, or signal: Promise<Void>) -> Change? {
        let (slot, id) = (watch.slot, ObjectIdentifier(watch))
        return state.withLock { state in
            let change = state.watchers[slot]?[id]?.next(state.present[slot] ?? Present())
            if change == nil { state.watchers[slot]?[id]?.waiter = signal }
            return change
        }
    }

    private func tell(_ slot: Slot, _ id: ActorID, _ change: (inout State) -> Bool) -> Wakeups {
        state.withLock { state in
            guard change(&state), let watchers = state.watchers[slot] else { return Wakeups() }
            let isPresent = state.present[slot]?[id] != nil
            return Wakeups(
                signals: watchers.sorted { $0.value.number < $1.value.number }.compactMap {
                    state.watchers[slot]?[$0.key]?.note(id, isPresent: isPresent)
                })
        }
    }
}

extension Envelope.CheckIn {
    fileprivate var slot: CheckInRegistry.Slot { CheckInRegistry.Slot(key: key, type: type) }
}

/// One who watches, for one task at a time.
final class CheckInWatch: Sendable {
    fileprivate let slot: CheckInRegistry.Slot
    private let checkInRegistry: CheckInRegistry

    fileprivate init(_ checkInRegistry: CheckInRegistry, _ slot: CheckInRegistry.Slot) {
        self.checkInRegistry = checkInRegistry
        self.slot = slot
    }

    deinit { checkInRegistry.end(self) }

    /// Nil when the task is cancelled.
    func next() async -> CheckInRegistry.Change? {
        while !Task.isCancelled {
            let signal = Promise<Void>()
            if let change = checkInRegistry.next(self, or: signal) { return change }
            await signal.value(onCancel: { signal.send(()) })
        }
        return nil
    }
}
