package import MultipeerCore
import MultipeerFraming
package import MultipeerLink
import MultipeerMesh

/// A peer that is linked: the link's machine and what the session knows of its channels and datagrams.
///
/// The owner of the engine may hold it, so that a datagram needs no search: only the engine looks inside.
package final class LinkedPeer {
    package let id: ConnectionID
    package let peer: PeerID
    package var link: Link
    package let isEncrypted: Bool
    var channels = LinkChannels()
    /// The link has a long message to reassemble, or had one when it was last asked.
    private var wantsTurn = false
    /// The session leaves: GOODBYE goes when everything else has gone.
    var isLeaving = false
    var verification = Verification()
    var datagrams = LinkDatagrams()

    /// Unreliable messages that went over UDP, that came, and that this side had to drop.
    package var datagramCounts: (sent: Int, received: Int, dropped: Int) {
        (datagrams.sent, datagrams.received, datagrams.overflowed + (datagrams.path?.dropped ?? 0))
    }

    init(_ peer: PeerID, _ link: consuming Link, on id: ConnectionID, isEncrypted: Bool) {
        self.id = id
        self.peer = peer
        self.link = link
        self.isEncrypted = isEncrypted
    }

    /// When the link, its verification code or its datagrams have something to do.
    var deadline: Moment? {
        .earlier(.earlier(link.deadline, verification.deadline), datagrams.deadline)
    }

    /// Whether the peer has shown that it knew of a link that is over. One that waits for SELECTED answers PING, too, and
    /// says TIMEOUT in the end.
    func wasUsed(until reason: DisconnectReason) -> Bool {
        let statistics = link.statistics
        let hasAnswered = statistics.roundTrip != nil && reason.closeCode != .timeout
        return statistics.messagesReceived > 0 || channels.hasHeard || hasAnswered
    }

    /// Messages that were queued and not acknowledged. [msg.failed]
    var undelivered: Undelivered { Undelivered(messages: link.queuedMessages, bytes: link.queuedBytes) }

    /// What the link says of messages beyond their window; nil when it has none, and had none when last asked.
    func reassemblyReport() -> ReassemblyTurns.Report? {
        let report = link.reassembly
        guard report.wants || wantsTurn else { return nil }
        wantsTurn = report.wants
        return report
    }
}
