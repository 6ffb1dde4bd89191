/// A peer that is present, and the start of its advertiser to which its records belong. Spec 12.4.
package struct PresentPeer: Equatable, Sendable {
    package var peer: DiscoveredPeer
    /// The host name to which its SRV record points, which is random at each start; nil where starts are not told apart.
    package var host: DNSName?
    /// How often it has come back after it was missed; `BrowseResults` counts.
    var returns = 0

    package init(_ peer: DiscoveredPeer, host: DNSName? = nil) {
        self.peer = peer
        self.host = host
    }

    /// Returns whether the peer is to be reported as lost before it is reported as this: its advertiser ended and began anew, or it
    /// has come back after it was missed.
    func isNews(after other: PresentPeer) -> Bool {
        host != other.host || returns != other.returns  // [mdns.restart] [mdns.missed]
    }
}
