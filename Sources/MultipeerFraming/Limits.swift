/// Every maximum of the wire, in bytes unless said. Spec 15; `Spec/registries.json` holds the same numbers.
package enum Limits {
    package static let frameBeforeSelect = 2_048
    package static let frame = 65_536
    package static let smallestPart = 1_024
    package static let closeReason = 256
    package static let agent = 64
    package static let displayName = 63
    package static let connectionData = 1_024
    package static let candidates = 16
    package static let channelName = 1_024
    package static let channelMetadata = 1_024
    package static let invitationContext = 32_768
    package static let maxMessage = 16 * 1_048_576
    package static let smallestMaxMessage = 65_536
    package static let messageCredit = 4 * 1_048_576
    /// What every MSG and MSG_PART spends of the credit besides its payload, so that empty messages are bounded too.
    package static let messageOverhead = 64
    package static let channels = 64
    package static let channelCredit = 262_144
    /// Endpoints that one MEMBERS or HELLO may name.
    package static let memberEntries = 32
    /// Peers of a session, the local one included.
    package static let peers = 8
}
