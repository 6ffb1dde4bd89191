package import MultipeerCore
import MultipeerFraming
package import MultipeerLink

/// A peer that is linked: the link's machine and what the session knows of its channels.
package final class LinkedPeer {
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

    struct Incoming {
        let kind: ChannelOpening.Kind
        /// FIN has come.
        var isFinished = false
    }

    init(_ peer: PeerID, _ link: consuming Link, isEncrypted: Bool) {
        self.peer = peer
        self.link = link
        self.isEncrypted = isEncrypted
    }
}
