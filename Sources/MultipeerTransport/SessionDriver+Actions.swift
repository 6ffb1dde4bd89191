import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the engine wants

extension SessionDriver {
    /// Carries out what the engine wants, in order, until it wants nothing more. What follows from that while it goes on
    /// is carried out after what was wanted before.
    func carryOut() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        defer { isCarryingOut = false }
        while case let outputs = engine.takeOutputs(), !outputs.isEmpty {
            for output in outputs { carryOut(output) }
        }
    }

    private func carryOut(_ output: SessionEngine.Output) {
        switch output {
        case .dial(let id, let candidate, let accepting): dial(id, candidate, accepting: accepting)
        case .finish(let id):
            wires[id]?.phase = .parting
            dirty.insert(id)
        case .drop(let id): if let wire = wires[id] { close(wire) }
        case .ask(let uid, let id): ask(uid, about: id)
        case .renewData: renewMeshData()
        case .deriveVerificationKey(let id): deriveVerificationKey(id)
        case .linked(let id, let data, let remote, let isMesh): linked(id, data, remote, isMesh: isMesh)
        case .messages(let id, let messages): deliver(messages, on: id)
        case .channels(let id, let events): deliver(events, on: id)
        case .relieved(let id, let channel): relieved(id, channel)
        case .markReached(let mark): marks.removeValue(forKey: mark)?.signal.send(true)
        case .datagramsOffered(let id, let offer): datagramsOffered(offer, on: id)
        case .verificationRequested(let peer): pending.append(.verificationRequested(peer))
        case .verified(let requests, let outcome): verified(requests, outcome)
        case .unlinked(let id, let peer, let reason): unlinked(id, peer, reason)
        case .state(let peer, let state): stateChanged(of: peer, state)
        case .settled(let uid, let reason):
            if reason != nil { questions.removeValue(forKey: uid)?.cancel() }
            settleOutcomes(of: uid, reason)
        case .evicted: abandonPursuits()
        case .left: beginInstance()
        }
    }

    private func stateChanged(of peer: PeerID, _ state: PeerState) {
        var state = state
        if case .notConnected(var reason) = state {
            if let more = untaken.removeValue(forKey: peer.uid) {
                reason.undelivered += more
                state = .notConnected(reason)
            }
            if reason.code == .lost || reason.code == .timedOut { Losses.shared.report(peer.uid) }
        }
        pending.append(.peer(peer, state))
        noteState(of: peer.uid)
        forget(peer.uid)
    }

    // MARK: links

    private func linked(_ id: ConnectionID, _ data: ConnectionData, _ remote: LinkLimits, isMesh: Bool) {
        guard let wire = wires[id] else { return }
        let uid = data.peer.uid
        let outlet = outlets.open(
            uid, longestMessage: Int(clamping: remote.maxMessage),
            waking: { [errands] in errands.add(.messages(id)) })
        let seat = Seat(
            data.peer, outlet: outlet, suite: wire.channel?.suite,
            authentication: authentications[uid] ?? (wire.channel?.suite == nil ? .tokens : .connectionData))
        wire.seat = seat
        wire.socket.setUserTimeout(configuration.death)  // [live.backstop]
        if isMesh { engine.zones = linkLocalZones() }
        openDatagrams(wire, seat, data)
        guest?.linkMade(to: data.peer)
    }

    private func deliver(_ messages: [IncomingMessage], on id: ConnectionID) {
        guard let seat = wires[id]?.seat else { return }
        if let guestMark { return sort(messages, id, seat, by: guestMark) }
        let key = Int(id.rawValue)
        for message in messages {
            pending.append(.message(Message(peer: seat.peer, message)), key: key, cost: message.cost)
        }
    }

    private func unlinked(_ id: ConnectionID, _ peer: PeerID, _ reason: EndReason) {
        guard let wire = wires[id], let seat = wire.seat else { return }
        wire.seat = nil
        let left = outlets.close(peer.uid, with: reason)
        let more = Undelivered(messages: left.count, bytes: left.reduce(0) { $0 + $1.count })
        if more.messages > 0 { untaken[peer.uid] = more }
        failChannels(seat, reason)
        closeDatagrams(seat)
        settleMarks(of: peer.uid)
        var whole = reason
        whole.undelivered += more
        guest?.linkEnded(to: peer, whole)
    }

    // MARK: connections

    /// The connection ended below the frames.
    func lost(_ wire: Wire, _ setback: Setback) {
        guard wires[wire.id] === wire else { return }
        var hasAlert = false
        if case .security = setback, wire.channel != nil, !wire.isParting {
            wire.frames.removeAll()
            hasAlert = true
        }
        engine.ended(wire.id, setback, hasAlert: hasAlert, at: loop.now)
        carryOut()
    }

    /// Gives the socket back to the system.
    private func close(_ wire: Wire) {
        guard wires.removeValue(forKey: wire.id) != nil else { return }
        dirty.remove(wire.id)
        loop.deregister(wire.socket.descriptor)
        wire.channel = nil
    }

    /// What is known of a peer is kept while it is sought or linked, so that nothing grows with the peers there were.
    private func forget(_ uid: UID) {
        if engine.mesh.state(of: uid) == .notConnected, !engine.mesh.awaits(uid) {
            authentications[uid] = nil
        }
    }
}
