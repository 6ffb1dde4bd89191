import MultipeerFraming

/// Messages on their way from any thread to a loop, for one peer: bounded, in order, one wake for many. [limit.outbox]
///
/// What counts is everything between `offer` and `released`, so the limit holds for what the link has taken and not
/// yet written, too. A message larger than the limit is accepted when it is alone. Senders that wait are served in
/// their order, and nobody overtakes them.
package final class Outlet<Ending: Error>: Sendable {
    package enum Offer: Sendable {
        case accepted
        case full
        case closed(Ending)
    }

    private let state: Locked<State>
    private let wake: @Sendable () -> Void
    /// What the peer's HELLO allows; its senders check it before they offer. [msg.local-limit]
    package let longestMessage: Int

    /// `wake` is called when messages begin to wait for `take`, on the thread that brought the first.
    package init(
        byteLimit: Int = 4 * 1_048_576, messageLimit: Int = 16_384, longestMessage: Int = .max,
        wake: @escaping @Sendable () -> Void
    ) {
        self.longestMessage = longestMessage
        state = Locked(State(byteLimit: byteLimit, messageLimit: messageLimit))
        self.wake = wake
    }

    package func offer(_ message: [UInt8]) -> Offer {
        let (answer, wakes) = state.withLock { state in
            let wasEmpty = state.queue.isEmpty
            let answer = state.offer(message)
            return (answer, wasEmpty && !state.queue.isEmpty)
        }
        if wakes { wake() }
        return answer
    }

    /// Accepts as many of the messages as fit, from the first on, and answers how many.
    package func offer(contentsOf messages: ArraySlice<[UInt8]>) throws(Ending) -> Int {
        let (count, ending, wakes) = state.withLock { state -> (Int, Ending?, Bool) in
            let wasEmpty = state.queue.isEmpty
            var count = 0
            for message in messages {
                switch state.offer(message) {
                case .accepted: count += 1
                case .full: return (count, nil, wasEmpty && count > 0)
                case .closed(let ending): return (0, ending, false)
                }
            }
            return (count, nil, wasEmpty && count > 0)
        }
        if wakes { wake() }
        if let ending { throw ending }
        return count
    }

    /// Waits while the outlet is full. Throws the `Ending`, or `CancellationError` when cancelled while waiting: then
    /// the message was not sent.
    package func send(_ message: [UInt8]) async throws {
        switch offer(message) {
        case .accepted: return
        case .closed(let ending): throw ending
        case .full: try await wait(with: message)
        }
    }

    /// Sends one after the other, with one lock for as many as fit.
    package func send(contentsOf messages: [[UInt8]]) async throws {
        var rest = messages[...]
        while true {
            rest = rest.dropFirst(try offer(contentsOf: rest))
            guard let first = rest.popFirst() else { return }
            try await send(first)
        }
    }

    /// On the loop: everything that was accepted since the last time. It keeps counting until `released`.
    package func take() -> [[UInt8]] {
        state.withLock { state in
            let taken = state.queue
            state.queue = []
            return taken
        }
    }

    /// On the loop: messages that were accepted elsewhere go the same way, and count until `released`. There is room for
    /// nobody else until the limits are kept again.
    package func adopt(messages: Int, bytes: Int) {
        state.withLock { state in
            state.messages += messages
            state.bytes += bytes
        }
    }

    /// On the loop: so much of what was taken is written, and there is room again.
    package func released(messages: Int, bytes: Int) {
        admit { state in
            state.messages -= messages
            state.bytes -= bytes
            precondition(state.messages >= 0 && state.bytes >= 0, "more was released than was taken")
        }
    }

    /// Refuses everything from here on, and answers what was accepted and never taken. The first ending stays.
    @discardableResult
    package func close(with ending: Ending) -> [[UInt8]] {
        let (left, waiters) = state.withLock { state -> ([[UInt8]], [State.Waiter]) in
            if state.ending == nil { state.ending = ending }
            defer {
                state.queue = []
                state.waiters = [:]
            }
            return (state.queue, Array(state.waiters.values))
        }
        for waiter in waiters { waiter.signal.send(.closed(ending)) }
        return left
    }

    /// How many senders wait now.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    private func wait(with message: [UInt8]) async throws {
        let waiter = State.Waiter(message: message)
        // Something may have changed since the offer: the queue decides again.
        let ticket = state.withLock { $0.enqueue(waiter) }
        admit { _ in }
        let verdict = await waiter.signal.value(onCancel: { [self] in cancel(ticket) })
        switch verdict {
        case .accepted: return
        case .closed(let ending): throw ending
        case .cancelled: throw CancellationError()
        }
    }

    private func cancel(_ ticket: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: ticket) }
        waiter?.signal.send(.cancelled)
        if waiter != nil { admit { _ in } }
    }

    /// Makes a change, and lets in whoever fits then.
    private func admit(after change: (inout State) -> Void) {
        let (admitted, ending, wakes) = state.withLock { state in
            change(&state)
            let wasEmpty = state.queue.isEmpty
            let admitted = state.admit()
            return (admitted, state.ending, wasEmpty && !state.queue.isEmpty)
        }
        for waiter in admitted { waiter.signal.send(ending.map { .closed($0) } ?? .accepted) }
        if wakes { wake() }
    }
}

extension Outlet {
    fileprivate enum Verdict: Sendable {
        case accepted
        case closed(Ending)
        case cancelled
    }

    fileprivate struct State {
        struct Waiter: Sendable {
            let message: [UInt8]
            let signal = Signal<Verdict>()
        }

        let byteLimit: Int
        let messageLimit: Int
        var queue: [[UInt8]] = []
        /// Accepted and not released.
        var messages = 0
        var bytes = 0
        /// By ticket; those between `served` and `tickets` that are missing were cancelled.
        var waiters: [UInt64: Waiter] = [:]
        var served: UInt64 = 0
        var tickets: UInt64 = 0
        var ending: Ending?

        init(byteLimit: Int, messageLimit: Int) {
            self.byteLimit = byteLimit
            self.messageLimit = messageLimit
        }

        mutating func offer(_ message: [UInt8]) -> Offer {
            if let ending { return .closed(ending) }
            guard waiters.isEmpty, fits(message) else { return .full }
            append(message)
            return .accepted
        }

        mutating func enqueue(_ waiter: Waiter) -> UInt64 {
            defer { tickets += 1 }
            waiters[tickets] = waiter
            return tickets
        }

        /// Takes those who fit, the first come first, out of the queue of waiters; all of them once it has ended.
        mutating func admit() -> [Waiter] {
            var admitted: [Waiter] = []
            while served < tickets {
                if let waiter = waiters[served] {
                    guard ending != nil || fits(waiter.message) else { break }
                    if ending == nil { append(waiter.message) }
                    waiters[served] = nil
                    admitted.append(waiter)
                }
                served += 1
            }
            return admitted
        }

        private func fits(_ message: [UInt8]) -> Bool {
            messages == 0 || (messages < messageLimit && bytes + message.count <= byteLimit)
        }

        private mutating func append(_ message: [UInt8]) {
            queue.append(message)
            messages += 1
            bytes += message.count
        }
    }
}
