/// The peers to which a session connects because they are in its mesh. Spec 11.6.
extension PeerMesh {
    /// Handles an attempt that failed. `isUnknown`: the peer answered that it does not know this session.
    func failed(_ endpoint: Endpoint, _ reason: String, _ code: CloseCode?, isUnknown: Bool) {
        let failures = (waiting[endpoint]?.failures ?? 0) + 1
        if reason == "timeout", bug != .neverRetries {
            if isUnknown { refusals[endpoint, default: 0] += 1 }
            if refusals[endpoint, default: 0] >= 3 { missed[endpoint] = nil }
            waiting[endpoint] = (.now, failures)
            return
        }
        if code == .full, missed[endpoint] != nil, !component.contains(endpoint) {
            waiting[endpoint] = (.now + .seconds(10), failures)
            return
        }
        if reason == "refused", ![.full, .cancelled].contains(code) { missed[endpoint] = nil }
        let usual = min(2_000, 1_000 << min(failures - 1, 4))
        let pause = bug == .neverRetries ? 3_600_000 : usual
        waiting[endpoint] = (.now + .milliseconds(Int.random(in: pause / 2...pause * 3 / 2)), failures)
    }

    func tick(_ now: Instant) {
        lookAtClock(now)
        endCallers(now)
        guard !known.isEmpty else { return }
        let component = component
        let inside = Set(component)
        missed = missed.filter { now < $0.value && known[$0.key] != nil }
        for (endpoint, one) in known {
            if inside.contains(endpoint) {
                known[endpoint]?.outsideSince = nil
            } else if let since = one.outsideSince {
                if now - since > .seconds(60), missed[endpoint] == nil { known[endpoint] = nil }
            } else {
                known[endpoint]?.outsideSince = now
            }
        }
        departed = departed.filter { now - $0.value < .seconds(60) }
        for (endpoint, since) in dismissed where now - since >= .seconds(5) {
            dismissed[endpoint] = nil
            takeUp(endpoint)
        }
        met = met.filter { now - $0.value < .seconds(60) }
        for attempt in Array(session.attempts.values)
        where attempt.isForMesh && !inside.contains(attempt.endpoint) && bug != .neverWithdraws {
            if missed[attempt.endpoint] != nil {
                hide(attempt)
                continue
            }
            reported.remove(attempt.endpoint)
            session.abandon(attempt, "withdrawn", nil, saying: .unknownPeer)
        }
        for endpoint in component { connect(endpoint, now) }
        for endpoint in missed.keys where !inside.contains(endpoint) {
            connect(endpoint, now, isCutOff: true)
        }
        judgeExcess(component, now)
        pour()
    }

    /// Lets an attempt go on silently.
    private func hide(_ attempt: PeerAttempt) {
        guard !attempt.isSilent else { return }
        attempt.isSilent = true
        session.application.tell("notConnected", of: attempt.endpoint.uid, reason: "withdrawn", code: nil)
    }

    private func connect(_ endpoint: Endpoint, _ now: Instant, isCutOff: Bool = false) {
        guard endpoint.uid != me.uid || bug == .dialsOwnUid, bug != .neverDialsMembers,
            session.links[endpoint.uid] == nil, session.attempts[endpoint] == nil,
            let held = known[endpoint]?.held, session.outcome(with: held.data) != .refused,
            session.links.count < session.slots || !isCutOff && links.count == session.links.count,
            session.attempts.count < 2 * session.settings.cap,
            waiting[endpoint].map({ $0.until <= now }) ?? true
        else { return }
        guard !hasRival(endpoint) else { return }
        let isFirst = reported.insert(endpoint).inserted || bug == .reportsEachAttempt
        session.connect(held, isForMesh: true, isSilent: !isFirst || isCutOff)
    }

    /// Whether another instance of its uid is dialled, or is to be dialled before it. Spec 11.6, `mesh.same-uid`.
    private func hasRival(_ endpoint: Endpoint) -> Bool {
        guard let number = known[endpoint]?.number else { return false }
        let rivals = component.filter { $0 != endpoint && $0.uid == endpoint.uid }
        return rivals.contains { rival in
            guard let other = known[rival]?.number else { return false }
            let isBefore = bug == .dialsFormerInstance ? other < number : other > number
            if session.attempts[rival] != nil { return true }
            return isBefore && waiting[rival].map { $0.until <= .now } ?? true
        }
    }

    /// Notes a member whose link has ended and that has dialled meanwhile: its link may not have ended at the same time.
    func noteCaller(_ endpoint: Endpoint) {
        let candidates = session.candidates.filter { $0.endpoint == endpoint }
        guard !candidates.isEmpty else { return }
        callers[endpoint] = .now + (bug == .forgetsCaller ? .zero : .seconds(4))
    }

    /// Withdraws from those that are no members any longer, and have not linked in time.
    private func endCallers(_ now: Instant) {
        let inside = callers.isEmpty ? [] : Set(component)
        for (endpoint, end) in callers where now >= end {
            callers[endpoint] = nil
            guard session.links[endpoint.uid] == nil, !inside.contains(endpoint),
                missed[endpoint] == nil || bug == .forgetsCaller
            else { continue }
            for one in session.candidates where one.endpoint == endpoint { one.close(.unknownPeer) }
        }
    }
}
