/// One interface that multicast DNS uses: its records are not valid on other interfaces. Spec 12.5.
package struct Scope: Hashable, Sendable {
    /// The index of the interface.
    package let id: UInt32
    package var isLoopback: Bool
    /// The interface's own addresses that are usable now, without tentative ones.
    package var addresses: [Address]
    /// The families in which the group can be reached.
    package var families: Set<Family>
    /// The largest IP packet, in bytes.
    package var mtu: Int

    package init(id: UInt32, isLoopback: Bool = false, addresses: [Address], families: Set<Family>, mtu: Int)
    {
        self.id = id
        self.isLoopback = isLoopback
        self.addresses = addresses
        self.families = families
        self.mtu = mtu
    }

    /// An address with the length of the prefix that it shares with its neighbours.
    package struct Address: Hashable, Comparable, Sendable {
        /// 4 bytes (IPv4) or 16 (IPv6).
        package let bytes: [UInt8]
        /// The length of the network prefix, in bits.
        package let prefix: Int

        package init(_ bytes: [UInt8], prefix: Int) {
            self.bytes = bytes
            self.prefix = prefix
        }

        package var family: Family { Family(ofAddress: bytes) }

        package static func < (one: Address, other: Address) -> Bool {
            if one.bytes.count != other.bytes.count { return one.bytes.count < other.bytes.count }
            if one.bytes != other.bytes { return one.bytes.lexicographicallyPrecedes(other.bytes) }
            return one.prefix < other.prefix
        }

        /// Returns whether `other` is in the same network.
        func isNeighbour(of other: [UInt8]) -> Bool {
            guard bytes.count == other.count, (0...8 * bytes.count).contains(prefix) else { return false }
            let whole = prefix / 8
            guard bytes.prefix(whole) == other.prefix(whole) else { return false }
            let rest = prefix % 8
            return rest == 0 || (bytes[whole] ^ other[whole]) >> UInt8(8 - rest) == 0
        }
    }

    package func addresses(of family: Family) -> [[UInt8]] {
        addresses.filter { $0.family == family }.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Returns whether a datagram from `address` can come from this link. RFC 6762, 11. [mdns.source]
    func isOnLink(_ address: [UInt8]) -> Bool {
        if address.count == 16, address[0] == 0xFE, address[1] & 0xC0 == 0x80 { return true }
        return addresses.contains { $0.isNeighbour(of: address) }
    }

    /// Returns the maximum size in bytes of a message that fits into one packet.
    func messageBudget(_ family: Family) -> Int {
        min(max(mtu - family.headerCount, Scope.leastBudget), DNSMessage.longest)
    }

    private static let leastBudget = 512
}

/// The version of the Internet Protocol. What is sent in one is not received in the other.
package enum Family: UInt8, Hashable, Comparable, CaseIterable, Sendable {
    case v4 = 4
    case v6 = 6

    init(ofAddress bytes: [UInt8]) { self = bytes.count == 4 ? .v4 : .v6 }

    package static func < (one: Family, other: Family) -> Bool { one.rawValue < other.rawValue }

    /// The size of the IP and UDP headers together, in bytes.
    fileprivate var headerCount: Int { self == .v4 ? 28 : 48 }
}

/// How a datagram was received.
package struct PacketInfo: Hashable, Sendable {
    /// The interface.
    package var scope: UInt32
    package var family: Family
    /// The sender's address, 4 or 16 bytes; its port follows.
    package var from: [UInt8]
    package var port: UInt16
    /// Whether it arrived at a separate port from which a question was sent, and not at the group's.
    package var isOneShot: Bool

    package init(scope: UInt32, family: Family, from: [UInt8], port: UInt16, isOneShot: Bool = false) {
        self.scope = scope
        self.family = family
        self.from = from
        self.port = port
        self.isOneShot = isOneShot
    }
}
