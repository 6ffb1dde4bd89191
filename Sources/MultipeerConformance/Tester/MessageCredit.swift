/// The message credit of both ends of a link. Spec 8.3.
struct MessageCredit {
    /// What the subject allows the tester to spend, and what was spent.
    private(set) var limit: UInt64 = 0
    private(set) var spent: UInt64 = 0
    /// What the subject has spent, and how much the tester has allowed it.
    private var received: UInt64 = 0
    private var granted: UInt64
    /// What the tester's HELLO grants.
    private let window: UInt64

    init(window: UInt64) {
        self.window = window
        granted = window
    }

    /// What may still be spent on messages.
    var room: UInt64 { limit > spent ? limit - spent : 0 }

    /// Sets the credit that the subject's HELLO grants.
    mutating func begin(_ limit: UInt64) { self.limit = limit }

    /// Handles CREDIT of the subject.
    mutating func raise(_ limit: UInt64) { self.limit = max(self.limit, limit) }

    mutating func spend(_ cost: UInt64) { spent += cost }

    mutating func receive(_ cost: UInt64) { received += cost }

    /// Returns the limit for CREDIT, if it is worth a frame: a quarter of what HELLO granted.
    mutating func nextGrant() -> UInt64? {
        guard received > 0, received + window >= granted + max(1, window / 4) else { return nil }
        granted = received + window
        return granted
    }
}
