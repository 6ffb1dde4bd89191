import MultipeerFraming

/// Flow control of messages: an absolute limit, set by the receiver, on the total credit consumed since the link began.
/// Spec 8.3.
package enum MessageCredit {
    /// Returns the credit that one MSG or MSG_PART with this many bytes of payload consumes. [msg.cost]
    @inline(__always)
    package static func cost(_ payload: Int) -> Int { payload &+ Limits.messageOverhead }
}

extension MessageCredit {
    /// The sender's side: how much of the peer's credit is left.
    ///
    /// Invariant: `spent <= limit`. The limit comes from the peer, so nothing is ever added to it.
    package struct SendWindow: Sendable {
        private var limit: UInt64
        private var spent: UInt64 = 0

        package init(limit: UInt64) { self.limit = limit }

        package var left: Int { Int(clamping: limit - spent) }

        package mutating func spend(_ cost: Int) {
            precondition(cost >= 0 && cost <= left, "spending more than there is")  // [msg.credit-limit]
            spent += UInt64(cost)
        }

        package mutating func raise(to limit: UInt64) throws(Violation) {
            guard limit > self.limit else { throw .creditDidNotGrow(limit) }  // [msg.credit-grow]
            self.limit = limit
        }
    }

    /// The receiver's side: how much the peer may spend.
    ///
    /// Invariant: `spent <= granted`, and `granted` is at most what the application has taken, plus the message in
    /// reassembly, plus the window. Therefore what is held for one peer never exceeds the window and one message.
    struct ReceiveWindow: Sendable {
        private let window: Int
        private var granted: Int
        private(set) var spent = 0
        private var taken = 0

        init(window: Int) {
            self.window = window
            granted = window
        }

        @inline(__always)
        mutating func consume(_ cost: Int) throws(Violation) {
            // Cannot overflow: a frame's cost is small, and `spent` is real traffic. [msg.credit-limit]
            let total = spent &+ cost
            guard total <= granted else { throw .beyondMessageCredit(by: total - granted) }
            spent = total
        }

        /// Counts complete messages of this cost that the application has taken. [msg.credit-return]
        mutating func take(_ cost: Int) {
            precondition(cost >= 0 && cost <= spent - taken, "more was taken than has arrived")
            taken += cost
        }

        /// Returns the limit to announce, once it has grown by a quarter of the window. [msg.credit-return]
        func due(reassembling: Int) -> UInt64? {
            let limit = taken + reassembling + window
            let step = max(window / 4, 1)
            return limit - granted >= step ? UInt64(limit) : nil
        }

        /// What was received and not taken, including the message in reassembly.
        var untaken: Int { spent - taken }

        /// The credit that the peer has left.
        var left: Int { granted - spent }

        /// Whether more than the window was granted for a message in reassembly, and not all of it is taken yet.
        var isBeyondWindow: Bool { granted > taken + window }

        /// Returns whether a partially received message may be longer than the window. With half the window or less in
        /// reassembly there are other messages to take, which makes room.
        func mayNeedMore(for reassembling: Int) -> Bool { reassembling > window / 2 }

        /// Notes that the CREDIT with this limit was sent.
        mutating func announced(_ limit: UInt64) { granted = Int(clamping: limit) }
    }
}
