import MultipeerCore

/// The phase of a session that leaves.
///
/// ```
/// staying ──leave──▶ draining ───deadline───▶ closing
///    ▲ └──too many members──────────────────────▲ │ no connection remains: also from draining
///    └──────────restart────────── left ◀──────────┘
/// ```
enum ShutdownPhase: Equatable {
    case staying
    /// Links drain until that time.
    case draining(until: Moment)
    /// Every link has ended; connections are closing.
    case closing
    /// The owner was notified.
    case left

    /// The time at which draining ends.
    var deadline: Moment? { if case .draining(let until) = self { until } else { nil } }

    /// Drains links until `end` at most, or until an earlier time that was set before.
    mutating func drain(until end: Moment) {
        switch self {
        case .staying: self = .draining(until: end)
        case .draining(let until): self = .draining(until: min(until, end))
        case .closing, .left: break
        }
    }
}
