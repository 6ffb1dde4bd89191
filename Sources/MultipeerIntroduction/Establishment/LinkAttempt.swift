package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// One awaited peer: from `connect` until its link is over. Spec 6.1.
///
/// ```
/// connecting ──linked──▶ linked ──link ended──▶ (forgotten)
///    └─deadline, refusal, cancel──▶ (forgotten)
/// ```
///
/// When a peer has restarted, its new instance is sought while the link to the old one still stands: `former` holds what
/// that link goes back to if the new instance is not found.
package struct LinkAttempt: Sendable {
    enum Phase: Equatable, Sendable {
        case connecting
        /// Settled from `settles` on: until then a further candidate is a duplicate, later it is a proof of life.
        case linked(to: Endpoint, settles: Moment)
    }

    /// A candidate of a new instance, waiting for what the link to the old instance answers. Spec 6.5.
    struct ParkedCandidate: Sendable {
        let connection: ConnectionID
        var isSelected: Bool
    }

    enum Trust: Equatable, Sendable {
        case unasked
        /// The question was put for this connection and is open until then at the longest.
        case asked(ConnectionID, since: Moment)
        case trusted
    }

    /// The attempt of the instance that is linked while another one is sought.
    struct FormerAttempt: Sendable {
        let expectedPeer: ExpectedPeer
        let plan: DialPlan
        let deadline: Moment
    }

    /// Whom we seek, or are linked to.
    var expectedPeer: ExpectedPeer
    var former: FormerAttempt?
    var phase = Phase.connecting
    let began: Moment
    /// Nobody asked for it here: the peer was dialling when its link ended.
    var isCallback = false
    private let decision: Duration
    var deadline: Moment
    var plan: DialPlan
    var selection: Selection
    var trust = Trust.unasked
    var connectionFailure: ConnectionFailure?
    var probeDeadline: Moment?
    var parked: [ParkedCandidate] = []
    /// The mesh does not want it any more; the attempt ends if SELECT comes to nothing. [select.promise]
    var isWithdrawn = false
    /// How often the peer did not know the data of ours that we named: it may hold another version. [link.guess]
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

    /// A person who is asked for trust gets their time; everything else has to fit into the attempt's. [link.deadline]
    var end: Moment {
        guard case .asked(_, let since) = trust else { return deadline }
        return max(deadline, since + decision)
    }

    func isSettled(at now: Moment) -> Bool {
        if case .linked(_, let settles) = phase { return now >= settles }
        return false
    }

    /// The next moment at which something happens without input.
    var nextMoment: Moment? {
        guard isConnecting else { return probeDeadline }
        // While SELECT is unanswered, its connection has a deadline of its own.
        let limit = selection.nominated == nil ? end : nil
        return .earlier(limit, .earlier(plan.deadline, probeDeadline))
    }

    /// Its connection is the link from now on.
    mutating func becomeLink(to endpoint: Endpoint, at now: Moment) {
        phase = .linked(to: endpoint, settles: now + HandshakeTiming.linkSettles)
        isCallback = false
        isWithdrawn = false
        former = nil
        probeDeadline = nil
    }

    /// The link is gone and its peer is sought. Returns the candidates that waited for its place.
    mutating func loseLink() -> [ParkedCandidate] {
        defer { parked = [] }
        phase = .connecting
        former = nil
        probeDeadline = nil
        return parked
    }

    /// Whether a connection made with earlier data stays when newer data arrive: it leads to the same endpoint and key,
    /// and to a link that is no less than the newer data ask for. A connection on which SELECT was sent always stays,
    /// because the peer may have its link already. [select.promise]
    func keeps(_ id: ConnectionID, _ handshake: Handshake, with newer: ExpectedPeer) -> Bool {
        guard !isLinked, expectedPeer.endpoint == newer.endpoint,
            expectedPeer.data.fingerprint == newer.data.fingerprint, handshake.hasMet
        else { return false }
        return selection.nominated == id || handshake.makesMesh || !newer.data.flags.contains(.mesh)
    }

    /// Takes over from an attempt to the same peer with other data. A link to the peer's old instance keeps its place,
    /// and so do the connections `kept`; one key is asked about once. [trust.once]
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
        former =
            known.former
            ?? FormerAttempt(expectedPeer: known.expectedPeer, plan: known.plan, deadline: known.deadline)
    }

    /// The new instance was not found, so the link to the old one is all there is again.
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
        // A CLOSE says more than the refusal inside TLS or the refused dial that follow when the peer has given up.
        if let connectionFailure, connectionFailure.weight > new.weight { return }
        connectionFailure = new
    }
}

// MARK: what the mesh asks

extension LinkAttempt {
    /// Whom we seek, or are linked to.
    package var endpoint: Endpoint { expectedPeer.endpoint }

    /// Whether the key that the connection data pin belongs to an identity. Spec 5.4.
    package var showsIdentity: Bool { expectedPeer.data.flags.contains(.identity) }

    /// For how long the peer is still sought; nil when it is not.
    package func remainingTime(at now: Moment) -> Duration? { isLinked ? nil : max(.zero, deadline - now) }

    /// Whether the peer has been sought for so long with the same data.
    package func hasTried(for time: Duration, at now: Moment) -> Bool { !isLinked && now - began >= time }

    /// The peer is sought for no other reason than that it was dialling when its link ended.
    package var callsBack: Bool { isCallback && !isLinked }

    /// Whether there is a link to this very instance of the peer.
    package func isLinked(to endpoint: Endpoint) -> Bool {
        if case .linked(endpoint, _) = phase { true } else { false }
    }
}

/// Why one attempt came to nothing while the attempt goes on.
package enum ConnectionFailure: Equatable, Sendable {
    case unreachable(String)
    case lost
    case security(SecurityFault)
    /// The peer closed with this code.
    case closed(CloseCode)
    /// We closed with this code.
    case refused(CloseCode)

    /// What happened below the frames, in words.
    package var detail: String {
        switch self {
        case .unreachable(let problem): problem
        case .security(let fault): "\(fault)"
        case .lost, .closed, .refused: ""
        }
    }

    /// How much it says.
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
    /// The time was over; the last failure of a connection, when there was one.
    case timedOut(ConnectionFailure?)
    /// The peer refused for good.
    case refusedByPeer(CloseCode)
    /// We refused for good: POLICY, REJECTED, VERSION, FULL.
    case refused(CloseCode)
    case cancelled
    /// The peer is not in the mesh any more.
    case withdrawn
}
