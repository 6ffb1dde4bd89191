package import MultipeerCore
import MultipeerEngine
import MultipeerHandshake
import MultipeerMesh
import MultipeerPlatform
package import MultipeerSecurity

// MARK: trust

extension SessionDriver {
    /// Notes that the holder of this key was verified to be this peer: every link with that key, made before or after, shows
    /// it, as long as the session lives. A link with another key does not. The application is notified if a link shows more.
    package func noteVerified(_ uid: UID, _ key: Fingerprint, by means: PeerVerification.Means) {
        let before = trust.verified(uid, key)
        trust.noteVerified(uid, key, by: means)
        let connection = sockets.link(to: uid)
        guard connection?.channel?.peerFingerprint == key, let link = connection?.link else { return }
        let now = link.verification.strengthened(by: trust.verified(uid, key))
        guard now != link.verification.strengthened(by: before) else { return }
        engine.eventReported(of: uid)
        events.tell(.verified(link.peer, now), of: uid, &engine)
        loop.wantsTurnEnd(self)
    }

    /// Remembers the key of a linked peer that was verified, if both have identities and there is a trust store on disk.
    func rememberVerified(_ peer: UID, by means: PeerVerification.Means) async throws(MultipeerError) {
        guard let store = configuration.trustStore, configuration.identity != nil,
            engine.mesh.showsIdentity(peer), let connection = sockets.link(to: peer),
            let name = connection.link?.peer.displayName, let key = connection.channel?.peerFingerprint
        else { return }
        let entry = TrustStore.Entry(
            peer: peer, fingerprint: key, name: name, at: Int64(time(nil)), verifiedBy: means)
        let result = await Task.followingDetached { () -> Result<Bool, MultipeerError> in
            do throws(MultipeerError) { return .success(try store.change { $0.remember(entry) }) } catch {
                return .failure(error)
            }
        }.value
        guard try result.get() else {
            throw MultipeerError(.file, "the trust store \(store.path) has no room for another peer")
        }
    }

    /// Notes where the data of a peer came from that is being connected or linked now.
    func noteOrigin(of data: ConnectionData, _ origin: PeerVerification.Origin) {
        if isKnown(data.peer.uid) { trust.note(data, from: origin) }
    }

    /// Returns whether a peer is connecting or linked. What is known of others is not kept, so that memory does not grow with
    /// the number of past peers.
    func isKnown(_ uid: UID) -> Bool {
        engine.mesh.state(of: uid) != .notConnected || engine.mesh.awaits(uid)
    }

    /// Asks the policy whether the holder of this connection's key may be linked.
    func ask(_ uid: UID, about id: ConnectionID) {
        guard let connection = sockets.connections[id], let peer = engine.mesh.name(of: uid) else { return }
        let key = connection.channel?.peerFingerprint
        let evidence = connection.evidence(
            of: peer, showsIdentity: engine.mesh.showsIdentity(uid), from: trust.origin(of: uid, key),
            known: trust.known(uid, named: peer.displayName, key))
        if let verdict = trust.verdict(on: evidence) { return answered(verdict, evidence, about: id) }
        trust.ask(evidence) { [weak self] verdict, evidence in
            await self?.answeredLater(verdict, evidence, about: id)
        }
    }

    /// Ignores an answer to a question that is no longer open.
    private func answeredLater(
        _ verdict: TrustEvidence.Verdict, _ evidence: TrustEvidence, about id: ConnectionID
    ) {
        guard !Task.isCancelled else { return }
        trust.close(evidence.peer)
        answered(verdict, evidence, about: id)
    }

    private func answered(_ verdict: TrustEvidence.Verdict, _ evidence: TrustEvidence, about id: ConnectionID)
    {
        let isTrusted = trust.settle(verdict, evidence)
        // [trust.before-confirm]
        engine.decide(evidence.peer, asked: id, isTrusted: isTrusted, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }
}
