/// An address at which a peer may be dialled. Spec 4.1.
public struct Candidate: Hashable, Sendable {
    /// 4 bytes (IPv4) or 16 (IPv6), in network order.
    public let address: [UInt8]
    /// The TCP port, 1 to 65,535.
    public let port: UInt16
    /// The interface on which a link-local address is tried; 0 elsewhere. Never on the wire: `fe80::/10` carries no zone.
    package let zone: UInt32

    /// Returns nil unless the address has 4 or 16 bytes.
    public init?(address: [UInt8], port: UInt16) {
        guard address.count == 4 || address.count == 16 else { return nil }
        self.init(address, port, zone: 0)
    }

    private init(_ address: [UInt8], _ port: UInt16, zone: UInt32) {
        self.address = address
        self.port = port
        self.zone = zone
    }

    /// The same address on each of these interfaces, 8 at most, when it is link-local; itself elsewhere.
    package func tried(on zones: [UInt32]) -> [Candidate] {
        guard isLinkLocal else { return [self] }
        return zones.prefix(8).map { Candidate(address, port, zone: $0) }  // [dial.link-local]
    }

    package var isLinkLocal: Bool { address.count == 16 && address[0] == 0xFE && address[1] & 0xC0 == 0x80 }

    package var isLoopback: Bool {
        if let mapped { return mapped[0] == 127 }
        return address == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// Whether the dialling rules allow this address: connection data may not send us anywhere it likes. Spec 4.4.
    package func isDialable(allowingLoopback: Bool) -> Bool {
        if port < 1024 || isUnspecified || isMulticast || isBroadcast { return false }  // [dial.forbidden]
        return allowingLoopback || !isLoopback  // [dial.loopback]
    }

    private var isUnspecified: Bool {
        if let mapped { return mapped[0] == 0 }
        return address.allSatisfy { $0 == 0 }
    }

    private var isMulticast: Bool {
        if let mapped { return mapped[0] & 0xF0 == 0xE0 }
        return address[0] == 0xFF
    }

    private var isBroadcast: Bool { mapped?.allSatisfy { $0 == 255 } ?? false }

    /// The IPv4 address, also of an IPv4-mapped IPv6 one, so that mapping is no way around a rule.
    private var mapped: [UInt8]? {
        if address.count == 4 { return address }
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return Array(address.prefix(12)) == prefix ? Array(address.suffix(4)) : nil
    }
}
