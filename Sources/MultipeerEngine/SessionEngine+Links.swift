package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh

// MARK: what the mesh decided

extension SessionEngine {
    mutating func carryOut(_ action: Mesh.Action) {
        switch action {
        case .dial(let id, let candidate, let accepting):
            connections.add(id)
            outputs.append(.connection(.dial(id, candidate, accepting: accepting)))
        case .send(let id, let frames):
            guard let connection = connections[id] else { return }
            connection.frames.append(frames)
            markDue(connection)
        case .close(let id, let code): close(id, code)
        case .ask(let uid, let id): outputs.append(.ask(uid, id))
        case .link(let id, let data, let remote, let isMesh): link(id, data, remote, isMesh: isMesh)
        case .end(let id, let reason, let code): endLink(id, reason, telling: code)
        case .probe(let id):
            guard let connection = connections[id] else { return }
            connection.peer?.link.probe()
            markDue(connection)
        case .tell(let id, let entry):
            guard let connection = connections[id] else { return }
            connection.peer?.link.say(.members(entry))
            markDue(connection)
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
        guard let connection = connections[id] else {
            return mesh.linkEnded(id, of: data.peer.uid, EndReason(code: .lost), wasUsed: false, at: now)
        }
        var link = Link(
            Link.Configuration(
                local: mesh.local.limits, remote: remote, timing: configuration.timing,
                greaseKind: Grease.frameKind(jitter.next()), isMesh: isMesh), now: now)
        link.hasTurn = false
        let peer = LinkedPeer(data.peer, link, on: id, isEncrypted: connection.isEncrypted)
        connection.peer = peer
        links.append(connection)
        unauthenticated.remove(id)
        markDue(connection)
        outputs.append(.linked(id, data, remote: remote, isMesh: isMesh))
        datagrams.open(peer, data, &outputs)
    }
}

// MARK: - What a link has ready

extension SessionEngine {
    /// Messages first, then channels, then what is rare, then the link's end. `detail` says more of a loss.
    mutating func collect(_ connection: Connection, _ peer: LinkedPeer, detail: String = "") {
        markDue(connection)
        collectMessages(connection, peer)
        collectChannels(connection, peer)
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
            case .roundTrip: break
            }
        }
        guard connection.peer === peer else { return }
        giveTurn(connection, peer)
        guard let end = peer.link.end else { return }
        finishLink(connection, peer, end == .lost ? EndReason(code: .lost, detail: detail) : EndReason(end))
    }

    private mutating func collectMessages(_ connection: Connection, _ peer: LinkedPeer) {
        let messages = peer.link.takeMessages()
        if !messages.isEmpty { outputs.append(.messages(connection.id, messages)) }
    }

    /// Ends a link that works.
    mutating func endLink(_ id: ConnectionID, _ reason: EndReason, telling code: CloseCode) {
        guard let connection = connections[id], let peer = connection.peer else { return }
        peer.link.close(code, at: now)
        collectMessages(connection, peer)
        collectChannels(connection, peer)
        finishLink(connection, peer, reason)
    }

    /// The link is over, for this reason. Once.
    mutating func finishLink(_ connection: Connection, _ peer: LinkedPeer, _ reason: EndReason) {
        guard connection.peer === peer else { return }
        // The CLOSE, if one is due.
        _ = peer.link.fill(&connection.frames, upTo: SessionEngine.lastFrames, now: now)
        connection.peer = nil
        links.removeAll { $0 === connection }
        changeTurn { [id = connection.id, now] in $0.remove(id, at: now) }
        var whole = reason
        whole.undelivered = Undelivered(  // [msg.failed]
            messages: peer.link.queuedMessages, bytes: peer.link.queuedBytes)
        failRequests(peer, .ended(reason))
        unread.linkEnded(connection.id, of: peer.peer.uid, untaken: peer.link.untakenCost)
        judgeUnread(of: peer.peer.uid)
        datagrams.close(peer)
        outputs.append(.unlinked(connection.id, peer.peer, whole))
        close(connection.id, .ok)
        mesh.linkEnded(
            connection.id, of: peer.peer.uid, whole, wasUsed: wasUsed(peer, reason), at: now)
    }

    /// Whether the peer has shown that it knew of the link. One that waits for SELECTED answers PING, too, and says
    /// TIMEOUT in the end.
    private func wasUsed(_ peer: LinkedPeer, _ reason: EndReason) -> Bool {
        let statistics = peer.link.statistics
        let hasAnswered = statistics.roundTrip != nil && reason.closeCode != .timeout
        return statistics.messagesReceived > 0 || peer.hasHeardOfChannels || hasAnswered
    }

    /// Room for the frames that go before a link's end.
    private static let lastFrames = 65_536
}

// MARK: - What the application sends

extension SessionEngine {
    /// The peer at the other end of this link; nil when the connection is none.
    package func peer(on id: ConnectionID) -> LinkedPeer? { connections[id]?.peer }

    /// The connection that is the link to `uid`.
    package func link(to uid: UID) -> ConnectionID? { links.first { $0.peer?.peer.uid == uid }?.id }

    /// Queues messages, each of which was checked against the peer's limit.
    package mutating func enqueue(_ messages: consuming [[UInt8]], on id: ConnectionID) {
        guard let connection = connections[id], let peer = connection.peer else { return }
        peer.link.enqueue(messages)
        markDue(connection)
    }

    /// The application has taken messages of this cost, which a link brought that may be over.
    package mutating func consumed(_ cost: Int, on id: ConnectionID) {
        guard let connection = connections[id], let peer = connection.peer else {
            if let uid = unread.take(cost, of: id) { judgeUnread(of: uid) }
            return
        }
        peer.link.consumed(cost)
        markDue(connection)
    }

    /// Asks the peer to say when it has received everything that was enqueued so far: `markReached`.
    package mutating func mark(_ number: UInt64, on id: ConnectionID) {
        guard let connection = connections[id] else { return }
        connection.peer?.link.mark(number)
        markDue(connection)
    }
}
