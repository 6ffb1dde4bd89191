package import MultipeerCore
import MultipeerFraming
package import MultipeerLink
import MultipeerMesh

/// A linked peer: the link's state machine, and the session's state of its channels and datagrams.
///
/// The owner of the engine may hold it, so that a datagram needs no lookup: only the engine accesses its contents.
package final class LinkedPeer {
    package let id: ConnectionID
    package let peer: PeerID
    package var link: Link
    package let isEncrypted: Bool
    var channels = LinkChannels()
    /// Whether the link had a long message to reassemble at the last report.
    private var wantsTurn = false
    /// Whether the session leaves: GOODBYE is sent after everything else.
    var isLeaving = false
    var verification = Verification()
    var datagrams = LinkDatagrams()

    /// The numbers of unreliable messages that were sent over UDP, received, and dropped by this side.
    package var datagramCounts: (sent: Int, received: Int, dropped: Int) {
        (datagrams.sent, datagrams.received, datagrams.overflowed + (datagrams.path?.dropped ?? 0))
    }

    init(_ peer: PeerID, _ link: consuming Link, on id: ConnectionID, isEncrypted: Bool) {
        self.id = id
        self.peer = peer
        self.link = link
        self.isEncrypted = isEncrypted
    }

    /// The time at which the link, its verification code or its datagrams are due.
    var deadline: Moment? {
        .earlier(.earlier(link.deadline, verification.deadline), datagrams.deadline)
    }

    /// Returns whether the peer has shown that it, too, had established the link that has ended. A peer that still waits for
    /// SELECTED also answers PING, but finally sends TIMEOUT.
    func wasUsed(until reason: DisconnectReason) -> Bool {
        let statistics = link.statistics
        let hasAnswered = statistics.roundTrip != nil && reason.closeCode != .timeout
        return statistics.messagesReceived > 0 || channels.hasHeard || hasAnswered
    }

    /// The messages that were queued and not completely written. [msg.failed]
    var undelivered: DisconnectReason.Undelivered {
        DisconnectReason.Undelivered(messages: link.queuedMessages, bytes: link.queuedBytes)
    }

    /// Returns the messages that have arrived since the last call if that is all that there is to collect; otherwise nil. Usually
    /// it is: then the link is accessed once, and not once for each kind of its outputs.
    func takeOnlyMessages() -> IncomingBatch? { wantsTurn ? nil : link.takeOnlyMessages() }

    /// Returns the link's report on messages beyond their window; nil when it has none, and had none at the last
    /// report.
    func reassemblyReport() -> ReassemblyTurns.Report? {
        let report = link.reassembly
        guard report.wants || wantsTurn else { return nil }
        wantsTurn = report.wants
        return report
    }
}
