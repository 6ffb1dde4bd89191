/// The reason why a link or a channel ended, as sent in CLOSE, RESET, STOP, DONE and ANSWER. Spec 16.
public struct CloseCode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt16
    /// Creates a code with that number, which need not be one of those below.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No error.
    public static let ok = CloseCode(rawValue: 0)
    /// The other side left the session.
    public static let goodbye = CloseCode(rawValue: 1)
    /// One side broke the protocol.
    public static let protocolError = CloseCode(rawValue: 2)
    /// The other side waited too long for something.
    public static let timeout = CloseCode(rawValue: 3)
    /// The session has no room for another peer.
    public static let full = CloseCode(rawValue: 4)
    /// The two sides do not agree on encryption or on who they are.
    public static let policy = CloseCode(rawValue: 5)
    /// The other side does not expect this peer.
    public static let unknownPeer = CloseCode(rawValue: 6)
    /// Another connection to the same peer was chosen.
    public static let duplicate = CloseCode(rawValue: 7)
    /// The other side cannot proceed at the moment; a later attempt may succeed.
    public static let busy = CloseCode(rawValue: 8)
    /// The peer is the session itself.
    public static let itself = CloseCode(rawValue: 9)
    /// The proof of the tokens was wrong.
    public static let badMAC = CloseCode(rawValue: 10)
    /// The application refused the peer's certificate.
    public static let rejected = CloseCode(rawValue: 11)
    /// A message was longer than the receiver accepts.
    public static let tooLarge = CloseCode(rawValue: 12)
    /// More was sent than the receiver gave credit for.
    public static let flow = CloseCode(rawValue: 13)
    /// More was sent than a well-behaved peer ever sends.
    public static let flood = CloseCode(rawValue: 14)
    /// There is no common version of the protocol.
    public static let version = CloseCode(rawValue: 15)
    /// The application cancelled.
    public static let cancelled = CloseCode(rawValue: 16)
    /// Something failed that the other side did not cause.
    public static let `internal` = CloseCode(rawValue: 17)
    /// The size or digest of a resource differs from what was announced.
    public static let digest = CloseCode(rawValue: 18)
    /// The receiver has no space to store a resource.
    public static let noSpace = CloseCode(rawValue: 19)
    /// The invitee declined.
    public static let declined = CloseCode(rawValue: 20)
    /// The codes of the two users do not match, or the code of an invitation is wrong, was used, or has ended.
    public static let wrongCode = CloseCode(rawValue: 21)
    /// The invitee has a code, and the inviter has not proven it.
    public static let codeRequired = CloseCode(rawValue: 22)
    /// The other side has too many open files.
    public static let tooManyFiles = CloseCode(rawValue: 23)
}

extension CloseCode: CustomStringConvertible {
    /// The code's name in the specification; INTERNAL for a code that the specification does not define.
    public var name: String { isKnown ? CloseCode.names[Int(rawValue)] : CloseCode.internal.name }

    /// The name, followed by the number when the code is unknown.
    public var description: String { isKnown ? name : "\(name) (\(rawValue))" }

    /// The code itself if the specification defines it, otherwise INTERNAL: unknown codes must be read as
    /// such.
    public var known: CloseCode { isKnown ? self : .internal }  // [code.unknown]

    private var isKnown: Bool { Int(rawValue) < CloseCode.names.count }

    /// In the order of the numbers.
    private static let names = [
        "OK", "GOODBYE", "PROTOCOL", "TIMEOUT", "FULL", "POLICY", "UNKNOWN_PEER", "DUPLICATE", "BUSY", "SELF",
        "BAD_MAC", "REJECTED", "TOO_LARGE", "FLOW", "FLOOD", "VERSION", "CANCELLED", "INTERNAL", "DIGEST",
        "NO_SPACE", "DECLINED", "WRONG_CODE", "CODE_REQUIRED", "TOO_MANY_FILES",
    ]
}
