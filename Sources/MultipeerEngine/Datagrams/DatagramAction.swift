package import MultipeerFraming

/// What the owner of an engine does with the unreliable messages of one link.
package enum DatagramAction: Sendable {
    /// Have a UDP socket at the address of the link's end: `datagramPort` says at which port, or that there is none.
    case open
    /// Draw 8 random bytes: `datagramAssociation` takes them.
    case draw
    /// Drop the channel there was, take the address of the link and this port for the peer's, and make a channel.
    indirect case begin(Channel)
    /// Drop the channel and what waits in it; nothing goes out and nothing is taken until the next `begin`.
    case drop
    /// Let the channel repeat its flight.
    case retransmit
    /// Protect this content, unless the link is plain, and send it.
    case send([UInt8])
    /// Messages may go this way from now on.
    case up
    /// Messages go by the link from now on: `divert` takes those that were not sent yet.
    case down
    /// The session leaves: send what was accepted until now, and take no more.
    case finish

    /// What the two offers of a link agree on.
    package struct Channel: Equatable, Sendable {
        /// What goes in front of every datagram; its kind says whether the channel is DTLS or nothing.
        package let header: DatagramHeader
        /// Where the peer receives, until an authenticated content comes from elsewhere.
        package let port: UInt16
        /// This side has the lower uid. [dgram.role]
        package let isClient: Bool
        /// For the exporter of the link, which gives the key; nil for a plain link.
        package let keyContext: [UInt8]?
    }
}
