import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

// MARK: consequences

extension Mesh {
    /// Carries out consequences until none is left, or the owner has to end a link first.
    mutating func settle() {
        while true {
            undone += linkEstablishment.takeActions()
            if undone.isEmpty {
                let wanted = membership.takeActions()
                if wanted.isEmpty { break }
                for action in wanted { carryOut(action) }
                if case .dismiss = wanted.last { return }
            }
            while let action = undone.first {
                undone.removeFirst()
                if let end = end(action) {
                    actions.append(end)
                    return
                }
                carryOut(action)
            }
        }
        linkEstablishment.meshSnapshot = membership.snapshot(at: now)  // [mesh.full]
        guard actions.isEmpty else { return }
        isSettled = true
        settledDeadline = earliest
    }

    private func end(_ action: LinkEstablishment.Action) -> Action? {
        switch action {
        case .supersede(let id): .end(id, DisconnectReason(code: .superseded), telling: .duplicate)
        case .unanswered(let id): .end(id, DisconnectReason(code: .timedOut), telling: .timeout)
        default: nil
        }
    }

    private mutating func carryOut(_ action: LinkEstablishment.Action) {
        switch action {
        case .dial(let id, let candidate, let accepting):
            actions.append(.dial(id, candidate, accepting: accepting))
        case .send(let id, let frames): actions.append(.send(id, frames))
        case .close(let id, let code): actions.append(.close(id, code))
        case .ask(let uid, let id): actions.append(.ask(uid, id))
        case .probe(let id): actions.append(.probe(id))
        case .link(let id, let data, let remote, let isMesh):
            let uid = data.peer.uid
            names[uid] = data.peer
            introduced.remove(uid)
            membership.linked(id, to: data.endpoint, isMesh: isMesh, key: data.fingerprint, at: now)
            actions.append(.link(id, data, remote: remote, isMesh: isMesh))
            note(.linked, of: uid)
            actions.append(.settled(uid, nil))
        case .met(let endpoint): membership.met(endpoint, at: now)
        case .connect(let uid):
            note(.connectRequested, of: uid)
            resumed(uid)
        // A peer that died is not shown as connecting until the attempt times out. [state.unused]
        case .resume(let uid): resumed(uid)
        case .fail(let uid, let failure): failed(uid, failure)
        case .supersede, .unanswered: break
        }
    }

    /// The application's attempt ended when the peer was linked: from now on the mesh may continue with newer data.
    private mutating func resumed(_ uid: UID) {
        introduced.insert(uid)
        guard let attempt = linkEstablishment[uid], attempt.callsBack else { return }
        membership.searchGoesOn(for: attempt.endpoint, at: now)
    }

    private mutating func failed(_ uid: UID, _ failure: LinkAttemptFailure) {
        introduced.remove(uid)
        membership.attemptEnded(uid, Membership.AttemptEnd(failure), isHopeless: false, at: now)
        note(.abandoned(DisconnectReason(failure)), of: uid)
        actions.append(.settled(uid, DisconnectReason(failure)))  // [state.outcome]
    }

    private mutating func carryOut(_ action: Membership.Action) {
        if isLeaving { return }
        switch action {
        case .tell(let id, let entry): actions.append(.tell(id, entry))
        case .connect(let data, let isFirst): connect(data, isFirst: isFirst)
        case .withdraw(let uid):
            if introduced.contains(uid) { linkEstablishment.withdraw(uid) }
        case .hide(let uid):
            if introduced.contains(uid) { note(.abandoned(DisconnectReason(code: .gone)), of: uid) }
        case .dismiss(let id):
            actions.append(.end(id, DisconnectReason(code: .full), telling: .unknownPeer))  // [mesh.dismiss]
        case .leave: actions.append(.leave)
        }
    }

    /// Connects to a member that is not linked. An attempt of the application remains the application's, also with the data
    /// of the mesh. [mesh.dial]
    private mutating func connect(_ data: ConnectionData, isFirst: Bool) {
        let uid = data.peer.uid
        let known = linkEstablishment[uid]
        let isOwn = known?.endpoint == data.endpoint && !introduced.contains(uid)
        if isFirst, known == nil, holdsIntroductions {  // [limit.events]
            return membership.attemptEnded(uid, isHopeless: false, at: now)
        }
        if isOwn, known?.hasTried(for: MembershipTiming.freshData, at: now) != true {
            // The application's data come first. When they fail, those of the mesh are tried: see below.
            return membership.attemptEnded(uid, isHopeless: false, at: now)
        }
        // Another instance of the peer that the application requested, or to which it is linked, is probably the live one.
        if let known, known.isConnecting, known.endpoint != data.endpoint, !introduced.contains(uid),
            membership.isCutOff(data.endpoint)
        {
            return membership.attemptEnded(uid, isHopeless: false, at: now)
        }
        do throws(LinkEstablishment.Refusal) {
            // An attempt whose data are replaced by newer ones continues as the same attempt. [state.outcome]
            let remainingTime = known?.remainingTime(at: now) ?? HandshakeTiming.attempt
            guard
                try linkEstablishment.connect(
                    with: data, zones: zones, within: remainingTime,
                    needsLinkCapacity: known == nil && !membership.dialsWithoutCapacity(data.endpoint),
                    introducer: isOwn ? nil : membership.introducer(of: data.endpoint), at: now)
            else { return }
            names[uid] = data.peer
            if isOwn { return }
            introduced.insert(uid)
            if isFirst { note(.connectRequested, of: uid) }
        } catch {
            membership.attemptEnded(
                uid, isHopeless: error == .incompatible || error == .itself,
                isUntried: isFirst && error == .full, at: now)
        }
    }

    mutating func note(_ event: PeerStateTable.Event, of uid: UID) {
        for transition in roster.handle(event, of: uid) {
            guard let peer = names[uid] else { continue }
            actions.append(.state(peer, transition.state))
        }
        // A name is kept while its peer is connecting or linked, so that memory does not grow with former peers.
        guard roster.state(of: uid) == .notConnected, linkEstablishment[uid] == nil else { return }
        names[uid] = nil
    }
}

extension Membership.AttemptEnd {
    /// Creates it from the failure of an attempt.
    fileprivate init(_ failure: LinkAttemptFailure) {
        switch failure {
        case .timedOut(.closed(.unknownPeer)), .timedOut(.security(.peer)): self = .unexpected
        case .timedOut: self = .timedOut
        case .refusedByPeer(.full), .refused(.full): self = .full
        case .refusedByPeer(.cancelled), .cancelled, .withdrawn: self = .failed
        case .refusedByPeer, .refused: self = .refused
        }
    }
}
