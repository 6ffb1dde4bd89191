/// The peers to which a session connects because they are in its mesh. Spec 11.6.
extension PeerMesh {
    /// Handles an attempt that failed.
    func failed(_ endpoint: Endpoint) {
        let failures = (waiting[endpoint]?.failures ?? 0) + 1
        let usual = min(2_000, 1_000 << min(failures - 1, 4))
        let pause = bug == .neverRetries ? 3_600_000 : usual
        waiting[endpoint] = (.now + .milliseconds(Int.random(in: pause / 2...pause * 3 / 2)), failures)
    }

    func tick(_ now: Instant) {
        lookAtClock(now)
        guard !known.isEmpty else { return }
        let component = component
        let inside = Set(component)
        for (endpoint, one) in known {
            if inside.contains(endpoint) {
                known[endpoint]?.outsideSince = nil
            } else if let since = one.outsideSince {
                if now - since > .seconds(60) { known[endpoint] = nil }
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
        where attempt.isForMesh && !inside.contains(attempt.endpoint) {
            reported.remove(attempt.endpoint)
            session.abandon(attempt, "withdrawn", nil, saying: .unknownPeer)
        }
        for endpoint in component { connect(endpoint, now) }
        judgeExcess(component, now)
        pour()
    }

    private func connect(_ endpoint: Endpoint, _ now: Instant) {
        guard endpoint.uid != me.uid, session.links[endpoint.uid] == nil, session.attempts[endpoint] == nil,
            let held = known[endpoint]?.held, session.outcome(with: held.data) != .refused,
            session.links.count < session.slots || links.count == session.links.count,
            session.attempts.count < 2 * session.settings.cap,
            waiting[endpoint].map({ $0.until <= now }) ?? true
        else { return }
        let isFirst = reported.insert(endpoint).inserted
        session.connect(held, isForMesh: true, isSilent: !isFirst)
    }
}
