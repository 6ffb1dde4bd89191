/// Where an address leads, for the rule about redirections: a web server must not make this process fetch what only this machine or
/// its network can reach.
package enum AddressScope: Hashable, Sendable {
    case global
    /// RFC 1918, RFC 6598, RFC 4193, and what is reserved for benchmarks and protocols.
    case local
    case linkLocal
    case loopback
    /// Unspecified, multicast, broadcast or reserved: never the address of a server.
    case unusable

    /// `address`: 4 or 16 bytes.
    package init(_ address: [UInt8]) {
        switch address.count {
        case 4: self = AddressScope.ofVersion4(address)
        case 16: self = AddressScope.ofVersion6(address)
        default: self = .unusable
        }
    }

    /// Whether a server whose addresses have the scopes `former` may redirect here: to any global address, and to another one only
    /// from the same scope.
    package func isReachable(from former: Set<AddressScope>) -> Bool {
        switch self {
        case .global: true
        case .local, .linkLocal, .loopback: former == [self]
        case .unusable: false
        }
    }

    private static func ofVersion4(_ bytes: [UInt8]) -> AddressScope {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (224...255, _, _): .unusable
        case (127, _, _): .loopback
        case (169, 254, _): .linkLocal
        case (10, _, _), (172, 16...31, _), (192, 168, _), (100, 64...127, _), (198, 18...19, _), (192, 0, 0):
            .local
        default: .global
        }
    }

    private static func ofVersion6(_ bytes: [UInt8]) -> AddressScope {
        switch (bytes[0], bytes[1]) {
        case (0xFF, _): return .unusable
        case (0xFE, 0x80...0xBF): return .linkLocal
        case (0xFE, 0xC0...0xFF), (0xFC...0xFD, _): return .local
        default: break
        }
        if bytes.dropLast().allSatisfy({ $0 == 0 }), bytes[15] < 2 {
            return bytes[15] == 0 ? .unusable : .loopback
        }
        return embedded(bytes).map(AddressScope.init) ?? .global
    }

    /// Returns the IPv4 address that an IPv6 address leads to: mapped (::ffff:0:0/96), compatible (::/96), NAT64 (64:ff9b::/96 and
    /// 64:ff9b:1::/48) and 6to4 (2002::/16).
    private static func embedded(_ bytes: [UInt8]) -> [UInt8]? {
        let prefix = Array(bytes.prefix(12))
        let zeros = [UInt8](repeating: 0, count: 10)
        if prefix == zeros + [0, 0] || prefix == zeros + [0xFF, 0xFF] { return Array(bytes.suffix(4)) }
        if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B]) { return Array(bytes.suffix(4)) }
        return bytes.starts(with: [0x20, 0x02]) ? Array(bytes[2..<6]) : nil
    }
}
