package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// One expected peer, from `connect` until its link ends. Spec 6.1.
///
/// ```
/// connecting ──linked──▶ linked ──link ended──▶ (forgotten)
///    └─deadline, refusal, cancel──▶ (forgotten)
/// ```
///
/// When a peer has restarted, the session connects to the new instance while the link to the old one is still up:
/// `former` holds the attempt of that link, which is restored if the new instance is not reached.
package struct LinkAttempt: Sendable {
    enum Phase: Equatable, Sendable {
        case connecting
        /// Before `settles`, a further candidate is a duplicate; afterwards, it is a sign that the peer is alive.
        case linked(to: Endpoint, settles: Moment)
    }

    /// A candidate of a new instance, waiting for the result of probing the link to the old instance. Spec 6.5.
    struct ParkedCandidate: Sendable {
        let connection: ConnectionID
        var isSelected: Bool
    }

    enum Trust: Equatable, Sendable {
        case unasked
        /// The trust decision was requested for this connection.
        case asked(ConnectionID, since: Moment)
        case trusted
    }

    /// The attempt of the instance that is linked while the session connects to another one.
    struct FormerAttempt: Sendable {
        let expectedPeer: ExpectedPeer
        let plan: DialPlan
        let deadline: Moment
    }

    /// The peer to which the session is connecting or linked.
    var expectedPeer: ExpectedPeer
    var former: FormerAttempt?
    var phase = Phase.connecting
    let began: Moment
    /// Whether the peer was dialling when its link ended, and the local side did not request the attempt.
    var isCallback = false
    private let decision: Duration
    var deadline: Moment
    var plan: DialPlan
    var selection: Selection
    var trust = Trust.unasked
    var connectionFailure: ConnectionFailure?
    var probeDeadline: Moment?
    /// How long its link may take to answer a probe: four of the round trips that its handshake took, if that is longer.
    var probeTime = HandshakeTiming.probe
    var parked: [ParkedCandidate] = []
    /// Whether the mesh has withdrawn the attempt; it ends if SELECT does not lead to a link. [select.pending]
    var isWithdrawn = false
    /// The member whose entries introduced the peer, which was never met: its dials are limited. [mesh.introduced]
    var introducer: UID?
    /// How often the peer did not know the data of ours that we named: it may hold another version. [link.unknown-data]
    var misses = 0

    init(
        _ expectedPeer: ExpectedPeer, local: LocalPeer, candidates: [Candidate], until deadline: Moment,
        at now: Moment
    ) {
        let isLower = local.endpoint.uid < expectedPeer.endpoint.uid
        self.expectedPeer = expectedPeer
        self.deadline = deadline
        decision = local.decision
        began = now
        // [link.dialler]
        plan = DialPlan(candidates, from: isLower ? now : now + HandshakeTiming.higherDialDelay)
        selection = Selection(isLower ? .controlling : .controlled)
    }

    package var isLinked: Bool { phase != .connecting }
    package var isConnecting: Bool { !isLinked || former != nil }

    /// The end of the attempt: a user's trust decision has its own time limit; everything else has to fit into the
    /// attempt's. [link.deadline]
    var end: Moment {
        guard case .asked(_, let since) = trust else { return deadline }
        return max(deadline, since + decision)
    }

    func isSettled(at now: Moment) -> Bool {
        if case .linked(_, let settles) = phase { return now >= settles }
        return false
    }

    /// The next time at which something happens without input.
    var nextMoment: Moment? {
        guard isConnecting else { return probeDeadline }
        // While SELECT is unanswered, its connection has a deadline of its own.
        let limit = selection.nominated == nil ? end : nil
        return .earlier(limit, .earlier(plan.deadline, probeDeadline))
    }

    /// Marks its connection as the link.
    mutating func becomeLink(to endpoint: Endpoint, at now: Moment) {
        phase = .linked(to: endpoint, settles: now + HandshakeTiming.linkSettles)
        isCallback = false
        isWithdrawn = false
        former = nil
        probeDeadline = nil
    }

    /// Handles the loss of the link: the session connects to the peer again. Returns the candidates that waited for the
    /// link's place.
    mutating func loseLink() -> [ParkedCandidate] {
        defer { parked = [] }
        phase = .connecting
        former = nil
        probeDeadline = nil
        return parked
    }

    /// Returns whether a connection made with earlier data is kept when newer data arrive: it must have the same
    /// endpoint and key, and a link made of it must satisfy the newer data. A connection on which SELECT was sent is
    /// always kept, because the peer may have its link already. [select.pending]
    func keeps(_ id: ConnectionID, _ handshake: Handshake, with newer: ExpectedPeer) -> Bool {
        guard !isLinked, expectedPeer.endpoint == newer.endpoint,
            expectedPeer.data.fingerprint == newer.data.fingerprint, handshake.hasMet
        else { return false }
        return selection.nominated == id || handshake.makesMesh || !newer.data.flags.contains(.mesh)
    }

    /// Takes over from an attempt to the same peer with other data. A link to the peer's old instance is kept, and so
    /// are the connections in `kept`; a trust decision is requested once for each key. [trust.once]
    mutating func inherit(_ known: LinkAttempt, keeping kept: [ConnectionID], at now: Moment) {
        let key = expectedPeer.data.fingerprint
        if key != nil, key == known.expectedPeer.data.fingerprint { trust = known.trust }
        if !kept.isEmpty {
            selection = known.selection.keeping(kept)
            plan.postpone(until: now + DialPlan.stagger)
            plan.pause(selection.isUndecided)
        }
        guard known.isLinked, let link = known.selection.link else { return }
        phase = known.phase
        selection = Selection(known.selection.part, holding: link)
        probeDeadline = known.probeDeadline
        probeTime = known.probeTime
        former =
            known.former
            ?? FormerAttempt(expectedPeer: known.expectedPeer, plan: known.plan, deadline: known.deadline)
    }

    /// Returns the attempt restored to the link to the old instance, since the new instance was not reached.
    func withdrawn(to former: FormerAttempt) -> LinkAttempt {
        var one = self
        one.expectedPeer = former.expectedPeer
        one.plan = former.plan
        one.deadline = former.deadline
        one.former = nil
        one.trust = .trusted
        one.parked = []
        one.connectionFailure = nil
        return one
    }

    mutating func note(_ new: ConnectionFailure) {
        // A CLOSE is more informative than the refusal inside TLS or the refused dial that follows when the peer has
        // given up.
        if let connectionFailure, connectionFailure.weight > new.weight { return }
        connectionFailure = new
    }
}

// MARK: queries of the mesh

extension LinkAttempt {
    /// The peer to which the session is connecting or linked.
    package var endpoint: Endpoint { expectedPeer.endpoint }

    /// Whether the key pinned by the connection data belongs to an identity. Spec 5.4.
    package var showsIdentity: Bool { expectedPeer.data.flags.contains(.identity) }

    /// Returns the time left for connecting; nil when the peer is linked.
    package func remainingTime(at now: Moment) -> Duration? { isLinked ? nil : max(.zero, deadline - now) }

    /// Returns whether the session has been connecting to the peer for `time` with the same data.
    package func hasTried(for time: Duration, at now: Moment) -> Bool { !isLinked && now - began >= time }

    /// Whether the session is connecting to the peer only because the peer was dialling when its link ended.
    package var callsBack: Bool { isCallback && !isLinked }

    /// Returns whether there is a link to this instance of the peer.
    package func isLinked(to endpoint: Endpoint) -> Bool {
        if case .linked(endpoint, _) = phase { true } else { false }
    }
}

/// Why one connection failed while the attempt continues.
package enum ConnectionFailure: Equatable, Sendable {
    case unreachable(String)
    case lost
    case security(SecurityFault)
    /// The peer closed with this code.
    case closed(CloseCode)
    /// We closed with this code.
    case refused(CloseCode)

    /// A description of what happened below the frame layer.
    package var detail: String {
        switch self {
        case .unreachable(let problem): problem
        case .security(let fault): "\(fault)"
        case .lost, .closed, .refused: ""
        }
    }

    /// How informative the failure is.
    fileprivate var weight: Int {
        switch self {
        case .closed, .refused: 2
        case .security: 1
        case .unreachable, .lost: 0
        }
    }
}

/// Why an attempt ended without a link.
package enum LinkAttemptFailure: Error, Equatable, Sendable {
    /// The attempt timed out; with the last failure of a connection, if any.
    case timedOut(ConnectionFailure?)
    /// The peer refused permanently.
    case refusedByPeer(CloseCode)
    /// We refused permanently: POLICY, REJECTED, VERSION, FULL.
    case refused(CloseCode)
    case cancelled
    /// The peer is no longer in the mesh.
    case withdrawn
}
