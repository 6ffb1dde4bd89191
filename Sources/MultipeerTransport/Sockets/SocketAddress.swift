import MultipeerPlatform

/// The address of a socket: an IPv4 or IPv6 address and a port.
public struct SocketAddress: Hashable, Sendable {
    /// The address without the port.
    public let host: Host
    /// The port; 0 lets the system choose one.
    public let port: UInt16

    /// Creates an address from its parts.
    public init(_ host: Host, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Returns the same host with another port.
    public func with(port: UInt16) -> SocketAddress { SocketAddress(host, port: port) }

    /// 127.0.0.1, on a port that the system chooses.
    public static let loopback = SocketAddress(.loopbackV4, port: 0)

    /// An address without a port, as numbers whose first byte is the most significant.
    public enum Host: Hashable, Sendable {
        /// IPv4, as one number.
        case v4(UInt32)
        /// `scope` is the index of the interface that a link-local address belongs to, otherwise 0.
        case v6(high: UInt64, low: UInt64, scope: UInt32 = 0)

        /// Every IPv4 address of this machine.
        public static let anyV4 = Host.v4(0)
        /// Every IPv6 address of this machine.
        public static let anyV6 = Host.v6(high: 0, low: 0)
        /// 127.0.0.1.
        public static let loopbackV4 = Host.v4(0x7f00_0001)
        /// ::1.
        public static let loopbackV6 = Host.v6(high: 0, low: 1)
    }
}

extension SocketAddress.Host {
    /// Creates an address from 4 or 16 bytes in network byte order.
    package init?(bytes: [UInt8], scope: UInt32 = 0) {
        let words = stride(from: 0, to: bytes.count, by: 4).map { start in
            bytes[start..<min(start + 4, bytes.count)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        switch bytes.count {
        case 4: self = .v4(words[0])
        case 16:
            self = .v6(
                high: UInt64(words[0]) << 32 | UInt64(words[1]),
                low: UInt64(words[2]) << 32 | UInt64(words[3]), scope: scope)
        default: return nil
        }
    }

    /// 4 or 16 bytes.
    package var bytes: [UInt8] {
        switch self {
        case .v4(let number): (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) }
        case .v6(let high, let low, _):
            [high, low].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
            }
        }
    }

    package var isV4: Bool {
        if case .v4 = self { true } else { false }
    }

    /// The IPv4 address inside `::ffff:a.b.c.d`, otherwise the address itself.
    package var unmapped: Self {
        guard case .v6(high: 0, let low, _) = self, low >> 32 == 0xffff else { return self }
        return .v4(UInt32(truncatingIfNeeded: low))
    }

    package var isUnspecified: Bool {
        switch unmapped {
        case .v4(let number): number >> 24 == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    package var isLoopback: Bool {
        switch unmapped {
        case .v4(let number): number >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    package var isLinkLocal: Bool {
        switch unmapped {
        case .v4(let number): number >> 16 == 0xa9fe
        case .v6(let high, _, _): high >> 54 == 0x3fa
        }
    }

    package var isMulticast: Bool {
        switch unmapped {
        case .v4(let number): number >> 28 == 0xe
        case .v6(let high, _, _): high >> 56 == 0xff
        }
    }

    /// The limited broadcast address; `NetworkInterface` knows that of a single network.
    package var isBroadcast: Bool { unmapped == .v4(.max) }

    /// Returns the same address, on that interface if it is an IPv6 one.
    package func on(interface index: UInt32) -> Self {
        guard case .v6(let high, let low, _) = self else { return self }
        return .v6(high: high, low: low, scope: index)
    }
}
