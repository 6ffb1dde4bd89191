package import MultipeerCore

/// What one advertiser publishes. Spec 12.2.
package struct Advert: Hashable, Sendable {
    package var peer: PeerID
    package var type: ServiceType
    /// The TCP port that accepts invitations.
    package var port: UInt16
    package var info: DiscoveryInfo

    package init(peer: PeerID, type: ServiceType, port: UInt16, info: DiscoveryInfo = .empty) {
        self.peer = peer
        self.type = type
        self.port = port
        self.info = info
    }
}
