/// What a record says, by its type. Spec 12.3.
package enum DNSData: Hashable, Sendable {
    /// An IPv4 address: 4 bytes.
    case a([UInt8])
    /// An IPv6 address: 16 bytes.
    case aaaa([UInt8])
    case ptr(DNSName)
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
    /// Strings of 0 to 255 bytes, each behind its length; whether they are well-formed is for the reader to find out.
    case txt([UInt8])
    /// The types below 256 that exist, in ascending order. RFC 6762, 6.1.
    case nsec(next: DNSName, types: [UInt16])
    /// A type that means nothing here, and its bytes as they came.
    case other(type: UInt16, [UInt8])

    package var type: DNSType {
        switch self {
        case .a: .a
        case .aaaa: .aaaa
        case .ptr: .ptr
        case .srv: .srv
        case .txt: .txt
        case .nsec: .nsec
        case .other(let type, _): DNSType(rawValue: type)
        }
    }
}
