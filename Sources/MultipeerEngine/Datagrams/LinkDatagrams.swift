import MultipeerCore
import MultipeerFraming
import MultipeerLink

/// What the engine knows of the unreliable messages of one link.
///
/// ```
///            the peer's data has DATAGRAMS              a port
///   without ───────────────────────────────▶ opening ──────────▶ with a path
///      ▲                                         │
///      └──────────────── no port ────────────────┘
/// ```
struct LinkDatagrams {
    /// Nil while the link has none.
    var path: DatagramPath?
    /// The owner was asked for a port.
    var isOpening = false
    /// The peer's offer came before the port did.
    var early: DatagramOffer?
    /// The peer was told that this side takes no part, or will be.
    var hasDeclined = false
    /// The path's decisions are due to become outputs.
    var isDue = false
    /// What messages have cost that the application has not taken.
    var unread = 0
    var sent = 0
    var received = 0
    /// Messages that found too much unread.
    var overflowed = 0

    /// What one peer's unreliable messages may cost until the application takes them; what comes beyond is lost.
    /// [limit.datagrams]
    static let mostUnread = 1_048_576

    var deadline: Moment? { mutating get { path?.inPlace { $0.deadline } } }
}

extension DatagramPath {
    /// A call that only reads would copy the path out of its optional first.
    mutating func inPlace<Result>(_ body: (inout DatagramPath) -> Result) -> Result {
        body(&self)
    }
}
