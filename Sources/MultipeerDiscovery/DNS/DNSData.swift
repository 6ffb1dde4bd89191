/// The data of a record, by its type. Spec 12.3.
package enum DNSData: Hashable, Sendable {
    /// An IPv4 address: 4 bytes.
    case a([UInt8])
    /// An IPv6 address: 16 bytes.
    case aaaa([UInt8])
    case ptr(DNSName)
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
    /// Strings of 0 to 255 bytes, each preceded by its length; the reader has to check that they are well-formed.
    case txt([UInt8])
    /// The existing types below 256, in ascending order. RFC 6762, 6.1.
    case nsec(next: DNSName, types: [UInt16])
    /// A type that is not used here, and its bytes as received.
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
