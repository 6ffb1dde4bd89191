/// Messages on their way from any thread to a loop, for one peer, with back-pressure: bounded, in order, one wake for
/// many. [limit.send-queue]
///
/// The limit covers everything between `offer` and `released`, and so also what the link has taken and not yet written. A message
/// larger than the limit is accepted when it is the only one. Senders that wait are served in order, and none overtakes another.
/// A caller that cannot wait posts: a message that finds no room then waits by itself, in the same order.
package final class SendQueue<Ending: Error>: Sendable {
    package enum Offer: Sendable {
        case accepted
        case full
        case closed(Ending)
    }

    let state: Locked<State>
    let wake: @Sendable () -> Void
    /// The limit of the peer's HELLO; its senders check it before they offer. [msg.local-limit]
    package let longestMessage: Int

    /// Creates a queue. `wake` is called when messages begin to wait for `take`, on the thread that queued the first. When it
    /// `resumesAtHalf`, senders that wait go on when the queue is half empty, or when its owner calls `stalled`.
    package init(
        byteLimit: Int = 4 * 1_048_576, messageLimit: Int = 16_384, longestMessage: Int = .max,
        resumesAtHalf: Bool = false, wake: @escaping @Sendable () -> Void
    ) {
        self.longestMessage = longestMessage
        state = Locked(
            State(byteLimit: byteLimit, messageLimit: messageLimit, resumesAtHalf: resumesAtHalf))
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

    /// Accepts as many of the messages as fit, from the first on, and returns how many.
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

    /// Waits while the send queue is full. Throws the `Ending`, or `CancellationError` when cancelled while waiting: then
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

    /// On the loop: takes everything that was accepted since the last time. It keeps counting until `released`.
    package func take() -> [[UInt8]] {
        state.withLock { state in
            let taken = state.queue
            state.queue = []
            return taken
        }
    }

    /// On the loop: takes the message that was accepted since the last time, if it is the only one; its queue keeps its memory.
    func takeOnly() -> [UInt8]? {
        state.withLock { state in state.queue.count == 1 ? state.queue.removeLast() : nil }
    }

    /// On the loop: messages that were accepted elsewhere are sent the same way, and count until `released`. No others are
    /// accepted until the limits are kept again.
    package func adopt(messages: Int, bytes: Int) {
        state.withLock { state in
            state.messages += messages
            state.bytes += bytes
        }
    }

    /// On the loop: this much of what was taken is written, and there is room again.
    package func released(messages: Int, bytes: Int) {
        admit { state in
            state.messages -= messages
            state.bytes -= bytes
            precondition(state.messages >= 0 && state.bytes >= 0, "more was released than was reserved")
        }
    }

    /// On the loop: nothing of what was taken can be written at present. What fits is accepted.
    package func stalled() { admit(isStalled: true) { _ in } }

    /// Refuses everything from here on, and returns what was accepted and never taken. The first ending stays.
    @discardableResult
    package func close(with ending: Ending) -> [[UInt8]] {
        let (left, waiters) = state.withLock { $0.close(with: ending) }
        for waiter in waiters { waiter.signal?.send(.closed(ending)) }
        return left
    }

    /// The number of messages that are waiting for room: senders', and posted ones.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    private func wait(with message: [UInt8]) async throws {
        let signal = Promise<Verdict>()
        // The state may have changed since the offer: the queue decides again.
        let ticket = state.withLock { $0.enqueue(State.Waiter(message: message, signal: signal)) }
        admit { _ in }
        let verdict = await signal.value(onCancel: { [self] in cancel(ticket) })
        switch verdict {
        case .accepted: return
        case .closed(let ending): throw ending
        case .cancelled: throw CancellationError()
        }
    }

    private func cancel(_ ticket: UInt64) {
        let waiter = state.withLock { $0.waiters.remove(ticket) }
        waiter?.signal?.send(.cancelled)
        if waiter != nil { admit { _ in } }
    }

    /// Makes a change, and admits the waiters that fit then.
    func admit(isStalled: Bool = false, after change: (inout State) -> Void) {
        let (admitted, ending, wakes) = state.withLock { state in
            change(&state)
            let wasEmpty = state.queue.isEmpty
            let admitted = state.admit(isStalled: isStalled)
            return (admitted, state.ending, wasEmpty && !state.queue.isEmpty)
        }
        for waiter in admitted { waiter.signal?.send(ending.map { .closed($0) } ?? .accepted) }
        if wakes { wake() }
    }
}
