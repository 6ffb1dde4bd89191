package import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
package import MultipeerSecurity

/// Carries out the decisions of one session's engine: sockets, TLS, timers, queues. It knows no rules of the protocol.
///
/// An actor pinned to its loop. Readiness enters through `ready` and is isolated from there on; at the end of a turn every
/// decision is written, events are delivered in one batch and the next deadline is set.
package actor SessionDriver: ListeningDriver {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated package let wakeup = Wakeup()

    nonisolated package let configuration: Session.Configuration
    nonisolated package let peer: PeerID
    nonisolated package let eventQueue: EventQueue<Session.Event>
    nonisolated package let queues = MessageSender()
    nonisolated let consumed: ConsumedCredit
    nonisolated let readyList = ReadyList()
    /// The identity that this side presents; nil when the preference is none.
    nonisolated package let identity: Identity?
    let tls: TLSContext?
    let signer: Signer?

    /// Final, so that a build without optimisation reads it in place. Otherwise Swift 6.3 lends a copy of its bytes, frees them,
    /// and then releases what it has copied out of them.
    final var engine: SessionEngine
    /// The list of the actions that were carried out last, emptied: its memory is reused.
    var emptied: [SessionOutput] = []
    /// The same for what is taken from callers.
    var readyItems: [ReadyList.ReadyItem] = []
    let sockets: Sockets
    let events: EventDelivery
    let channels: SessionChannels
    let datagrams: SessionDatagrams
    var trust: TrustDecisions
    var calls = PendingCalls()
    /// The session's owner is gone.
    var isOver = false
    /// The peer to which a link was lost, until that is reported as its state.
    var lostLink: UID?
    /// From the first link on: whether this machine still has the addresses of the links.
    var addressWatch: PeerLossNotifier.Subscription?
    var randomness = SystemRandomness()

    /// Creates a driver; the network is not used before the first call that needs it.
    package init(_ peer: PeerID, _ configuration: Session.Configuration) throws(SessionFault) {
        self.peer = peer
        self.configuration = configuration
        try configuration.validate()
        loop = try SessionFault.network { () throws(SocketFault) in
            try EventLoop.next(on: configuration.overrides.host)
        }
        sockets = Sockets(loop)
        (identity, tls) = try SessionFault.security { () throws(SecurityFault) in
            try configuration.credentials(of: peer.uid)
        }
        let identity = identity
        signer = try SessionFault.security { () throws(SecurityFault) in try configuration.signer(identity) }
        var randomness = SystemRandomness()
        let local = configuration.local(peer, identity?.fingerprint, signer, using: &randomness)
        engine = SessionEngine(local, configuration.engine, seed: randomness.next())
        let consumed = ConsumedCredit()
        self.consumed = consumed
        // While the reader waits for the next event, up to this much of what it has taken is not reported, and CREDIT for it is
        // late. Each report wakes the loop, so one message alone does not cause one.
        eventQueue = EventQueue(reportAfter: Int(configuration.overrides.messageCredit) / 16) {
            consumed.add($0)
        }
        events = EventDelivery(into: eventQueue)
        channels = SessionChannels(
            telling: events, readyList, window: Int(configuration.overrides.channelCredit))
        datagrams = SessionDatagrams(loop, configuration, sockets, queues, telling: events, readyList)
        trust = TrustDecisions(configuration)
        consumed.onChange(loop.turnEndWaker(keeping: self))
        readyList.onChange(loop.waker(keeping: self), forTurnEnd: loop.turnEndWaker(keeping: self))
        configuration.overrides.host?.onEnd { [weak self] in
            guard let self else { return }
            Task.following { await self.shutDown() }
        }
    }
}
