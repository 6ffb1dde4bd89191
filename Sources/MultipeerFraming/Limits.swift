/// Every maximum of the wire, in bytes unless said. Spec 15; `Spec/registries.json` holds the same numbers.
@usableFromInline
package enum Limits {
    package static let frameBeforeSelect = 2_048  // [frame.limit-before]
    @inlinable package static var frame: Int { 65_536 }  // [frame.limit]
    @inlinable package static var closeReason: Int { 256 }  // [close.reason]
    package static let agent = 64
    package static let displayName = 63  // [peer.name]
    package static let connectionData = 1_024  // [data.length]
    package static let candidates = 16  // [data.candidates]
    package static let channelName = 1_024
    package static let channelMetadata = 1_024
    package static let invitationContext = 32_768
    package static let maxMessage = 16 * 1_048_576  // [msg.max]
    package static let smallestMaxMessage = 65_536  // [msg.max]
    /// A part of a message that is shorter would only be there to cost the receiver work.
    @inlinable package static var smallestPart: Int { 1_024 }  // [msg.part-size]
    package static let messageCredit = 4 * 1_048_576  // [msg.credit-limit]
    /// What every MSG and MSG_PART spends of the credit besides its payload, so that empty messages are bounded too.
    @inlinable package static var messageOverhead: Int { 64 }  // [msg.cost]
    package static let channels = 64
    package static let channelCredit = 262_144
    /// Endpoints that one MEMBERS or HELLO may name.
    package static let memberEntries = 32
    /// Peers of a session, the local one included.
    package static let peers = 8  // [limit.links]
}
