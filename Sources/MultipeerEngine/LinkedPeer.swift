package import MultipeerCore
import MultipeerFraming
package import MultipeerLink

/// A peer that is linked: the link's machine and what the session knows of its channels and datagrams.
///
/// The owner of the engine may hold it, so that a datagram needs no search: only the engine looks inside.
package final class LinkedPeer {
    package let id: ConnectionID
    package let peer: PeerID
    package var link: Link
    package let isEncrypted: Bool
    /// Channels of ours that are not over.
    var outgoing: [UInt32: ChannelOpening.Kind] = [:]
    /// Channels of the peer that are not over and read.
    var incoming: [UInt32: Incoming] = [:]
    /// The peer has opened a channel, or answered one.
    var hasHeardOfChannels = false
    /// The link has a long message to reassemble, or had one when it was last asked.
    var wantsTurn = false
    /// The session leaves: GOODBYE goes when everything else has gone.
    var isLeaving = false
    var verification = Verification()
    var datagrams = LinkDatagrams()

    /// Unreliable messages that went over UDP, that came, and that this side had to drop.
    package var datagramCounts: (sent: Int, received: Int, dropped: Int) {
        (datagrams.sent, datagrams.received, datagrams.overflowed + (datagrams.path?.dropped ?? 0))
    }

    struct Incoming {
        let kind: ChannelOpening.Kind
        /// FIN has come.
        var isFinished = false
    }

    init(_ peer: PeerID, _ link: consuming Link, on id: ConnectionID, isEncrypted: Bool) {
        self.id = id
        self.peer = peer
        self.link = link
        self.isEncrypted = isEncrypted
    }
}
