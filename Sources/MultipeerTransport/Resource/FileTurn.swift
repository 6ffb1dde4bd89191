import MultipeerCore

/// A transfer's place among those that need a descriptor for their file. It is given up when it is released.
///
/// ```
/// waiting ──first, and a descriptor is free──▶ granted ──released──▶ over
///    └──no longer wanted, or none becomes free──▶ over
/// ```
package final class FileTurn: Sendable {
    package enum Direction: Sendable {
        case incoming, outgoing
    }

    fileprivate let direction: Direction
    fileprivate let queue: FileTurns

    package init(_ direction: Direction, in queue: FileTurns = .shared) {
        self.direction = direction
        self.queue = queue
    }

    deinit { queue.end(self) }

    /// Returns whether a file may be opened at once: no other waits, and a descriptor is free.
    package func comesAtOnce() -> Bool { queue.grantAtOnce(self) }

    /// Waits until a file may be opened. `isWanted` is asked after each `look`, and ends the wait. Returns false when that was the end,
    /// or when no transfer has a descriptor that it could give up, and none becomes free.
    ///
    /// Called again, it gives back the turn, for which there was no descriptor after all, and waits at the front.
    package func wait(while isWanted: @Sendable () -> Bool = { true }) async -> Bool {
        await queue.wait(for: self, while: isWanted)
    }

    /// Gives it up before it is released.
    package func end() { queue.end(self) }

    /// Has the wait look whether it is still wanted.
    package func look() { queue.look(for: self) }
}

/// The transfers of a process that need a descriptor for their file, in the order in which they came, by direction.
///
/// Files leave some descriptors to connections, and to what the transfers that run open for a moment, so that these never fail for
/// want of one. But one file that comes and one that goes need not: two processes that have each used up their descriptors for files
/// to the other go on.
package final class FileTurns: Sendable {
    package static let shared = FileTurns()

    /// The descriptors that further files leave in addition to the reserve.
    package static let leftForOthers = 8
    /// How often the first looks for a descriptor that something else has closed.
    private static let interval = Duration.milliseconds(50)

    private struct Waiting {
        let turn: ObjectIdentifier
        /// It was granted before, and there was no descriptor after all.
        let isRetry: Bool
        var wake = Promise<Void>()
    }

    /// The files of one direction. Those of the other never wait after them: they may be what would end these.
    private struct Lane {
        var granted: Set<ObjectIdentifier> = []
        var line: [Waiting] = []

        var first: Promise<Void>? { line.first?.wake }
    }

    private struct State {
        var incoming = Lane()
        var outgoing = Lane()
        /// Since when the first has waited while no transfer has a descriptor.
        var fruitless: Moment?

        subscript(direction: FileTurn.Direction) -> Lane {
            get {
                switch direction {
                case .incoming: incoming
                case .outgoing: outgoing
                }
            }
            set {
                switch direction {
                case .incoming: incoming = newValue
                case .outgoing: outgoing = newValue
                }
            }
        }

        /// Returns whether the first has waited long enough for what nothing will bring about.
        mutating func isHopeless(at now: Moment, after grace: Duration) -> Bool {
            guard incoming.granted.isEmpty, outgoing.granted.isEmpty else {
                fruitless = nil
                return false
            }
            let since = fruitless ?? now
            fruitless = since
            return now - since >= grace
        }
    }

    private let state = Locked(State())
    /// How long the first waits for a descriptor while no transfer has one.
    private let grace: Duration
    /// Returns whether a descriptor is free, and that many are left.
    private let isFree: @Sendable (_ leaving: Int) -> Bool

    package init(
        grace: Duration = .seconds(2),
        _ isFree: @escaping @Sendable (_ leaving: Int) -> Bool = { Descriptors.isFree(leaving: $0) }
    ) {
        self.grace = grace
        self.isFree = isFree
    }

    private enum Step {
        case waits(Promise<Void>, isFirst: Bool)
        /// The next one may be able to go on, too: it is woken.
        case over(isGranted: Bool, next: Promise<Void>?)
    }

    fileprivate func grantAtOnce(_ turn: FileTurn) -> Bool {
        let id = ObjectIdentifier(turn)
        let direction = turn.direction
        // In one step: two that asked at once would both be the only one, and leave none for the other direction.
        return state.withLock { state in
            let isOnly = state[direction].granted.isEmpty
            guard state[direction].line.isEmpty, isFree(FileTurns.left(isOnly: isOnly)) else { return false }
            state[direction].granted.insert(id)
            return true
        }
    }

    fileprivate func wait(for turn: FileTurn, while isWanted: @Sendable () -> Bool) async -> Bool {
        let id = ObjectIdentifier(turn)
        let direction = turn.direction
        let retry = state.withLock { state -> Promise<Void>? in
            let isRetry = state[direction].granted.remove(id) != nil
            let waiting = Waiting(turn: id, isRetry: isRetry)
            state[direction].line.insert(waiting, at: isRetry ? 0 : state[direction].line.count)
            return isRetry ? waiting.wake : nil
        }
        if let retry { await FileTurns.pause(retry, atMost: FileTurns.interval) }
        while true {
            switch next(id, direction, isWanted: isWanted()) {
            case .waits(let wake, let isFirst):
                await FileTurns.pause(wake, atMost: isFirst ? FileTurns.interval : nil)
            case .over(let isGranted, let next):
                next?.send(())
                return isGranted
            }
        }
    }

    private func next(
        _ id: ObjectIdentifier, _ direction: FileTurn.Direction, isWanted: Bool
    ) -> Step {
        let isFirst = state.withLock { $0[direction].line.first?.turn == id }
        let isFree = isFirst && isWanted && isFree(for: direction)
        let now = EventLoop.currentMoment()
        return state.withLock { [grace] state in
            guard let place = state[direction].line.firstIndex(where: { $0.turn == id }) else {
                return .over(isGranted: false, next: nil)
            }
            let isRetry = state[direction].line[place].isRetry
            let isHopeless = isFirst && state.isHopeless(at: now, after: grace) && (isRetry || !isFree)
            if isFree || isHopeless || !isWanted {
                state[direction].line.remove(at: place)
                let isGranted = isFree && !isHopeless
                if isGranted { state[direction].granted.insert(id) }
                // One that was granted again may find none again.
                let isEmpty = state.incoming.line.isEmpty && state.outgoing.line.isEmpty
                if isGranted ? !isRetry : isEmpty { state.fruitless = nil }
                return .over(isGranted: isGranted, next: state[direction].first)
            }
            let wake = Promise<Void>()
            state[direction].line[place].wake = wake
            // The one before may have left since.
            return .waits(wake, isFirst: place == 0)
        }
    }

    /// Returns whether a descriptor is free for a file of this direction.
    private func isFree(for direction: FileTurn.Direction) -> Bool {
        let isOnly = state.withLock { $0[direction].granted.isEmpty }
        return isFree(FileTurns.left(isOnly: isOnly))
    }

    private static func left(isOnly: Bool) -> Int { Descriptors.reserved + (isOnly ? 0 : leftForOthers) }

    /// Waits for the promise, and no longer than that.
    private static func pause(_ wake: Promise<Void>, atMost limit: Duration?) async {
        guard let limit else { return await wake.value() }
        let alarm = Task.following {
            // Cancelled when it is no longer needed.
            do { try await Pause.sleep(for: limit) } catch { return }
            wake.send(())
        }
        await wake.value()
        alarm.cancel()
    }

    fileprivate func look(for turn: FileTurn) {
        let (id, direction) = (ObjectIdentifier(turn), turn.direction)
        state.withLock { state in state[direction].line.first { $0.turn == id }?.wake }?.send(())
    }

    fileprivate func end(_ turn: FileTurn) {
        let (id, direction) = (ObjectIdentifier(turn), turn.direction)
        let next = state.withLock { state -> [Promise<Void>] in
            guard state[direction].granted.remove(id) != nil else { return [] }
            state.fruitless = nil
            return [state.incoming.first, state.outgoing.first].compactMap(\.self)
        }
        for wake in next { wake.send(()) }
    }
}
