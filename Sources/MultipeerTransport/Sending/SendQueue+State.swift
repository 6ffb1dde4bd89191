extension SendQueue {
    enum Verdict: Sendable {
        case accepted
        case closed(Ending)
        case cancelled
    }

    struct State {
        struct Waiter: Sendable {
            let message: [UInt8]
            /// Who hears what becomes of it; nil for a message that was posted.
            let signal: Promise<Verdict>?
            /// Whether it only keeps a place, and nobody behind it passes.
            var isReserved = false
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
        /// Of the waiters, those that nobody awaits.
        var posted = Backlog()
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
                    guard ending != nil || !waiter.isReserved && fits(waiter.message) else { break }
                    if ending == nil { append(waiter.message) }
                    waiters[served] = nil
                    if waiter.signal == nil { posted.remove(waiter.message) } else { admitted.append(waiter) }
                }
                served += 1
            }
            // Many may have waited: the table for them is not kept.
            if waiters.isEmpty, waiters.capacity > 1_024 { waiters = [:] }
            return admitted
        }

        /// Returns what was accepted and never taken, posted messages included, and who waited. [msg.failed]
        mutating func close(with ending: Ending) -> ([[UInt8]], [Waiter]) {
            if self.ending == nil { self.ending = ending }
            for ticket in served..<tickets {
                guard let waiter = waiters[ticket], waiter.signal == nil, !waiter.isReserved else { continue }
                append(waiter.message)
            }
            defer {
                queue = []
                waiters = [:]
                posted = Backlog()
            }
            return (queue, waiters.sorted { $0.key < $1.key }.map(\.value))
        }

        func fits(_ message: [UInt8]) -> Bool {
            messages == 0 || (messages < messageLimit && bytes + message.count <= byteLimit)
        }

        private mutating func append(_ message: [UInt8]) {
            queue.append(message)
            messages += 1
            bytes += message.count
        }
    }
}
