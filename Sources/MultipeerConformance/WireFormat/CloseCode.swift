/// Why something ended. Spec 16.2.
struct CloseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt16
    init(rawValue: UInt16) { self.rawValue = rawValue }

    static let names = [
        "OK", "GOODBYE", "PROTOCOL", "TIMEOUT", "FULL", "POLICY", "UNKNOWN_PEER", "DUPLICATE", "BUSY", "SELF",
        "BAD_MAC", "REJECTED", "TOO_LARGE", "FLOW", "FLOOD", "VERSION", "CANCELLED", "INTERNAL", "DIGEST",
        "NO_SPACE", "DECLINED", "WRONG_CODE", "CODE_REQUIRED", "TOO_MANY_FILES",
    ]

    static let ok = CloseCode(rawValue: 0)
    static let goodbye = CloseCode(rawValue: 1)
    static let `protocol` = CloseCode(rawValue: 2)
    static let timeout = CloseCode(rawValue: 3)
    static let full = CloseCode(rawValue: 4)
    static let policy = CloseCode(rawValue: 5)
    static let unknownPeer = CloseCode(rawValue: 6)
    static let duplicate = CloseCode(rawValue: 7)
    static let busy = CloseCode(rawValue: 8)
    static let itself = CloseCode(rawValue: 9)
    static let badMAC = CloseCode(rawValue: 10)
    static let rejected = CloseCode(rawValue: 11)
    static let tooLarge = CloseCode(rawValue: 12)
    static let flow = CloseCode(rawValue: 13)
    static let flood = CloseCode(rawValue: 14)
    static let version = CloseCode(rawValue: 15)
    static let cancelled = CloseCode(rawValue: 16)
    static let `internal` = CloseCode(rawValue: 17)
    static let digest = CloseCode(rawValue: 18)
    static let noSpace = CloseCode(rawValue: 19)
    static let declined = CloseCode(rawValue: 20)
    static let wrongCode = CloseCode(rawValue: 21)
    static let codeRequired = CloseCode(rawValue: 22)
    static let tooManyFiles = CloseCode(rawValue: 23)

    /// Creates the code with this name, as the shim uses it.
    init?(named name: String) {
        guard let number = CloseCode.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: UInt16(number))
    }

    var description: String {
        Int(rawValue) < CloseCode.names.count ? CloseCode.names[Int(rawValue)] : "code \(rawValue)"
    }
}

extension [CloseCode] {
    /// The codes as a text.
    var words: String { map(\.description).joined(separator: " or ") }
}
