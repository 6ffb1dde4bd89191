package import MultipeerCore
import MultipeerFraming
package import MultipeerIntroduction
import MultipeerMesh

// MARK: what the application asks for

extension SessionEngine {
    /// Connection data of this instance. `token`: 32 random bytes, used when a new token is needed. `lifetime`: of new
    /// data, in whole seconds.
    package mutating func connectionData(
        for recipient: UID?, candidates: [Candidate], flags: ConnectionData.Flags = [], token: [UInt8],
        lifetime: Duration = Timing.lifetime, at now: Moment
    ) throws(InvalidConnectionData) -> ConnectionData {
        self.now = now
        return try mesh.connectionData(
            for: recipient, candidates: candidates, flags: flags, token: token, lifetime: lifetime, at: now)
    }

    /// Our mesh data could not be made anew now.
    package mutating func postponeRenewal() { mesh.postponeRenewal() }

    /// Starts to seek the peer of `data`; returns false when it is linked or sought already with the same data.
    package mutating func connect(
        with data: ConnectionData, within patience: Duration = Timing.attempt, at now: Moment
    ) throws(Introductions.Refusal) -> Bool {
        self.now = now
        // What an attempt before came to is the outcome of its own callers.
        settle()
        return try mesh.connect(with: data, within: patience, at: now)
    }

    /// Stops seeking a peer; does nothing for one that is linked.
    package mutating func cancel(_ uid: UID, at now: Moment) {
        self.now = now
        mesh.cancel(uid, at: now)
    }
}

// MARK: - Leaving

extension SessionEngine {
    /// Whether the session leaves: what is asked for meanwhile is for the instance after it.
    package var isLeaving: Bool { leaving != .staying }

    /// Says goodbye to every peer after what was sent, for at most `patience`. `left` says that it is done.
    package mutating func leave(within patience: Duration, at now: Moment) {
        self.now = now
        mesh.cancelAll(at: now)
        settle()
        for connection in links {
            guard let peer = connection.peer else { continue }
            peer.isLeaving = true
            sayGoodbye(connection, peer)
        }
        switch leaving {
        case .staying: leaving = .draining(until: now + patience)
        case .draining(let until): leaving = .draining(until: min(until, now + patience))
        case .closing, .left: break
        }
    }

    /// The mesh has more members than it may, and this one is who leaves. [mesh.evict]
    mutating func giveWay() {
        let reason = EndReason(code: .full, closeCode: .full, detail: "the mesh had too many members")
        outputs.append(.evicted)
        // First, so that no link takes the place of one that ends.
        mesh.cancelAll(at: now)
        for connection in links { endLink(connection.id, reason, telling: .full) }
        if leaving == .staying { leaving = .closing }
    }

    /// The time is over: every peer that still holds a link is told.
    mutating func endAllLinks() {
        leaving = .closing
        for connection in links { endLink(connection.id, EndReason(code: .left), telling: .goodbye) }
    }

    /// Once no connection remains.
    mutating func finishLeaving() {
        guard leaving != .staying, leaving != .left, connections.isEmpty else { return }
        leaving = .left
        outputs.append(.left)
    }

    /// Ends everything at once, without a goodbye: the session's owner is gone.
    package mutating func abandon(at now: Moment) {
        self.now = now
        mesh.cancelAll(at: now)
        settle()
        for id in connections.keys.sorted() {
            guard let connection = connections[id] else { continue }
            connection.phase = .finishing(until: now)
            if let peer = connection.peer { finishLink(connection, peer, EndReason(code: .left)) }
            drop(connection)
        }
        settle()
    }

    /// Begins the next instance, after `left`. What was said to the one before cannot reach it. [endpoint.instance]
    package mutating func restart(_ local: LocalPeer, seed: UInt64) {
        precondition(connections.isEmpty, "an instance begins when the one before has no connection left")
        let zones = mesh.zones
        mesh = Mesh(local, peers: configuration.peers, seed: seed, after: mesh.lastConnection)
        mesh.zones = zones
        leaving = .staying
    }
}
