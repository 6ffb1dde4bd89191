import MultipeerCore

/// Flow control of one stream or resource: an absolute limit, set by the receiver, on the total payload of DATA since
/// OPEN. Spec 9.3.
enum ChannelCredit {
    /// The opener's side.
    ///
    /// Invariant: `sent <= limit`.
    struct SendWindow: Sendable {
        private var limit: UInt64
        private var sent: UInt64 = 0

        init(limit: UInt32) { self.limit = UInt64(limit) }

        var left: Int { Int(clamping: limit - sent) }

        mutating func spend(_ count: Int) {
            precondition(count >= 0 && count <= left, "sending more than there is credit for")
            sent += UInt64(count)
        }

        mutating func raise(to limit: UInt64) throws(Violation) {
            guard limit > self.limit else { throw .creditDidNotGrow(limit) }  // [channel.credit-grow]
            self.limit = limit
        }
    }

    /// The receiver's side.
    ///
    /// The window begins with the `channel_credit` of the HELLO, and may grow.
    ///
    /// Invariant: `taken <= received <= granted <= taken + window`, so at most the window is ever held.
    struct ReceiveWindow: Sendable {
        private let initial: Int
        private(set) var window: Int
        private var granted: Int
        private var received = 0
        private var taken = 0
        /// Where the present measurement of the application's rate began.
        private var measuredFrom: (time: Moment, taken: Int)?

        init(window: UInt32) {
            initial = Int(window)
            self.window = initial
            granted = initial
        }

        /// The number of bytes received and not yet taken.
        var unread: Int { received - taken }

        /// Counts received bytes; returns false when they exceed what was granted.
        mutating func receive(_ count: Int) -> Bool {
            guard count <= granted - received else { return false }  // [channel.credit-limit]
            received += count
            return true
        }

        /// Counts bytes that the application has taken.
        mutating func take(_ count: Int) {
            precondition(count >= 0 && count <= unread, "more was taken than has arrived")
            taken += count
        }

        /// Returns how long the application needed to take a whole window, each time it has.
        mutating func timeOfWindow(at now: Moment) -> Duration? {
            guard let start = measuredFrom, taken - start.taken < window else {
                defer { measuredFrom = (now, taken) }
                return measuredFrom.map { now - $0.time }
            }
            return nil
        }

        mutating func grow(by count: Int) { window += count }

        /// Gives up what the window has grown by, when no more credit follows; returns how much that was.
        mutating func shrink() -> Int {
            defer { window = initial }
            return window - initial
        }

        /// The limit to announce, once it has grown by a quarter of the window.
        var due: UInt64? {  // [channel.credit-return]
            let limit = taken + window
            return limit - granted >= max(window / 4, 1) ? UInt64(limit) : nil
        }

        /// Notes that the CREDIT with this limit was sent.
        mutating func announced(_ limit: UInt64) { granted = Int(clamping: limit) }
    }
}
