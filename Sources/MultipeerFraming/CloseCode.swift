/// Why a link or a channel ended, as it travels in CLOSE, RESET, STOP, DONE and ANSWER. Spec 16.
public struct CloseCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let ok = CloseCode(rawValue: 0)
    public static let goodbye = CloseCode(rawValue: 1)
    public static let protocolError = CloseCode(rawValue: 2)
    public static let timeout = CloseCode(rawValue: 3)
    public static let full = CloseCode(rawValue: 4)
    public static let policy = CloseCode(rawValue: 5)
    public static let unknownPeer = CloseCode(rawValue: 6)
    public static let duplicate = CloseCode(rawValue: 7)
    public static let busy = CloseCode(rawValue: 8)
    public static let itself = CloseCode(rawValue: 9)
    public static let badMAC = CloseCode(rawValue: 10)
    public static let rejected = CloseCode(rawValue: 11)
    public static let tooLarge = CloseCode(rawValue: 12)
    public static let flow = CloseCode(rawValue: 13)
    public static let flood = CloseCode(rawValue: 14)
    public static let version = CloseCode(rawValue: 15)
    public static let cancelled = CloseCode(rawValue: 16)
    public static let `internal` = CloseCode(rawValue: 17)
    public static let digest = CloseCode(rawValue: 18)
    public static let noSpace = CloseCode(rawValue: 19)
    public static let declined = CloseCode(rawValue: 20)
}
