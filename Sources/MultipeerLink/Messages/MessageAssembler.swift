import MultipeerFraming

/// Joins MSG_PART* MSG to one message. Spec 8.1.
///
/// ```
///   whole ──part──▶ parts ──part──▶ parts ──message──▶ whole
///     └──message──▶ whole
/// ```
struct MessageAssembler: Sendable {
    private let limit: Int
    /// The parts so far; empty while the decoder has them.
    private var parts: [UInt8] = []
    /// The number of bytes of the parts so far.
    private var count = 0
    /// The credit that the parts so far have consumed.
    private(set) var cost = 0

    /// False while another link of the session has the turn. [limit.reassembly]
    var hasTurn = true

    init(limit: Int) { self.limit = limit }

    /// How much of the message in reassembly counts as taken.
    var reassembling: Int { hasTurn ? cost : 0 }

    /// Handles a MSG_PART.
    mutating func part(_ payload: Span<UInt8>) throws(Violation) {
        try checkPart(payload.count)
        reserve(payload.count)
        parts.append(copying: payload)
        note(part: payload.count)
    }

    mutating func part(owning payload: consuming [UInt8]) throws(Violation) {
        guard cost == 0 else { return try part(payload.span) }
        try checkPart(payload.count)
        note(part: payload.count)
        parts = payload
    }

    /// Handles a MSG_PART that was stored after the others.
    mutating func part(stored bytes: consuming [UInt8], after start: Int) throws(Violation) {
        let added = bytes.count - start
        try checkPart(added)
        note(part: added)
        parts = bytes
    }

    private mutating func note(part added: Int) {
        count += added
        cost += MessageCredit.cost(added)
    }

    /// Lends the parts so far, with room for a payload that follows them; nothing if it makes the message too long.
    mutating func storage(for payload: Int) -> [UInt8] {
        guard cost > 0, payload <= limit &- count else { return [] }
        var bytes: [UInt8] = []
        swap(&bytes, &parts)
        Self.reserve(payload, in: &bytes, limit)
        return bytes
    }

    private mutating func reserve(_ added: Int) { Self.reserve(added, in: &parts, limit) }

    /// Grows by a factor of 4, up to the longest message: each growth copies everything, and memory that is not written costs
    /// nothing but addresses.
    private static func reserve(_ added: Int, in bytes: inout [UInt8], _ limit: Int) {
        let needed = bytes.count + added
        guard bytes.capacity < needed else { return }
        bytes.reserveCapacity(max(needed, min(limit, bytes.capacity * 4)))
    }

    /// Whether a MSG would be a complete message by itself.
    @inline(__always)
    var isWhole: Bool { cost == 0 }

    /// Handles a MSG, which ends the message.
    @inline(__always)
    mutating func finish(_ payload: Span<UInt8>) throws(Violation) -> IncomingMessage {
        try check(payload.count)
        let last = MessageCredit.cost(payload.count)
        if cost == 0 { return IncomingMessage([UInt8](copying: payload), cost: last) }
        return join(payload, cost: last)
    }

    mutating func finish(owning payload: consuming [UInt8]) throws(Violation) -> IncomingMessage {
        guard cost == 0 else { return try finish(payload.span) }
        try check(payload.count)
        let cost = MessageCredit.cost(payload.count)
        return IncomingMessage(payload, cost: cost)
    }

    /// Handles a MSG that was stored after the parts.
    mutating func finish(stored bytes: consuming [UInt8], after start: Int) throws(Violation)
        -> IncomingMessage
    {
        let added = bytes.count - start
        try check(added)
        return end(bytes, cost: MessageCredit.cost(added))
    }

    private mutating func join(_ payload: Span<UInt8>, cost last: Int) -> IncomingMessage {
        reserve(payload.count)
        var bytes: [UInt8] = []
        swap(&bytes, &parts)
        bytes.append(copying: payload)
        return end(bytes, cost: last)
    }

    private mutating func end(_ bytes: consuming [UInt8], cost last: Int) -> IncomingMessage {
        defer { (count, cost) = (0, 0) }
        return IncomingMessage(bytes, cost: cost + last)
    }

    private func checkPart(_ count: Int) throws(Violation) {
        guard count >= Limits.smallestPart else { throw .partTooShort(count) }  // [msg.part-size]
        try check(count)
    }

    /// Checks the size before anything is stored. [msg.max]
    @inline(__always)
    func check(_ added: Int) throws(Violation) {
        guard added <= limit &- count else { throw .messageTooLong(count + added) }
    }
}
