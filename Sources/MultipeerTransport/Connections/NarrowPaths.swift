package import MultipeerCore

/// The hosts to which large packets do not arrive, and the packets that do. Paths change: it is remembered for a while. Pure.
package struct NarrowPaths {
    private struct Entry {
        var segment: Int32
        var end: Moment
    }

    private var entries: [SocketAddress.Host: Entry] = [:]

    package init() {}

    /// Fits into a packet of 1,280 bytes, which every path of IPv6 carries.
    package static let medium: Int32 = 1_180
    /// Fits into a packet of 576 bytes, with either version of IP.
    package static let small: Int32 = 500
    package static let memory = Duration.seconds(600)
    package static let limit = 64

    /// Returns the largest data of a packet to this host; nil when nothing is known against the usual size.
    package func segment(to host: SocketAddress.Host, at now: Moment) -> Int32? {
        guard let entry = entries[host.unmapped], now < entry.end else { return nil }
        return entry.segment
    }

    /// Notes that the packets used so far do not arrive. `carriesHandshake`: those of a TLS handshake do.
    package mutating func note(_ host: SocketAddress.Host, carriesHandshake: Bool, at now: Moment) {
        let isMedium = carriesHandshake && segment(to: host, at: now) == nil
        entries = entries.filter { now < $0.value.end }
        if entries.count >= NarrowPaths.limit, let oldest = entries.min(by: { $0.value.end < $1.value.end }) {
            entries[oldest.key] = nil
        }
        entries[host.unmapped] = Entry(
            segment: isMedium ? NarrowPaths.medium : NarrowPaths.small, end: now + NarrowPaths.memory)
    }

    /// Forgets what was noted: the network carried nothing at all.
    package mutating func forget(_ host: SocketAddress.Host) { entries[host.unmapped] = nil }
}

extension EventLoop {
    /// The paths of this machine, for all of its loops.
    static let narrowPaths = Locked(NarrowPaths())
}
