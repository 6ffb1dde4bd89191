public import MultipeerFraming

/// Why a peer is not connected, or no longer connected. Spec 14.3. [state.reason]
public struct DisconnectReason: Error, Hashable, Sendable {
    /// What happened, and which side caused it.
    public let code: Code
    /// The code that either side sent, if any.
    public let closeCode: CloseCode?
    /// Details for a log, possibly the peer's own text, sanitised for display; may be empty.
    public let detail: String
    /// What this side had accepted for sending and could not pass to the connection before the link ended. Set when
    /// a session reports that a peer is no longer connected; empty elsewhere.
    public package(set) var undelivered: DisconnectReason.Undelivered

    /// Creates a reason from its parts.
    public init(
        code: Code, closeCode: CloseCode? = nil, detail: String = "",
        undelivered: DisconnectReason.Undelivered = DisconnectReason.Undelivered()
    ) {
        self.code = code
        self.closeCode = closeCode
        self.detail = detail
        self.undelivered = undelivered
    }
}

extension DisconnectReason {
    /// Reliable messages that were not sent before a link ended. [msg.failed]
    ///
    /// They were not delivered, including a partially written one. For messages that were passed to the connection it is
    /// unknown whether they arrived.
    public struct Undelivered: Hashable, Sendable {
        /// The number of messages.
        public let messages: Int
        /// Their total size in bytes.
        public let bytes: Int

        /// Creates a count of messages and bytes; default 0.
        public init(messages: Int = 0, bytes: Int = 0) {
            self.messages = messages
            self.bytes = bytes
        }

        /// Adds the counts of another queue.
        package static func += (one: inout DisconnectReason.Undelivered, other: DisconnectReason.Undelivered)
        {
            one = DisconnectReason.Undelivered(
                messages: one.messages + other.messages, bytes: one.bytes + other.bytes)
        }
    }
}

extension DisconnectReason {
    /// The kind of a reason. More may be added: handle unknown ones like `internal`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The reason in words, in lower case.
        public let rawValue: String
        /// Creates a code with those words.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The peer left the session.
        public static let goodbye = Code(rawValue: "the peer left")
        /// The local application left this session.
        public static let left = Code(rawValue: "this session was left")
        /// The application cancelled connecting.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The peer did not respond in time.
        public static let timedOut = Code(rawValue: "the peer did not respond in time")
        /// The connection ended without a CLOSE.
        public static let lost = Code(rawValue: "the connection was lost")
        /// A session has no room left.
        public static let full = Code(rawValue: "the session is full")
        /// One side requires encryption and the other never encrypts, or a key is not the one that was announced.
        public static let policy = Code(rawValue: "encryption or identity do not agree")
        /// An application refused the other's certificate.
        public static let rejected = Code(rawValue: "the certificate was rejected")
        /// A user said that the verification codes differ.
        public static let codesDiffer = Code(rawValue: "the verification codes differ")
        /// There is no common version of the protocol.
        public static let version = Code(rawValue: "no common version of the protocol")
        /// The peer is linked under another session object, or busy.
        public static let busy = Code(rawValue: "the peer is busy")
        /// The peer does not expect this one, or the connection data is for another.
        public static let unknownPeer = Code(rawValue: "not expected by the peer")
        /// The connection data is the session's own.
        public static let selfConnection = Code(rawValue: "the peer is this session itself")
        /// The peer violated the protocol.
        public static let protocolViolation = Code(rawValue: "the peer broke the protocol")
        /// The peer ended the link with some other code.
        public static let closedByPeer = Code(rawValue: "the peer closed the link")
        /// This side ended the link with some other code.
        public static let closed = Code(rawValue: "the link was closed")
        /// A newer connection to the same peer replaced the link.
        public static let superseded = Code(rawValue: "a newer connection took over")
        /// The peer can no longer be reached in the mesh that it was in.
        public static let gone = Code(rawValue: "the peer is no longer in the mesh")
        /// Something failed that neither side caused.
        public static let `internal` = Code(rawValue: "internal failure")
    }
}

extension DisconnectReason: CustomStringConvertible {
    /// One line in lower case.
    public var description: String {
        let words = closeCode.map { "\(code.rawValue) (\($0))" } ?? code.rawValue
        let whole = detail.isEmpty ? words : "\(words): \(detail)"
        guard undelivered.messages > 0 else { return whole }
        return "\(whole); \(undelivered) not sent, and the last ones before may not have arrived"
    }
}

extension DisconnectReason.Undelivered: CustomStringConvertible {
    /// For example "1 message (5 bytes)".
    public var description: String {
        "\(messages) message\(messages == 1 ? "" : "s") (\(bytes) byte\(bytes == 1 ? "" : "s"))"
    }
}

extension DisconnectReason.Code: CustomStringConvertible {
    /// The reason in words, in lower case.
    public var description: String { rawValue }
}
