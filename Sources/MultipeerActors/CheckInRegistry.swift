import Multipeer
import MultipeerCore
import MultipeerTransport

/// All check-ins of the linked peers and of this side, and the watchers of each key.
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

    /// In order of arrival, with a number that changes when an actor leaves and checks in again.
    private typealias Present = OrderedTable<ActorID, UInt64>

    /// What a watcher has been given so far, and the actors with changes since. A slow watcher holds at most the
    /// present actors and those that it was given.
    private struct Watcher {
        var told: [ActorID: UInt64] = [:]
        /// The order in which watchers began; they are woken in that order.
        let number: UInt64
        var news = OrderedTable<ActorID, Void>()
        var waiter: Promise<Void>?

        /// Records that an actor has arrived or left.
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
                // An actor that has left and come back is reported as new by the next change.
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

    /// Promises of waiting watchers, to be fulfilled outside all locks: a woken task may run at once.
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

    /// Returns the next change, or keeps the promise and fulfils it when there is one.
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

/// One watcher, used by one task at a time.
final class CheckInWatch: Sendable {
    fileprivate let slot: CheckInRegistry.Slot
    private let checkInRegistry: CheckInRegistry

    fileprivate init(_ checkInRegistry: CheckInRegistry, _ slot: CheckInRegistry.Slot) {
        self.checkInRegistry = checkInRegistry
        self.slot = slot
    }

    deinit { checkInRegistry.end(self) }

    /// Returns the next change; nil when the task is cancelled.
    func next() async -> CheckInRegistry.Change? {
        while !Task.isCancelled {
            let signal = Promise<Void>()
            if let change = checkInRegistry.next(self, or: signal) { return change }
            await signal.value(onCancel: { signal.send(()) })
        }
        return nil
    }
}
