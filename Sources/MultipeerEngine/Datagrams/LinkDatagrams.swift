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

// MARK: - Each datagram

// One access to the state of a link for each datagram: it is a property of an object, where Swift checks each at run time.
extension LinkDatagrams {
    /// Returns whether a datagram with this header is for the path in its current state. [dgram.drop]
    func admits(_ header: DatagramHeader) -> Bool {
        switch path {
        case .some(let path): path.admits(header)
        case .none: false
        }
    }

    /// Handles a content. `isDue`: the path has actions, and had none before.
    mutating func receive(
        _ content: Span<UInt8>, at now: Moment
    ) -> (verdict: DatagramPath.Verdict, isDue: Bool) {
        guard var verdict = path?.receive(content, at: now) else { return (.dropped, false) }
        if verdict.isMessage {
            let cost = MessageCredit.cost(content.count - ContentHeader.byteCount)
            if unread + cost <= LinkDatagrams.mostUnread {  // [limit.datagrams]
                unread += cost
                received += 1
            } else {
                overflowed += 1
                verdict.isMessage = false
            }
        }
        return (verdict, becomesDue())
    }

    /// Appends the content that carries a message; returns false when the path cannot carry it now. [dgram.fallback]
    mutating func encode(_ message: Span<UInt8>, into content: inout ByteBuffer, at now: Moment) -> Bool {
        let isEncoded = path?.inPlace { path in
            guard path.canCarry(message.count) else { return false }
            path.encode(message, into: &content, at: now)
            return true
        }
        guard isEncoded == true else { return false }
        sent += 1
        return true
    }

    /// Returns whether the path has actions to take, and had none before.
    mutating func becomesDue() -> Bool {
        guard !isDue, path?.inPlace({ $0.hasActions }) == true else { return false }
        isDue = true
        return true
    }
}

extension DatagramPath {
    /// Calls `body` on the path in place: a call that only reads would otherwise copy the path out of its
    /// optional first.
    mutating func inPlace<Result>(_ body: (inout DatagramPath) -> Result) -> Result {
        body(&self)
    }
}
