import Multipeer
import MultipeerTransport

/// Who has checked in where, of all linked peers and of this side; and who watches it.
final class Visitors: Sendable {
    struct Slot: Hashable, Sendable {
        let key: String
        /// A mangled name.
        let type: String
    }

    private struct State {
        /// In the order in which they came.
        var present: [Slot: [ActorID]] = [:]
        var watches: [Slot: [ObjectIdentifier: WeakWatch]] = [:]
    }

    private struct WeakWatch {
        weak var watch: VisitorWatch?
    }

    private let state = Locked(State())

    func arrived(_ checkIn: Envelope.CheckIn, _ peer: PeerID) {
        let (slot, id) = (
            Slot(key: checkIn.key, type: checkIn.type), ActorID(peer: peer, place: checkIn.place)
        )
        tell(slot) { state in
            if state.present[slot]?.contains(id) != true { state.present[slot, default: []].append(id) }
        }
    }

    func left(_ checkIn: Envelope.CheckIn, _ peer: PeerID) {
        let (slot, id) = (
            Slot(key: checkIn.key, type: checkIn.type), ActorID(peer: peer, place: checkIn.place)
        )
        tell(slot) { state in
            state.present[slot]?.removeAll { $0 == id }
            if state.present[slot]?.isEmpty == true { state.present[slot] = nil }
        }
    }

    func present(_ slot: Slot) -> [ActorID] { state.withLock { $0.present[slot] ?? [] } }

    func watch(_ slot: Slot) -> VisitorWatch {
        let watch = VisitorWatch { [weak self] id in self?.end(id, slot) }
        let present = state.withLock { state in
            state.watches[slot, default: [:]][ObjectIdentifier(watch)] = WeakWatch(watch: watch)
            return state.present[slot] ?? []
        }
        watch.set(present)
        return watch
    }

    private func end(_ id: ObjectIdentifier, _ slot: Slot) {
        state.withLock { state in
            state.watches[slot]?[id] = nil
            if state.watches[slot]?.isEmpty == true { state.watches[slot] = nil }
        }
    }

    private func tell(_ slot: Slot, _ change: (inout State) -> Void) {
        let (present, watches) = state.withLock { state in
            change(&state)
            return (state.present[slot] ?? [], state.watches[slot]?.values.compactMap(\.watch) ?? [])
        }
        for watch in watches { watch.set(present) }
    }
}

/// What one who watches has been told, and what is so now: however slow, it never holds more than these.
final class VisitorWatch: Sendable {
    enum Change: Sendable {
        case arrived(ActorID)
        case left(ActorID)
    }

    private struct State {
        /// Each in its order, and as a set: somebody else's thread waits while this is looked through.
        var present: [ActorID] = []
        var isPresent: Set<ActorID> = []
        var told: [ActorID] = []
        var isTold: Set<ActorID> = []
        var waiter: Signal<Void>?

        mutating func next() -> Change? {
            if let place = told.firstIndex(where: { !isPresent.contains($0) }) {
                let gone = told.remove(at: place)
                isTold.remove(gone)
                return .left(gone)
            }
            guard let new = present.first(where: { !isTold.contains($0) }) else { return nil }
            told.append(new)
            isTold.insert(new)
            return .arrived(new)
        }
    }

    private let state = Locked(State())
    private let onEnd: @Sendable (ObjectIdentifier) -> Void

    init(onEnd: @escaping @Sendable (ObjectIdentifier) -> Void) { self.onEnd = onEnd }

    deinit { onEnd(ObjectIdentifier(self)) }

    func set(_ present: [ActorID]) {
        let isPresent = Set(present)
        let waiter = state.withLock { state in
            (state.present, state.isPresent) = (present, isPresent)
            return state.waiter.take()
        }
        waiter?.send(())
    }

    /// Nil when the task is cancelled.
    func next() async -> Change? {
        while !Task.isCancelled {
            let signal = Signal<Void>()
            let change = state.withLock { state -> Change? in
                let change = state.next()
                if change == nil { state.waiter = signal }
                return change
            }
            if let change { return change }
            await signal.value(onCancel: { signal.send(()) })
        }
        return nil
    }
}
