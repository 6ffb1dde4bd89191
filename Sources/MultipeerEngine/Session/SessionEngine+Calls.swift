package import MultipeerCore
import MultipeerFraming
package import MultipeerHandshake
import MultipeerMesh

// MARK: requests of the application

extension SessionEngine {
    /// Issues connection data of this instance for one peer, or, when nil, for any. With `joinsMesh`, links made with it
    /// join the mesh, and the data for its members are published before there can be any member. `tokens`: 64 random
    /// bytes, used when new tokens are needed. `lifetime`: of new data, in whole seconds; data for the mesh have the
    /// default one.
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

    /// Returns the data for the other side of an invitation: always the same, so that two peers that invite each other at
    /// once get one link. [invite.glare]
    package mutating func invitationData(
        for recipient: UID, candidates: [Candidate], tokens: [UInt8], at now: Moment
    ) throws(ConnectionDataFault) -> ConnectionData {
        try connectionData(
            for: recipient, joinsMesh: !configuration.isStar, candidates: candidates, tokens: tokens, at: now)
    }

    /// Whether members hold mesh data of ours.
    package var hasMeshData: Bool { mesh.hasData }

    /// Postpones the renewal of our mesh data, which failed.
    package mutating func postponeRenewal() { mesh.postponeRenewal() }

    /// Stops connecting to a peer; does nothing for a linked one.
    package mutating func cancel(_ uid: UID, at now: Moment) {
        self.now = now
        mesh.cancel(uid, at: now)
    }
}

// MARK: - Leaving

extension SessionEngine {
    /// Whether the session leaves: requests made meanwhile are for the next instance.
    package var isLeaving: Bool { leaving != .staying }

    /// Closes every link gracefully after what was sent, for at most `timeout`. `left` reports the end.
    package mutating func leave(within timeout: Duration, at now: Moment) {
        self.now = now
        requests.abandonInvitations(&outputs)
        mesh.cancelAll(at: now)
        settle()
        for connection in links.linked {
            guard let peer = links.markedPeer(on: connection.id) else { continue }
            if !peer.isLeaving { datagrams.finish(peer, &links, &outputs) }
            peer.isLeaving = true
            _ = peer.sayGoodbyeWhenDrained(at: now)
        }
        leaving.drain(until: now + timeout)
    }

    /// Leaves because the mesh has too many members. [mesh.evict]
    mutating func giveWay() {
        let reason = DisconnectReason(code: .full, closeCode: .full, detail: "the mesh had too many members")
        requests.abandonInvitations(&outputs)
        // First, so that no new link replaces one that ends.
        mesh.cancelAll(at: now)
        for connection in links.linked { endLink(connection.id, reason, telling: .full) }
        if leaving == .staying { leaving = .closing }
    }

    /// Ends all links when the timeout has expired, and notifies their peers.
    mutating func endAllLinks() {
        leaving = .closing
        for connection in links.linked { endLink(connection.id, .left, telling: .goodbye) }
    }

    /// Finishes leaving once no connection remains.
    mutating func finishLeaving() {
        guard leaving != .staying, leaving != .left, links.connections.isEmpty else { return }
        leaving = .left
        outputs.append(.left)
    }

    /// Ends everything at once, without GOODBYE: the session's owner was released.
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

    /// Begins the next instance, after `left`. Frames for the previous one cannot reach it. [endpoint.instance]
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
