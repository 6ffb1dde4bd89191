package import MultipeerCore
package import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh

// MARK: actions of the mesh

extension SessionEngine {
    mutating func carryOut(_ action: Mesh.Action) {
        switch action {
        case .dial(let id, let candidate, let accepting):
            links.connections.add(id)
            outputs.append(.connection(.dial(id, candidate, accepting: accepting)))
        case .send(let id, let frames):
            guard let connection = links[id] else { return }
            connection.frames.append(frames)
            links.connections.markDue(connection)
        case .close(let id, let code): close(id, code)
        case .ask(let uid, let id): outputs.append(.ask(uid, id))
        case .link(let id, let data, let remote, let isMesh): link(id, data, remote, isMesh: isMesh)
        case .end(let id, let reason, let code): endLink(id, reason, telling: code)
        case .probe(let id): links.markedPeer(on: id)?.link.probe()
        case .tell(let id, let entry): links.markedPeer(on: id)?.link.say(.members(entry))
        case .state(let peer, let state):
            requests.noteState(of: peer.uid)
            tell(.state(peer, state), of: peer.uid)
        case .settled(let uid, let reason):
            outputs.append(.settled(uid, reason))
            requests.attemptEnded(of: uid, reason, isLeaving: isLeaving, at: now, &mesh, &outputs)
        case .leave: giveWay()
        case .renew: outputs.append(.renewData)
        }
    }

    private mutating func link(
        _ id: ConnectionID, _ data: ConnectionData, _ remote: LinkLimits, isMesh: Bool
    ) {
        guard let connection = links[id] else {
            return mesh.linkEnded(
                id, of: data.peer.uid, DisconnectReason(code: .lost), wasUsed: false, at: now)
        }
        var timing = configuration.timing
        timing.lead = timing.keepAliveInterval / 20
        timing.isFirst = mesh.local.endpoint.uid < data.peer.uid
        var link = Link(
            LinkConfiguration(
                local: mesh.local.limits, remote: remote, timing: timing,
                greaseKind: Grease.frameKind(jitter.next()), isMesh: isMesh), now: now)
        link.hasTurn = false
        let peer = LinkedPeer(data.peer, link, on: id, isEncrypted: connection.isEncrypted)
        peer.isLeaving = isLeaving
        links.add(connection, peer)
        unauthenticated.remove(id)
        outputs.append(.linked(id, data, remote: remote, isMesh: isMesh))
        datagrams.open(peer, data, &outputs)
    }
}

// MARK: - Outputs of a link

extension SessionEngine {
    /// Collects the outputs of a link: messages first, then channels, then rare events, then the link's end.
    /// `detail` describes a loss.
    mutating func collect(_ connection: Connection, _ peer: LinkedPeer, detail: String = "") {
        links.connections.markDue(connection)
        if let messages = peer.takeOnlyMessages() {
            if !messages.isEmpty { outputs.append(.messages(peer.id, messages)) }
            return
        }
        collectTraffic(of: peer)
        while let event = peer.link.nextEvent() {
            switch event {
            case .markReached(let mark): outputs.append(.markReached(mark))
            case .probeAnswered: mesh.probeAnswered(by: peer.peer.uid, at: now)
            case .datagramOffered(let offer): datagrams.receive(offer, from: peer, at: now, &outputs)
            case .code(let frame): verify(frame, connection, peer)
            case .members(let entry):
                if let violation = mesh.membersArrived(entry, on: connection.id, at: now) {
                    peer.link.violated(violation)
                }
            case .pinged: outputs.append(.observe(peer.id))
            case .roundTrip: break
            }
        }
        guard connection.peer === peer else { return }
        links.giveTurn(to: peer, at: now)
        guard let end = peer.link.end else { return }
        finishLink(
            connection, peer,
            end == .lost ? DisconnectReason(code: .lost, detail: detail) : DisconnectReason(end))
    }

    private mutating func collectTraffic(of peer: LinkedPeer) {
        let messages = peer.link.takeMessages()
        if !messages.isEmpty { outputs.append(.messages(peer.id, messages)) }
        links.collectChannels(of: peer, at: now, into: &outputs)
    }

    /// Ends a working link.
    mutating func endLink(_ id: ConnectionID, _ reason: DisconnectReason, telling code: CloseCode) {
        guard let connection = links[id], let peer = connection.peer else { return }
        peer.link.close(code, at: now)
        collectTraffic(of: peer)
        finishLink(connection, peer, reason)
    }

    /// Finishes a link that has ended, for this reason. Called once.
    mutating func finishLink(_ connection: Connection, _ peer: LinkedPeer, _ reason: DisconnectReason) {
        guard connection.peer === peer else { return }
        // The CLOSE, if one is due.
        _ = peer.link.fill(&connection.frames, upTo: SessionEngine.lastFrames, now: now)
        links.remove(connection, at: now)
        var whole = reason
        whole.undelivered = peer.undelivered  // [msg.failed]
        peer.failCodeRequests(.ended(reason), &outputs)
        peer.failConfirmations(.ended(reason), &outputs)
        unread.linkEnded(connection.id, of: peer.peer.uid, untaken: peer.link.untakenCost)
        judgeUnread(of: peer.peer.uid)
        datagrams.close(peer)
        outputs.append(.unlinked(connection.id, peer.peer, whole))
        close(connection.id, .ok)
        mesh.linkEnded(
            connection.id, of: peer.peer.uid, whole, wasUsed: peer.wasUsed(until: reason), at: now)
    }

    /// Ends the link that has the turn for a long message, delivers nothing of it and makes others wait.
    /// [limit.reassembly]
    mutating func endTurn(of id: ConnectionID) {
        guard let connection = links[id], let peer = connection.peer else { return }
        peer.link.close(.flow, reason: "too little progress of a long message", at: now)
        collect(connection, peer)
    }

    /// The room for the frames that are sent before a link's end.
    private static let lastFrames = 65_536
}

// MARK: - Calls of the application

extension SessionEngine {
    /// Sends RESET at once: what waits on the channel is dropped. This may end a link of a leaving session.
    package mutating func reset(_ channel: UInt32, _ code: CloseCode, on id: ConnectionID) {
        links.reset(channel, code, on: id, at: now)
    }

    /// Drops what waits on a channel of a session that leaves: it ends with its link.
    package mutating func drop(_ channel: UInt32, on id: ConnectionID) {
        links.drop(channel, on: id, at: now)
    }

    /// Counts messages of this cost that the application has taken; their link may have ended.
    package mutating func consumed(_ cost: Int, on id: ConnectionID) {
        if let peer = links.markedPeer(on: id) { return peer.link.consumed(cost) }
        if let uid = unread.take(cost, of: id) { judgeUnread(of: uid) }
    }
}
