public import MultipeerFraming

/// Why a peer is not connected, or is not any more. Spec 14.3. [state.reason]
public struct DisconnectReason: Error, Hashable, Sendable {
    /// What happened, and whose doing it was.
    public let code: Code
    /// What was said on the wire, by either side, when something was.
    public let closeCode: CloseCode?
    /// More about it for a log, perhaps the peer's own words made fit to be shown; may be empty.
    public let detail: String
    /// What this side had accepted for sending and could not hand to the connection before the link ended. Filled in
    /// where a session tells that a peer is not connected any more; none elsewhere.
    public package(set) var undelivered: Undelivered

    /// A reason with everything that is known about it.
    public init(
        code: Code, closeCode: CloseCode? = nil, detail: String = "", undelivered: Undelivered = Undelivered()
    ) {
        self.code = code
        self.closeCode = closeCode
        self.detail = detail
        self.undelivered = undelivered
    }
}

/// Reliable messages that a link's end left behind. [msg.failed]
///
/// They were not delivered, not even the one of which a part had gone. Of those that were handed to the connection
/// nobody can know: they may have arrived or not.
public struct Undelivered: Hashable, Sendable {
    /// How many messages.
    public let messages: Int
    /// Their bytes together.
    public let bytes: Int

    /// So many messages, of so many bytes; none, unless said.
    public init(messages: Int = 0, bytes: Int = 0) {
        self.messages = messages
        self.bytes = bytes
    }

    /// What waited in two places.
    package static func += (one: inout Undelivered, other: Undelivered) {
        one = Undelivered(messages: one.messages + other.messages, bytes: one.bytes + other.bytes)
    }
}

extension DisconnectReason {
    /// The kind of a reason. More may be added: handle the ones you do not know like `internal`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The reason in words, in lower case.
        public let rawValue: String
        /// A code with those words.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The peer left the session.
        public static let goodbye = Code(rawValue: "the peer left")
        /// This session was left.
        public static let left = Code(rawValue: "this session was left")
        /// The application gave up connecting.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The peer did not answer in time.
        public static let timedOut = Code(rawValue: "the peer did not answer in time")
        /// The connection ended without a farewell.
        public static let lost = Code(rawValue: "the connection was lost")
        /// A session has no seat left.
        public static let full = Code(rawValue: "the session is full")
        /// One side encrypts always and the other never, or a key is not the one that was announced.
        public static let policy = Code(rawValue: "encryption or identity do not agree")
        /// An application refused the other's certificate.
        public static let rejected = Code(rawValue: "the certificate was rejected")
        /// There is no common version of the protocol.
        public static let version = Code(rawValue: "no common version of the protocol")
        /// The peer is linked under another session object, or occupied.
        public static let busy = Code(rawValue: "the peer is busy")
        /// The peer does not expect this one, or the connection data is for another.
        public static let unknownPeer = Code(rawValue: "not expected by the peer")
        /// The connection data is the session's own.
        public static let selfConnection = Code(rawValue: "the peer is this session itself")
        /// The peer broke the protocol.
        public static let protocolViolation = Code(rawValue: "the peer broke the protocol")
        /// The peer ended the link with some other code.
        public static let closedByPeer = Code(rawValue: "the peer closed the link")
        /// This side ended the link with some other code.
        public static let closed = Code(rawValue: "the link was closed")
        /// A newer connection to the same peer took over.
        public static let superseded = Code(rawValue: "a newer connection took over")
        /// No way leads to the peer any more in the mesh that it was in.
        public static let gone = Code(rawValue: "the peer is no longer in the mesh")
        /// Something failed that is nobody's doing.
        public static let `internal` = Code(rawValue: "internal failure")
    }
}

extension DisconnectReason: CustomStringConvertible {
    /// One line in lower case.
    public var description: String {
        let words = closeCode.map { "\(code.rawValue) (\($0))" } ?? code.rawValue
        let whole = detail.isEmpty ? words : "\(words): \(detail)"
        return undelivered.messages == 0 ? whole : "\(whole); \(undelivered) not sent"
    }
}

extension Undelivered: CustomStringConvertible {
    /// For example "1 message (5 bytes)".
    public var description: String {
        "\(messages) message\(messages == 1 ? "" : "s") (\(bytes) byte\(bytes == 1 ? "" : "s"))"
    }
}

extension DisconnectReason.Code: CustomStringConvertible {
    /// The reason in words, in lower case.
    public var description: String { rawValue }
}
