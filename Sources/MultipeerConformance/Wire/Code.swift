/// Why something ended. Spec 16.2.
struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt16
    init(rawValue: UInt16) { self.rawValue = rawValue }

    static let names = [
        "OK", "GOODBYE", "PROTOCOL", "TIMEOUT", "FULL", "POLICY", "UNKNOWN_PEER", "DUPLICATE", "BUSY", "SELF",
        "BAD_MAC", "REJECTED", "TOO_LARGE", "FLOW", "FLOOD", "VERSION", "CANCELLED", "INTERNAL", "DIGEST",
        "NO_SPACE", "DECLINED",
    ]

    static let ok = Code(rawValue: 0)
    static let goodbye = Code(rawValue: 1)
    static let `protocol` = Code(rawValue: 2)
    static let timeout = Code(rawValue: 3)
    static let full = Code(rawValue: 4)
    static let policy = Code(rawValue: 5)
    static let unknownPeer = Code(rawValue: 6)
    static let duplicate = Code(rawValue: 7)
    static let busy = Code(rawValue: 8)
    static let itself = Code(rawValue: 9)
    static let badMAC = Code(rawValue: 10)
    static let rejected = Code(rawValue: 11)
    static let tooLarge = Code(rawValue: 12)
    static let flow = Code(rawValue: 13)
    static let flood = Code(rawValue: 14)
    static let version = Code(rawValue: 15)
    static let cancelled = Code(rawValue: 16)
    static let `internal` = Code(rawValue: 17)
    static let digest = Code(rawValue: 18)
    static let noSpace = Code(rawValue: 19)
    static let declined = Code(rawValue: 20)

    /// The code with this name, as the shim says it.
    init?(named name: String) {
        guard let number = Code.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: UInt16(number))
    }

    var description: String {
        Int(rawValue) < Code.names.count ? Code.names[Int(rawValue)] : "code \(rawValue)"
    }
}

extension [Code] {
    /// The codes as a person would say them.
    var words: String { map(\.description).joined(separator: " or ") }
}
