// MARK: for who cannot wait

extension SendQueue {
    /// Accepts at once, or puts the message after all who wait, as one of them, for whom nobody waits. Never waits.
    ///
    /// What waits like that is bounded by `limit`, counts as accepted, and goes or is given back like everything that
    /// was accepted. A message larger than the limit is accepted when no other was posted.
    package func post(_ message: [UInt8], limit: Backlog = .standard) -> Offer {
        let (answer, wakes) = state.withLock { state in
            let wasEmpty = state.queue.isEmpty
            let answer = state.post(message, limit: limit)
            return (answer, wasEmpty && !state.queue.isEmpty)
        }
        if wakes { wake() }
        return answer
    }

    /// What was posted and waits.
    package var backlog: Backlog { state.withLock { $0.posted } }

    /// Keeps the place of a message that shall go to several or to nobody: `commit` or `giveUp` must follow at once.
    /// Who comes later waits behind it.
    package func reserve(_ message: [UInt8], limit: Backlog = .standard) -> Reservation {
        state.withLock { $0.reserve(message, limit: limit) }
    }

    /// The message goes, unless the send queue was closed meanwhile.
    package func commit(_ ticket: UInt64) { admit { $0.waiters[ticket]?.isReserved = false } }

    package func giveUp(_ ticket: UInt64) {
        admit { state in
            if let waiter = state.waiters.removeValue(forKey: ticket) { state.posted.remove(waiter.message) }
        }
    }

    package enum Reservation: Sendable {
        case ticket(UInt64)
        case full
        case closed(Ending)
    }
}

/// Messages that wait without anybody waiting for them: how many there are, or may be.
package struct Backlog: Equatable, Sendable {
    package private(set) var messages = 0
    package private(set) var bytes = 0

    /// After the limit of the send queue, for each peer. [limit.outbox]
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
