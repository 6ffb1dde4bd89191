package import MultipeerCore
import MultipeerFraming
package import MultipeerIntroduction
import MultipeerMesh

// MARK: what the application asks for

extension SessionEngine {
    /// Connection data of this instance for one peer, or, when nil, for any. With `joinsMesh`, links made with it join the
    /// mesh, and what its members receive about this session is there before anybody can be one. `tokens`: 64 random
    /// bytes, used when new tokens are needed. `lifetime`: of new data, in whole seconds; what the mesh is given has the
    /// usual one.
    package mutating func connectionData(
        for recipient: UID?, joinsMesh: Bool, candidates: [Candidate], tokens: [UInt8],
        lifetime: Duration = HandshakeTiming.lifetime, at now: Moment
    ) throws(ConnectionDataFault) -> ConnectionData {
        self.now = now
        if joinsMesh, configuration.isStar { throw .star }  // [mesh.star]
        var flags: ConnectionData.Flags = configuration.takesDatagrams ? .datagrams : []
        if joinsMesh { flags.insert(.mesh) }
        do throws(InvalidConnectionData) {
            if joinsMesh, recipient != nil {
                _ = try mesh.connectionData(
                    for: nil, candidates: candidates, flags: flags, token: Array(tokens.suffix(32)), at: now)
            }
            return try mesh.connectionData(
                for: recipient, candidates: candidates, flags: flags, token: Array(tokens.prefix(32)),
                lifetime: lifetime, at: now)
        } catch {
            throw .invalid(error)
        }
    }

    /// What the other side of an invitation gets: the same every time, so that two that invite each other at once get one
    /// link. [invite.glare]
    package mutating func invitationData(
        for recipient: UID, candidates: [Candidate], tokens: [UInt8], at now: Moment
    ) throws(ConnectionDataFault) -> ConnectionData {
        try connectionData(
            for: recipient, joinsMesh: !configuration.isStar, candidates: candidates, tokens: tokens, at: now)
    }

    /// Our mesh data could not be made anew now.
    package mutating func postponeRenewal() { mesh.postponeRenewal() }

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

    /// Says goodbye to every peer after what was sent, for at most `timeout`. `left` says that it is done.
    package mutating func leave(within timeout: Duration, at now: Moment) {
        self.now = now
        requests.abandonInvitations(&outputs)
        mesh.cancelAll(at: now)
        settle()
        for connection in links.linked {
            guard let peer = links.markedPeer(on: connection.id) else { continue }
            if !peer.isLeaving { datagrams.finish(peer, &outputs) }
            peer.isLeaving = true
            _ = peer.sayGoodbyeWhenDrained(at: now)
        }
        leaving.drain(until: now + timeout)
    }

    /// The mesh has more members than it may, and this one is who leaves. [mesh.evict]
    mutating func giveWay() {
        let reason = DisconnectReason(code: .full, closeCode: .full, detail: "the mesh had too many members")
        requests.abandonInvitations(&outputs)
        // First, so that no link takes the place of one that ends.
        mesh.cancelAll(at: now)
        for connection in links.linked { endLink(connection.id, reason, telling: .full) }
        if leaving == .staying { leaving = .closing }
    }

    /// The time is over: every peer that still holds a link is told.
    mutating func endAllLinks() {
        leaving = .closing
        for connection in links.linked { endLink(connection.id, .left, telling: .goodbye) }
    }

    /// Once no connection remains.
    mutating func finishLeaving() {
        guard leaving != .staying, leaving != .left, links.connections.isEmpty else { return }
        leaving = .left
        outputs.append(.left)
    }

    /// Ends everything at once, without a goodbye: the session's owner is gone.
    package mutating func abandon(at now: Moment) {
        self.now = now
        requests.abandonInvitations(&outputs)
        mesh.cancelAll(at: now)
        settle()
        for id in links.connections.ids {
            guard let connection = links[id] else { continue }
            connection.phase = .finishing(until: now)
            if let peer = connection.peer { finishLink(connection, peer, .left) }
            drop(connection)
        }
        settle()
    }

    /// Begins the next instance, after `left`. What was said to the one before cannot reach it. [endpoint.instance]
    package mutating func restart(_ local: LocalPeer, seed: UInt64) {
        precondition(
            links.connections.isEmpty, "an instance begins when the one before has no connection left")
        let zones = mesh.zones
        mesh = Mesh(local, peers: configuration.peers, seed: seed, after: mesh.lastConnection)
        mesh.zones = zones
        for uid in unread.peers { judgeUnread(of: uid) }
        leaving = .staying
        requests.forgetStates()
    }
}

/// Why there is no connection data.
package enum ConnectionDataFault: Error, Equatable, Sendable {
    /// A session whose topology is a star joins no mesh.
    case star
    case invalid(InvalidConnectionData)
}
