extension SendQueue {
    enum Verdict: Sendable {
        case accepted
        case closed(Ending)
        case cancelled
    }

    struct State {
        struct Waiter: Sendable {
            let message: [UInt8]
            /// Receives the verdict; nil for a message that was posted.
            let signal: Promise<Verdict>?
            /// Whether it only reserves a place, which no later message passes.
            var isReserved = false
        }

        let byteLimit: Int
        let messageLimit: Int
        /// Whether those that wait go on only when the queue is half empty, or stalls.
        let resumesAtHalf: Bool
        var queue: [[UInt8]] = []
        /// Accepted and not released.
        var messages = 0
        var bytes = 0
        /// By ticket; those between `served` and `tickets` that are missing were cancelled.
        var waiters = TicketQueue<Waiter>()
        var served: UInt64 = 0
        var tickets: UInt64 = 0
        /// Those waiters that have no waiting task.
        var posted = Backlog()
        var ending: Ending?

        init(byteLimit: Int, messageLimit: Int, resumesAtHalf: Bool) {
            self.byteLimit = byteLimit
            self.messageLimit = messageLimit
            self.resumesAtHalf = resumesAtHalf
        }

        mutating func offer(_ message: [UInt8]) -> Offer {
            if let ending { return .closed(ending) }
            guard waiters.isEmpty, fits(message) else { return .full }
            append(message)
            return .accepted
        }

        mutating func enqueue(_ waiter: Waiter) -> UInt64 {
            defer { tickets += 1 }
            waiters.append(waiter, ticket: tickets)
            return tickets
        }

        /// Takes the waiters that fit, in order, out of the queue; all of them once it has ended. Where it `resumesAtHalf`, none
        /// before that: a sender that is woken for each message that leaves costs more than the message. `isStalled`: nothing
        /// leaves at present.
        mutating func admit(isStalled: Bool = false) -> [Waiter] {
            var admitted: [Waiter] = []
            guard ending != nil || isStalled || !resumesAtHalf || isHalfEmpty else { return admitted }
            while served < tickets {
                if let waiter = waiters[served] {
                    guard ending != nil || !waiter.isReserved && fits(waiter.message) else { break }
                    if ending == nil { append(waiter.message) }
                    waiters.remove(served)
                    if waiter.signal == nil { posted.remove(waiter.message) } else { admitted.append(waiter) }
                }
                served += 1
            }
            return admitted
        }

        /// Returns what was accepted and never taken, including posted messages, and the waiters. [msg.failed]
        mutating func close(with ending: Ending) -> ([[UInt8]], [Waiter]) {
            if self.ending == nil { self.ending = ending }
            for ticket in served..<tickets {
                guard let waiter = waiters[ticket], waiter.signal == nil, !waiter.isReserved else { continue }
                append(waiter.message)
            }
            defer {
                queue = []
                waiters = TicketQueue()
                posted = Backlog()
            }
            return (queue, waiters.elements)
        }

        func fits(_ message: [UInt8]) -> Bool {
            messages == 0 || (messages < messageLimit && bytes + message.count <= byteLimit)
        }

        private var isHalfEmpty: Bool {
            messages == 0 || messages <= messageLimit / 2 && bytes <= byteLimit / 2
        }

        private mutating func append(_ message: [UInt8]) {
            queue.append(message)
            messages += 1
            bytes += message.count
        }
    }
}
