/// An address at which a peer may be dialled. Spec 4.1.
package struct Candidate: Hashable, Sendable {
    /// 4 bytes (IPv4) or 16 (IPv6), in network order.
    package let address: [UInt8]
    /// The TCP port, 1 to 65,535.
    package let port: UInt16
    /// The interface on which a link-local address is tried; 0 for other addresses. Never sent: `fe80::/10` carries no
    /// zone.
    package let zone: UInt32

    /// Returns nil unless the address has 4 or 16 bytes.
    package init?(address: [UInt8], port: UInt16) {
        guard address.count == 4 || address.count == 16 else { return nil }
        self.init(address, port, zone: 0)
    }

    private init(_ address: [UInt8], _ port: UInt16, zone: UInt32) {
        self.address = address
        self.port = port
        self.zone = zone
    }

    /// Returns the address once for each of these interfaces, at most 8, when it is link-local; otherwise the address
    /// itself.
    package func tried(on zones: [UInt32]) -> [Candidate] {
        guard isLinkLocal else { return [self] }
        return zones.prefix(8).map { Candidate(address, port, zone: $0) }  // [dial.link-local]
    }

    package var isLinkLocal: Bool { address.count == 16 && address[0] == 0xFE && address[1] & 0xC0 == 0x80 }

    package var isLoopback: Bool {
        if let mapped { return mapped[0] == 127 }
        return address == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// Returns whether the dialling rules allow this address: connection data must not make a peer dial arbitrary
    /// addresses. Spec 4.4.
    package func isDialable(allowingLoopback: Bool) -> Bool {
        if port < 1024 || isUnspecified || isMulticast || isBroadcast { return false }  // [dial.forbidden]
        return allowingLoopback || !isLoopback  // [dial.loopback]
    }

    /// The address, as IPv4 if it is an IPv4-mapped IPv6 address.
    package var host: [UInt8] { mapped ?? address }

    private var isUnspecified: Bool {
        if let mapped { return mapped[0] == 0 }
        return address.allSatisfy { $0 == 0 }
    }

    private var isMulticast: Bool {
        if let mapped { return mapped[0] & 0xF0 == 0xE0 }
        return address[0] == 0xFF
    }

    private var isBroadcast: Bool { mapped?.allSatisfy { $0 == 255 } ?? false }

    /// The IPv4 address, including that of an IPv4-mapped IPv6 address, so that mapping does not bypass a rule.
    private var mapped: [UInt8]? {
        if address.count == 4 { return address }
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return Array(address.prefix(12)) == prefix ? Array(address.suffix(4)) : nil
    }
}

extension Candidate: Comparable {
    /// An order for ties, which are then decided alike in every run.
    package static func < (one: Candidate, other: Candidate) -> Bool {
        if one.address != other.address { return one.address.lexicographicallyPrecedes(other.address) }
        return (one.port, one.zone) < (other.port, other.zone)
    }
}
