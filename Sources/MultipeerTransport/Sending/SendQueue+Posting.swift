// MARK: for callers that cannot wait

extension SendQueue {
    /// Accepts at once, or queues the message after all waiters, without a waiting task. Never waits.
    ///
    /// `limit` bounds what is queued like that; it counts as accepted, and is sent or returned like everything that was accepted.
    /// A message larger than the limit is accepted when no other was posted.
    package func post(_ message: [UInt8], limit: Backlog = .standard) -> Offer {
        let (answer, wakes) = state.withLock { state in
            let wasEmpty = state.queue.isEmpty
            let answer = state.post(message, limit: limit)
            return (answer, wasEmpty && !state.queue.isEmpty)
        }
        if wakes { wake() }
        return answer
    }

    /// The posted messages that are waiting.
    package var backlog: Backlog { state.withLock { $0.posted } }

    /// Reserves the place of a message that is to be sent to several or to none: `commit` or `giveUp` must follow at once. Later
    /// messages wait after it.
    package func reserve(_ message: [UInt8], limit: Backlog = .standard) -> Reservation {
        state.withLock { $0.reserve(message, limit: limit) }
    }

    /// Commits the message, unless the send queue was closed in the meantime.
    package func commit(_ ticket: UInt64) { admit { $0.waiters[ticket]?.isReserved = false } }

    package func giveUp(_ ticket: UInt64) {
        admit { state in
            if let waiter = state.waiters.remove(ticket) { state.posted.remove(waiter.message) }
        }
    }

    package enum Reservation: Sendable {
        case ticket(UInt64)
        case full
        case closed(Ending)
    }
}

/// Messages that wait without a waiting task: how many there are, or may be.
package struct Backlog: Equatable, Sendable {
    package private(set) var messages = 0
    package private(set) var bytes = 0

    /// After the limit of the send queue, for each peer. [limit.send-queue]
    package static let standard = Backlog(messages: 262_144, bytes: 64 * 1_048_576)

    package init(messages: Int = 0, bytes: Int = 0) {
        self.messages = messages
        self.bytes = bytes
    }

    func hasRoom(for message: [UInt8], limit: Backlog) -> Bool {
        messages == 0 || messages < limit.messages && bytes + message.count <= limit.bytes
    }

    mutating func add(_ message: [UInt8]) {
        messages += 1
        bytes += message.count
    }

    mutating func remove(_ message: [UInt8]) {
        messages -= 1
        bytes -= message.count
    }
}

extension SendQueue.State {
    mutating func post(_ message: [UInt8], limit: Backlog) -> SendQueue.Offer {
        let answer = offer(message)
        guard case .full = answer, posted.hasRoom(for: message, limit: limit) else { return answer }
        _ = enqueue(Waiter(message: message, signal: nil))
        posted.add(message)
        return .accepted
    }

    mutating func reserve(_ message: [UInt8], limit: Backlog) -> SendQueue.Reservation {
        if let ending { return .closed(ending) }
        let hasRoom = waiters.isEmpty && fits(message) || posted.hasRoom(for: message, limit: limit)
        guard hasRoom else { return .full }
        posted.add(message)
        return .ticket(enqueue(Waiter(message: message, signal: nil, isReserved: true)))
    }
}
