import MultipeerCore
import MultipeerHandshake

/// The progress of connecting to one member without a link.
///
/// ```
///   waiting ──a slot is free──▶ active ──failed, withdrawn──▶ waiting, longer each time
///      ▲                           ├──timed out──▶ waiting
///      │                           └──failed for good──▶ hopeless ──other data──▶ waiting
///      └──link lost
/// ```
struct MemberDial: Sendable {
    enum Phase: Equatable, Sendable {
        case waiting(until: Moment)
        /// Connecting with the data of this reference.
        case active([UInt8], since: Moment)
        /// Permanently failed with these data; only other data justify another attempt.
        case hopeless([UInt8])
    }

    var phase: Phase
    var failures = 0
    /// Whether an attempt was made since the member entered the component.
    var hasBegun = false
    /// Whether the attempt in progress shows as connecting.
    var isReported = false
    /// The number of attempts in which the member answered that it does not expect this one.
    var refusals = 0
    /// Whether the member left the component, and only its pause is remembered.
    var isOutside = false
    /// Whether the lost link was a mesh link.
    var isOfMesh = false
    /// The time until which the attempt continues even outside the component: the peer was dialling when its link
    /// ended.
    var callback: Moment?

    var isActive: Bool {
        if case .active = phase { true } else { false }
    }
}

/// Every member of the component dials every other, and those that it has lost. Spec 11.
extension Membership {
    /// The members to connect: those without any link, and those whose link was lost, in the component or not. Not another
    /// instance of the local peer, and of a linked peer only an instance that became known later. [mesh.dial] [mesh.missed]
    private var missing: [Endpoint] {
        let lost = graph.missed.keys.filter { !graph.reached.contains($0) }
        let wanted = lost.isEmpty ? component : (component + lost).sorted(by: <)
        return wanted.filter { endpoint in
            endpoint.uid != local.uid  // [mesh.same-uid]
                && graph.links.values.allSatisfy {
                    $0.endpoint.uid != endpoint.uid || graph.isLater(endpoint, than: $0.endpoint)
                }
        }
    }

    mutating func connectMissingMembers() -> [Action] {
        let missing = missing
        if missing.isEmpty && searches.isEmpty { return [] }
        let actions = withdraw(allBut: Set(missing))
        for endpoint in missing { prepare(endpoint) }
        return actions + hideMissed() + renewSearches() + replaceOldInstances(missing) + begin(missing)
    }

    private var activeCount: Int { searches.values.count { $0.isActive } }

    /// Stops connecting to endpoints that left the component, and remembers a pause so that their states do not
    /// flicker. [mesh.withdraw]
    private mutating func withdraw(allBut missing: Set<Endpoint>) -> [Action] {
        var actions: [Action] = []
        for endpoint in searches.keys.sorted(by: <) where !missing.contains(endpoint) {
            guard let search = searches[endpoint] else { continue }
            if search.isActive {
                if let callback = search.callback, now < callback { continue }
                fail(endpoint)
                actions.append(.withdraw(endpoint.uid))
            }
            searches[endpoint]?.hasBegun = false
            searches[endpoint]?.isOutside = true
            if case .waiting(let until) = searches[endpoint]?.phase, now < until { continue }
            searches[endpoint] = nil
        }
        return actions
    }

    /// Lets the attempts to those that left the component, and are missed, go on silently: the application sees the end of the
    /// link, and later another one. [mesh.unreported]
    private mutating func hideMissed() -> [Action] {
        var actions: [Action] = []
        for endpoint in searches.keys.sorted(by: <) where graph.isCutOff(endpoint) {
            guard let search = searches[endpoint], search.callback.map({ $0 <= now }) ?? true else {
                continue
            }
            if search.isReported { actions.append(.hide(endpoint.uid)) }
            searches[endpoint]?.isReported = false
            searches[endpoint]?.hasBegun = true
        }
        return actions
    }

    private mutating func prepare(_ endpoint: Endpoint) {
        guard let search = searches[endpoint], !(search.isOutside && isReady(endpoint)) else {
            searches[endpoint] = MemberDial(phase: .waiting(until: now))
            return
        }
        searches[endpoint]?.isOutside = false
        if case .hopeless(let reference) = search.phase, graph.database[endpoint]?.data.reference != reference
        {
            searches[endpoint]?.phase = .waiting(until: now)
        }
    }

    /// Restarts attempts that use outdated data with the new ones.
    private mutating func renewSearches() -> [Action] {
        searches.keys.sorted(by: <).compactMap { endpoint in
            guard let due = renewal(of: endpoint), due <= now else { return nil }
            return attempt(endpoint)
        }
    }

    private func renewal(of endpoint: Endpoint) -> Moment? {
        guard case .active(let reference, let since) = searches[endpoint]?.phase,
            let data = graph.database[endpoint]?.data, data.reference != reference
        else { return nil }
        return since + MembershipTiming.freshData
    }

    /// Connects to the new instance of a restarted peer instead of the previous one.
    private mutating func replaceOldInstances(_ missing: [Endpoint]) -> [Action] {
        missing.compactMap { endpoint in
            guard isReady(endpoint), let former = replaced(by: endpoint) else { return nil }
            fail(former)
            return attempt(endpoint)
        }
    }

    private func replaced(by endpoint: Endpoint) -> Endpoint? {
        guard let active = activeSearch(of: endpoint.uid), graph.isLater(endpoint, than: active) else {
            return nil
        }
        // A missed instance answers for as long as its attempt lasts that it is another one.
        let isMember = !graph.isCutOff(endpoint) && graph.isCutOff(active)
        return isNew(endpoint) || isMember ? active : nil
    }

    /// Starts as many attempts as are allowed at once, the longest waiting first. [mesh.dial]
    private mutating func begin(_ missing: [Endpoint]) -> [Action] {
        let ready = missing.filter(isReady)
        if ready.isEmpty { return [] }
        let outdated = ready.filter { endpoint in
            ready.contains { $0.uid == endpoint.uid && isNew($0) && graph.isLater($0, than: endpoint) }
        }
        let waiting = Set(ready).subtracting(outdated).sorted(by: hasWaitedLonger)
        var actions: [Action] = []
        for endpoint in waiting where mayBegin(endpoint) {
            guard let action = attempt(endpoint) else { continue }
            actions.append(action)
        }
        return actions
    }

    /// Half of the places are for members of the component.
    private func mayBegin(_ endpoint: Endpoint) -> Bool {
        guard activeCount < 2 * cap, activeSearch(of: endpoint.uid) == nil else { return false }
        guard graph.isCutOff(endpoint) else { return true }
        return searches.count { $0.value.isActive && !graph.reached.contains($0.key) } < cap
    }

    /// Whether a member is contacted even if there is no room for a link. When members occupy all links there is one member too
    /// many: no link follows, but the two verify each other, so that the member can be counted. When another peer occupies
    /// one, the member is not dialled; the FULL that it receives shows it that this session exists. [mesh.counted]
    func dialsWithoutCapacity(_ endpoint: Endpoint) -> Bool {
        !graph.isCutOff(endpoint) && graph.links.values.allSatisfy(\.isMesh)
    }

    private func pauseEnd(_ endpoint: Endpoint) -> Moment? {
        guard case .waiting(let until) = searches[endpoint]?.phase else { return nil }
        return until
    }

    private func isReady(_ endpoint: Endpoint) -> Bool { pauseEnd(endpoint).map { $0 <= now } ?? false }

    private func isNew(_ endpoint: Endpoint) -> Bool { searches[endpoint]?.hasBegun == false }

    private func hasWaitedLonger(_ one: Endpoint, _ other: Endpoint) -> Bool {
        if graph.isCutOff(one) != graph.isCutOff(other) { return graph.isCutOff(other) }
        let (first, second) = (pauseEnd(one) ?? now, pauseEnd(other) ?? now)
        return first < second || first == second && one < other
    }

    private func activeSearch(of uid: UID) -> Endpoint? {
        searches.first { $0.key.uid == uid && $0.value.isActive }?.key
    }

    private mutating func attempt(_ endpoint: Endpoint) -> Action? {
        guard let data = graph.database[endpoint]?.data, let search = searches[endpoint] else { return nil }
        searches[endpoint]?.phase = .active(data.reference, since: now)
        searches[endpoint]?.hasBegun = true
        searches[endpoint]?.isReported = !search.hasBegun
        return .connect(data, isFirst: !search.hasBegun)  // [mesh.unreported]
    }
}

// MARK: after an attempt

extension Membership {
    mutating func endSearch(of uid: UID, _ end: AttemptEnd, isHopeless: Bool, isUntried: Bool) {
        guard let endpoint = activeSearch(of: uid) else { return }
        let phase = searches[endpoint]?.phase
        fail(endpoint)
        conclude(end, of: endpoint)
        if isUntried { searches[endpoint]?.hasBegun = false }  // [mesh.unreported]
        if isHopeless, case .active(let reference, _) = phase {
            searches[endpoint]?.phase = .hopeless(reference)
        }
    }

    /// Determines what the end of an attempt means for the next one: two members link only while both try, so none pauses when
    /// the other has been silent. [mesh.retry] [mesh.missed]
    private mutating func conclude(_ end: AttemptEnd, of endpoint: Endpoint) {
        switch end {
        case .failed: break
        case .timedOut: searches[endpoint]?.phase = .waiting(until: now)
        case .unexpected:
            searches[endpoint]?.phase = .waiting(until: now)
            searches[endpoint]?.refusals += 1
            guard searches[endpoint]?.refusals == MembershipTiming.refusals else { return }
            graph.stopMissing(endpoint)
        case .full:
            guard graph.isCutOff(endpoint) else { return }
            searches[endpoint]?.phase = .waiting(until: now + MembershipTiming.crowdedPause)
        case .refused: graph.stopMissing(endpoint)
        }
    }

    /// Connects again after a lost link, at once if the link has lasted.
    mutating func resume(after link: MeshLink) {
        searches[link.endpoint] = MemberDial(phase: .waiting(until: now), isOfMesh: link.isMesh)
        if now - link.since < MembershipTiming.steady { fail(link.endpoint) }
    }

    /// Continues connecting to an endpoint: one end may have detected more of the end of the link than the other. The
    /// attempt is withdrawn like any other, but not before the peer had time to finish its own. [mesh.withdraw]
    mutating func keepSearching(for endpoint: Endpoint) {
        guard searches[endpoint]?.isOfMesh == true, activeSearch(of: endpoint.uid) == nil else { return }
        let reference = graph.database[endpoint]?.data.reference ?? []
        searches[endpoint]?.phase = .active(reference, since: now)
        searches[endpoint]?.hasBegun = true
        searches[endpoint]?.isReported = true
        searches[endpoint]?.callback = now + MembershipTiming.callback
    }

    /// Schedules the next attempt: after 1 s, 2 s, 2 s, each varied at random by up to 50 %.
    private mutating func fail(_ endpoint: Endpoint) {
        guard let failures = searches[endpoint]?.failures else { return }
        let pause = min(MembershipTiming.firstPause * (1 << min(failures, 5)), MembershipTiming.longestPause)
        searches[endpoint]?.phase = .waiting(until: now + pause * jitter.factor())  // [mesh.retry]
        searches[endpoint]?.failures = min(failures + 1, 5)
        searches[endpoint]?.isReported = false
    }

    /// The time of the next attempt.
    var searching: Moment? {
        let missing = missing
        if missing.isEmpty && searches.isEmpty { return nil }
        let callbacks = searches.filter {
            $0.value.isActive
                && (graph.isCutOff($0.key) ? $0.value.isReported : !missing.contains($0.key))
        }.compactMap(\.value.callback)
        let begins = missing.compactMap { endpoint -> Moment? in
            guard let search = searches[endpoint] else { return now }
            switch search.phase {
            case .waiting(let until): return mayBegin(endpoint) || replaced(by: endpoint) != nil ? until : nil
            case .active: return renewal(of: endpoint)
            case .hopeless: return nil
            }
        }
        return (begins + callbacks).min()
    }
}
