package import MultipeerFraming

/// What the owner of an engine is to do for the unreliable messages of one link.
package enum DatagramAction: Sendable {
    /// Open a UDP socket at the address of the link's local end, then call `datagramPort` with its port, or nil.
    case open
    /// Draw 8 random bytes and pass them to `datagramAssociation`.
    case draw
    /// Drop the existing channel, use the address of the link and this port as the peer's, and create a channel.
    indirect case begin(Channel)
    /// Drop the channel and what waits in it; nothing is sent or accepted until the next `begin`.
    case drop
    /// Make the channel retransmit its flight.
    case retransmit
    /// Protect this content, unless the link is plain, and send it.
    case send([UInt8])
    /// From now on messages may use this path.
    case up
    /// From now on messages use the link: `divert` takes those that were not sent yet.
    case down
    /// The session leaves: send what was accepted until now, and accept no more.
    case finish

    /// The channel on which the two offers of a link agree.
    package struct Channel: Equatable, Sendable {
        /// The header of every datagram; its kind states whether the channel uses DTLS or no protection.
        package let header: DatagramHeader
        /// The port on which the peer receives, until an authenticated content comes from another address.
        package let port: UInt16
        /// Whether this side has the lower uid. [dgram.role]
        package let isClient: Bool
        /// The context for the link's exporter, which derives the key; nil for a plain link.
        package let keyContext: [UInt8]?
    }
}
