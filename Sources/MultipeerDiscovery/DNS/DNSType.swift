/// The type of a question or a record. RFC 1035, 3.2.2.
package struct DNSType: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let a = DNSType(rawValue: 1)
    package static let ptr = DNSType(rawValue: 12)
    package static let txt = DNSType(rawValue: 16)
    package static let aaaa = DNSType(rawValue: 28)
    package static let srv = DNSType(rawValue: 33)
    package static let nsec = DNSType(rawValue: 47)
    /// Only in questions: every type.
    package static let any = DNSType(rawValue: 255)

    package static func < (one: DNSType, other: DNSType) -> Bool { one.rawValue < other.rawValue }
}
