import MultipeerCommandLine
import MultipeerEssentials

/// Peers that join and leave, and why.
extension Room {
    func listen() async throws(CommandError) {
        for await event in session.events {
            if isLeaving { continue }
            switch event {
            case .message(let message): try await hear(message)
            case .resource(let resource): announce(resource)
            case .peer(let peer, let state): try await change(peer, state)
            case .verificationRequested(let peer):
                await verificationRequested(by: peer)
            case .stream, .verified: break
            }
        }
    }

    private func change(_ peer: PeerID, _ state: PeerState) async throws(CommandError) {
        meet(peer)
        let name = members.name(of: peer)
        switch state {
        case .connecting:
            members.update(peer) { $0.state = .connecting }
            screen.note("connecting to \(name)")
        case .connected:
            members.update(peer) { $0.begin() }
            completeNames()
            await introduce(peer)
            arrival.linked()
        case .notConnected(let reason):
            let wasLinked = members.depart(peer, reason)
            completeNames()
            offers.remove(of: peer)
            if wasLinked {
                screen.note("\(name) \(reason.departure)")
                nameUnconfirmed(to: peer, unsent: reason.undelivered.messages)
            } else if members[peer]?.seekers == 0 {
                screen.note("cannot link with \(name): \("\(reason)".printable)")
            }
            members.forgetOldest()
            if let finder {
                approachAgain(peer)
                enterAgain(after: peer, reason, finder)
            } else if reason.code == .full {
                try await renew()
            }
        }
    }

    /// A session that had to leave an oversized mesh is a new instance; its old data is invalid.
    private func renew() async throws(CommandError) {
        let mine = try await CommandError.translating { () async throws(MultipeerError) in
            try await session.connectionData(mesh: isMesh)
        }
        guard mine.instance != data?.instance else { return }
        screen.tell("the room is full; you were disconnected")
        try await publish()
    }

    /// Adds a peer that is new, or has a new name.
    func meet(_ peer: PeerID) {
        let renamed = members.meet(peer)
        if !renamed.isEmpty { completeNames() }
        for other in renamed {
            screen.note("\(other.displayName.printable) is now shown as \(members.name(of: other))")
        }
    }

    /// Tab completes the names of the peers that are here now.
    private func completeNames() { screen.complete(names: members.linked.map(members.name)) }

    /// Notes how it is known who the peer is, before anything is sent to it.
    @discardableResult
    func noteVerification(of peer: PeerID) async -> ConnectionInfo? {
        guard let facts = await session.connectionInfo(for: peer) else { return nil }
        members.update(peer) { $0.verification = facts.verification }
        return facts
    }

    private func introduce(_ peer: PeerID) async {
        guard let facts = await noteVerification(of: peer) else { return }
        let name = members.name(of: peer)
        screen.note(
            "\(name) joined, \(facts.isEncrypted ? "encrypted" : "not encrypted"); \(facts.verification.words)"
        )
        guard isVerbose else { return }
        screen.note("\(name) has the peer id \(peer.uid.bytes.hexadecimal) at \(facts.remoteAddress)")
        screen.note("\(name) is protected by \(facts.cipherSuite ?? "nothing")")
    }
}
