import MultipeerCore
package import MultipeerDiscovery

/// What was found, on its way to one reader. What it holds is bounded by how many peers there are, not by how often they
/// change: kept are what is true and what the reader was told, and the difference is what it hears next.
package final class DiscoveryFeed: Sendable {
    fileprivate struct State {
        var present: [UID: DiscoveredPeer] = [:]
        var told: [UID: DiscoveredPeer] = [:]
        /// Of whom the two may differ, in the order in which they began to.
        var changed: [UID] = []
        var waiter: Promise<Void>?
        var isFinished = false
    }

    private enum Taken {
        case event(BrowserEvent)
        case nothing(Promise<Void>)
        case finished
    }

    private let state = Locked(State())

    package init() {}

    /// Takes one finding to the reader.
    package func hear(_ event: BrowserEvent) {
        let waiter = state.withLock { state -> Promise<Void>? in
            if state.isFinished { return nil }
            state.take(event)
            return state.changed.isEmpty ? nil : state.waiter.take()
        }
        waiter?.send(())
    }

    /// Ends the sequence at once.
    package func finish() {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state = State(isFinished: true)
            return waiter
        }
        waiter?.send(())
    }

    package func next() async -> BrowserEvent? {
        while true {
            switch take() {
            case .event(let event): return event
            case .finished: return nil
            case .nothing(let signal):
                await signal.value(onCancel: { signal.send(()) })
                if abandon(signal) { return nil }
            }
        }
    }

    private func take() -> Taken {
        state.withLock { state in
            while !state.changed.isEmpty {
                if let event = state.tell(state.changed.removeFirst()) { return .event(event) }
            }
            if state.isFinished { return .finished }
            precondition(state.waiter == nil, "two tasks wait for the same events")
            let signal = Promise<Void>()
            state.waiter = signal
            return .nothing(signal)
        }
    }

    /// Answers whether the wait was cancelled: then the signal is still the feed's.
    private func abandon(_ signal: Promise<Void>) -> Bool {
        state.withLock { state in
            if state.waiter !== signal { return false }
            state.waiter = nil
            return true
        }
    }
}

extension DiscoveryFeed.State {
    fileprivate mutating func take(_ event: BrowserEvent) {
        let uid: UID
        switch event {
        case .found(let peer), .updated(let peer):
            uid = peer.peer.uid
            present[uid] = peer
        case .lost(let peer):
            uid = peer.uid
            present[uid] = nil
        }
        let place = changed.firstIndex(of: uid)
        if isTold(uid) {
            if let place { changed.remove(at: place) }
        } else if place == nil {
            changed.append(uid)
        }
    }

    /// Answers whether the reader knows what is true.
    private func isTold(_ uid: UID) -> Bool {
        switch (told[uid], present[uid]) {
        case (nil, nil): true
        case (let old?, let new?): old == new
        default: false
        }
    }

    fileprivate mutating func tell(_ uid: UID) -> BrowserEvent? {
        let (old, new) = (told[uid], present[uid])
        told[uid] = new
        switch (old, new) {
        case (nil, nil): return nil
        case (nil, let new?): return .found(new)
        case (let old?, nil): return .lost(old.peer)
        case (let old?, let new?): return old == new ? nil : .updated(new)
        }
    }
}
