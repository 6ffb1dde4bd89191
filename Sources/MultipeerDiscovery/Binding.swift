package import MultipeerFraming
package import MultipeerIntroduction

/// How an advertised peer becomes DNS names and records, and back. Spec 12.2.
package enum Binding {
    /// `<beginning of the display name>-<uid in base32>`, 27 to 63 bytes. A peer that lost its name on the network tries
    /// again with the next `attempt`, which stands in the beginning: ` (2)` for attempt 1.
    package static func label(for peer: PeerID, attempt: Int = 0) -> [UInt8] { [] }

    /// Whose label that is; nil when it is not one of ours.
    package static func uid(inLabel label: [UInt8]) -> UID? { nil }

    /// The data of the TXT record: `mpc=1`, `n=<display name>`, then the entries in the order of their keys.
    package static func txt(_ peer: PeerID, _ info: DiscoveryInfo) -> [UInt8] { [] }

    /// What the TXT record of `uid` says; nil when it is not one of ours.
    package static func read(txt: [UInt8], uid: UID) -> DiscoveredPeer? { nil }

    /// `_chat._tcp.local`
    package static func serviceName(_ type: ServiceType) -> DNSName { .root }

    /// `<label>._chat._tcp.local`
    package static func instanceName(_ peer: PeerID, _ type: ServiceType, attempt: Int = 0) -> DNSName {
        .root
    }
}
