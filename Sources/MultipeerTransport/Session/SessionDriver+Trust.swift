import MultipeerCore
import MultipeerEngine
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity

// MARK: trust

extension SessionDriver {
    /// Asks the policy whether the holder of this connection's key may be linked.
    func ask(_ uid: UID, about id: ConnectionID) {
        guard let connection = sockets.connections[id], let peer = engine.mesh.name(of: uid) else { return }
        let evidence = connection.evidence(
            of: peer, showsIdentity: engine.mesh.showsIdentity(uid), known: trust.known(uid))
        if let verdict = trust.verdict(on: evidence) { return answered(verdict, evidence, about: id) }
        trust.ask(evidence) { [weak self] verdict in await self?.answeredLater(verdict, evidence, about: id) }
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
