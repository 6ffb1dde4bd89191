import MultipeerCore

/// Whether the session leaves, and how far it is.
///
/// ```
/// staying ──leave──▶ draining ──its moment──▶ closing
///    ▲ └──too many members──────────────────────▲ │ no connection remains: also from draining
///    └──────────restart────────── left ◀──────────┘
/// ```
enum ShutdownPhase: Equatable {
    case staying
    /// Links drain until that moment.
    case draining(until: Moment)
    /// Every link has ended; connections are closing.
    case closing
    /// The owner knows.
    case left

    /// When links have drained for long enough.
    var deadline: Moment? { if case .draining(let until) = self { until } else { nil } }

    /// Links drain until `end` at most, or until an earlier moment that was set before.
    mutating func drain(until end: Moment) {
        switch self {
        case .staying: self = .draining(until: end)
        case .draining(let until): self = .draining(until: min(until, end))
        case .closing, .left: break
        }
    }
}
