import MultipeerFraming

/// Joins MSG_PART* MSG to one message. Spec 8.1.
///
/// ```
///   whole ──part──▶ parts ──part──▶ parts ──message──▶ whole
///     └──message──▶ whole
/// ```
struct MessageAssembler: Sendable {
    private let limit: Int
    private var parts: [UInt8] = []
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
        parts.append(copying: payload)
        cost += MessageCredit.cost(payload.count)
    }

    mutating func part(owning payload: consuming [UInt8]) throws(Violation) {
        guard cost == 0 else { return try part(payload.span) }
        try checkPart(payload.count)
        cost = MessageCredit.cost(payload.count)
        parts = payload
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

    private mutating func join(_ payload: Span<UInt8>, cost last: Int) -> IncomingMessage {
        var bytes: [UInt8] = []
        swap(&bytes, &parts)
        bytes.append(copying: payload)
        defer { cost = 0 }
        return IncomingMessage(bytes, cost: cost + last)
    }

    private func checkPart(_ count: Int) throws(Violation) {
        guard count >= Limits.smallestPart else { throw .partTooShort(count) }  // [msg.part-size]
        try check(count)
    }

    /// Checks the size before anything is stored. [msg.max]
    @inline(__always)
    func check(_ count: Int) throws(Violation) {
        guard count <= limit &- parts.count else { throw .messageTooLong(parts.count + count) }
    }
}
