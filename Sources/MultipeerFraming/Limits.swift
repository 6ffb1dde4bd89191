/// Every limit of the wire protocol, in bytes unless stated otherwise. Spec 15; `Spec/registries.json` holds the
/// same numbers.
@usableFromInline
package enum Limits {
    @inlinable package static var frameBeforeSelect: Int { 2_048 }  // [frame.limit-before]
    @inlinable package static var frame: Int { 65_536 }  // [frame.limit]
    @inlinable package static var closeReason: Int { 256 }  // [close.reason]
    @inlinable package static var agent: Int { 64 }
    @inlinable package static var connectionData: Int { 1_024 }  // [data.length]
    @inlinable package static var candidates: Int { 16 }  // [data.candidates]
    @inlinable package static var channelName: Int { 1_024 }
    @inlinable package static var channelMetadata: Int { 1_024 }
    @inlinable package static var invitationContext: Int { 32_768 }
    @inlinable package static var maxMessage: Int { 16 * 1_048_576 }  // [msg.max]
    @inlinable package static var smallestMaxMessage: Int { 65_536 }  // [msg.max]
    /// A shorter part of a message would serve only to cost the receiver work.
    @inlinable package static var smallestPart: Int { 1_024 }  // [msg.part-size]
    @inlinable package static var messageCredit: Int { 4 * 1_048_576 }  // [msg.credit-limit]
    /// The credit that every MSG and MSG_PART consumes in addition to its payload, so that empty messages are
    /// bounded too.
    @inlinable package static var messageOverhead: Int { 64 }  // [msg.cost]
    @inlinable package static var channels: Int { 64 }  // [channel.limit]
    @inlinable package static var channelCredit: Int { 262_144 }  // [channel.credit-limit]
    /// The message credit that every OPEN consumes in addition to its payload, so that announcements that are never
    /// accepted are bounded.
    @inlinable package static var channelOverhead: Int { 1_024 }  // [channel.cost]
    /// The maximum payload of a DATA that this implementation writes while messages wait: with its header it fills one TLS
    /// record.
    @inlinable package static var channelPiece: Int { 16_376 }
    /// The maximum payload of a UDP datagram.
    @inlinable package static var datagram: Int { 1_200 }  // [dgram.size]
    /// The maximum length of a message that is sent as a datagram.
    @inlinable package static var datagramMessage: Int { 1_150 }  // [dgram.message-max]
    /// The number of endpoints that one MEMBERS or HELLO may name.
    @inlinable package static var memberEntries: Int { 32 }
    /// The largest certificate in an entry: it travels with each.
    @inlinable package static var entryCertificate: Int { 4_096 }
    /// The longest signature of an entry.
    @inlinable package static var entrySignature: Int { 1_024 }
    /// The number of peers in a session, including the local one.
    @inlinable package static var peers: Int { 8 }  // [limit.links]
}
