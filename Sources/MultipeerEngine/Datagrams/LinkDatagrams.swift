import MultipeerCore
import MultipeerFraming
import MultipeerLink

/// The engine's state of the unreliable messages of one link.
///
/// ```
///            the peer's data has DATAGRAMS              a port
///   without ───────────────────────────────▶ opening ──────────▶ with a path
///      ▲                                         │
///      └──────────────── no port ────────────────┘
/// ```
struct LinkDatagrams {
    /// The path; nil while the link has none.
    var path: DatagramPath?
    /// Whether the owner was asked for a port.
    var isOpening = false
    /// The peer's offer, if it arrived before the port was known.
    var early: DatagramOffer?
    /// Whether the peer was notified that this side accepts no datagrams, or will be.
    var hasDeclined = false
    /// Whether the path's actions are due to become outputs.
    var isDue = false
    /// The cost of the messages that the application has not taken.
    var unread = 0
    var sent = 0
    var received = 0
    /// The number of messages dropped because too much was unread.
    var overflowed = 0

    /// The maximum cost of one peer's unreliable messages that the application has not taken; further ones are
    /// lost. [limit.datagrams]
    static let mostUnread = 1_048_576

    var deadline: Moment? { mutating get { path?.inPlace { $0.deadline } } }
}

extension DatagramPath {
    /// Calls `body` on the path in place: a call that only reads would otherwise copy the path out of its
    /// optional first.
    mutating func inPlace<Result>(_ body: (inout DatagramPath) -> Result) -> Result {
        body(&self)
    }
}
