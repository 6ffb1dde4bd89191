package import MultipeerFraming
package import MultipeerSecurity

/// One awaited peer: from `connect` until its link is over. Spec 6.1.
///
/// ```
/// seeking ──linked──▶ linked ──link ended──▶ (forgotten)
///    └─deadline, refusal, cancel──▶ (forgotten)
/// ```
struct Introduction: Sendable {
    enum Phase: Equatable, Sendable {
        case seeking
        /// Settled from `settles` on: until then a further candidate is a duplicate, later it is a proof of life.
        case linked(to: Endpoint, settles: Moment)
    }

    /// A candidate of a new instance, waiting for what the link to the old instance answers. Spec 6.5.
    struct Parked: Sendable {
        let connection: ConnectionID
        var isSelected: Bool
    }

    enum Trust: Equatable, Sendable { case unasked, asked, trusted }

    var acquaintance: Acquaintance
    var phase = Phase.seeking
    var deadline: Moment
    var plan: DialPlan
    var selection: Selection
    var trust = Trust.unasked
    var setback: Setback?
    var probeDeadline: Moment?
    var parked: [Parked] = []

    init(_ acquaintance: Acquaintance, local: LocalPeer, candidates: [Candidate], until deadline: Moment, at now: Moment) {
        let isLower = local.endpoint.uid < acquaintance.endpoint.uid
        self.acquaintance = acquaintance
        self.deadline = deadline
        plan = DialPlan(candidates, from: isLower ? now : now + Timing.higherDialDelay)  // [link.dialler]
        selection = Selection(isLower ? .controlling : .controlled)
    }

    var isLinked: Bool { phase != .seeking }

    func isSettled(at now: Moment) -> Bool {
        if case .linked(_, let settles) = phase { return now >= settles }
        return false
    }

    /// The next moment at which something happens without input.
    var nextMoment: Moment? {
        let own = isLinked ? [probeDeadline] : [deadline, plan.deadline, probeDeadline]
        return own.compactMap { $0 }.min()
    }

    mutating func note(_ new: Setback) {
        // A CLOSE from the peer says more than a lost connection or a refused dial after it.
        if case .closed = setback, !new.isTelling { return }
        setback = new
    }
}

/// Why one attempt came to nothing while the introduction goes on.
package enum Setback: Equatable, Sendable {
    case unreachable(String)
    case lost
    case security(SecurityFault)
    /// The peer closed with this code.
    case closed(CloseCode)
    /// We closed with this code.
    case refused(CloseCode)

    var isTelling: Bool {
        switch self {
        case .closed, .refused, .security: true
        case .unreachable, .lost: false
        }
    }
}

/// Why an introduction ended without a link.
package enum IntroductionFailure: Error, Equatable, Sendable {
    /// The time was over; the last setback, when there was one.
    case timedOut(Setback?)
    /// The peer refused for good.
    case refusedByPeer(CloseCode)
    /// We refused for good: POLICY, REJECTED, VERSION, FULL.
    case refused(CloseCode)
    case cancelled
}
