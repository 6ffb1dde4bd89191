import MultipeerCore
import MultipeerHandshake

/// Identifies one call of the application that waits for a link. An engine never reuses a number.
package struct ConnectRequestID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// A call of the application that waits for a link, until it has its outcome.
///
/// ```
/// connection data:               ┌──▶ connecting ──linked, refused, deadline──▶ (outcome)
/// invitation: agreeing ──agreed──┘        └──the session leaves──▶ (outcome: left)
///                └──ended elsewhere, the session leaves──▶ (ended by its owner)
/// ```
struct ConnectRequest {
    let uid: UID
    /// Whether it is an invitation. Several invitations may wait for one peer: the last one that stops waiting ends the
    /// attempt. Cancelling a call with connection data ends the attempt for every call.
    let isInvitation: Bool
    var stage: Stage
    /// Whether a state of the peer was reported to the application meanwhile.
    var isTold = false
    /// Whether the session left before the invitation was agreed on.
    var isAbandoned = false

    enum Stage {
        /// An invitation on which the two peers have not agreed.
        case agreeing
        case connecting(Attempt)
        /// The outcome is known.
        case over
    }

    struct Attempt {
        let data: ConnectionData
        let end: Moment
        /// Whether this request began the attempt; otherwise it joined one.
        let isOwn: Bool

        /// The time at which the call stops waiting in any case: a little later than the attempt should end by itself,
        /// because its own reason is more informative.
        var deadline: Moment { end + .milliseconds(250) }
    }

    var attempt: Attempt? { if case .connecting(let attempt) = stage { attempt } else { nil } }
    /// Whether it keeps an attempt going.
    var isWaiting: Bool { if case .over = stage { false } else { !isAbandoned } }
}
