/// A peer that is present, and the start of its advertiser to which its records belong. Spec 12.4.
package struct PresentPeer: Equatable, Sendable {
    package var peer: DiscoveredPeer
    /// The host name to which its SRV record points, which is random at each start; nil where starts are not told apart.
    package var host: DNSName?

    package init(_ peer: DiscoveredPeer, host: DNSName? = nil) {
        self.peer = peer
        self.host = host
    }

    /// Returns whether this is a later start than the other one: its advertiser ended, and began anew.
    func isRestart(of other: PresentPeer) -> Bool { host != other.host }  // [mdns.restart]
}
