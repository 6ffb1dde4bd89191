package import MultipeerCore

/// The mapping between advertised peers and DNS names and records. Spec 12.2.
package enum Binding {
    /// Returns the label of a peer: `<beginning of the display name>-<uid in base32>`, 27 to 63 bytes. A peer that lost
    /// its name on the network tries again with the next `attempt`, which is part of the beginning: ` (2)` for attempt
    /// 1.
    package static func label(for peer: PeerID, attempt: Int = 0) -> [UInt8] {  // [service.instance]
        let count = attempt > 0 ? Array(" (\(attempt + 1))".utf8) : []
        let tail = [UInt8(ascii: "-")] + Base32.encode(peer.uid.bytes)
        let room = DNSName.longestLabel - tail.count - count.count
        return beginning(of: peer.displayName, limit: room) + count + tail
    }

    /// Returns the uid in a label; nil when the label is not of this protocol.
    package static func uid(inLabel label: [UInt8]) -> UID? {  // [service.instance]
        let tail = label.suffix(1 + uidCount)
        guard tail.count == 1 + uidCount, tail.first == UInt8(ascii: "-") else { return nil }
        return Base32.decode(tail.dropFirst()).flatMap { UID($0) }
    }

    /// Returns the name of a service type, such as `_chat._tcp.local`.
    package static func serviceName(_ type: ServiceType) -> DNSName {
        let label = [UInt8(ascii: "_")] + Array(type.name.utf8)
        return DNSName(wire: [UInt8(truncatingIfNeeded: label.count)] + label + transport.wire)
    }

    /// Returns the name of an instance, such as `<label>._chat._tcp.local`.
    package static func instanceName(_ peer: PeerID, _ type: ServiceType, attempt: Int = 0) -> DNSName {
        let label = label(for: peer, attempt: attempt)
        return DNSName(wire: [UInt8(truncatingIfNeeded: label.count)] + label + serviceName(type).wire)
    }

    /// The length of a uid in base32.
    private static let uidCount = 26
    private static let transport: DNSName = "_tcp.local"

    /// Returns as many whole characters as fit; no grapheme is split.
    private static func beginning(of name: String, limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in name {
            guard bytes.count + character.utf8.count <= limit else { break }
            bytes += character.utf8
        }
        return bytes
    }
}
