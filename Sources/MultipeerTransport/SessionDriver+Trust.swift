import Glibc
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

// MARK: whom to trust

extension SessionDriver {
    /// Decides at once where the policy can; otherwise asks the application, off the loop, and goes on when it answers.
    func ask(_ uid: UID, about id: ConnectionID) {
        guard let wire = wires[id], let peer = names[uid] else { return }
        let evidence = TrustEvidence(
            peer: uid, name: peer.displayName,
            chain: introductions.showsIdentity(uid) ? wire.channel?.peerChain ?? [] : [],
            fingerprint: wire.channel?.peerFingerprint, known: knownFingerprint(of: uid), now: Int64(time(nil)))
        let verdict = configuration.trust.evaluate(evidence)
        guard case .undecided = verdict else { return answered(verdict, evidence, about: id) }
        questions[uid]?.cancel()
        let policy = configuration.trust
        questions[uid] = Task { [weak self] in
            let verdict = await policy.decide(evidence)
            await self?.answeredLater(verdict, evidence, about: id)
        }
    }

    private func knownFingerprint(of uid: UID) -> Fingerprint? {
        configuration.trustStore.map { $0.fingerprint(of: uid) } ?? remembered[uid]
    }

    /// An answer to a question that is not open any more is none.
    private func answeredLater(_ verdict: TrustVerdict, _ evidence: TrustEvidence, about id: ConnectionID) {
        guard !Task.isCancelled else { return }
        questions[evidence.peer] = nil
        answered(verdict, evidence, about: id)
    }

    private func answered(_ verdict: TrustVerdict, _ evidence: TrustEvidence, about id: ConnectionID) {
        let uid = evidence.peer
        var isTrusted = false
        if case .trusted(let policy, let remember) = verdict {
            isTrusted = remember ? self.remember(evidence) : true
            authentications[uid] = authentication(evidence, by: policy)
        }
        introductions.decide(
            uid, asked: id, isTrusted: isTrusted, at: EventLoop.currentMoment())  // [trust.before-confirm]
        loop.wantsTurnEnd(self)
    }

    private func authentication(_ evidence: TrustEvidence, by policy: String) -> LinkFacts.Authentication {
        if evidence.fingerprint == nil { return .tokens }
        return evidence.chain.isEmpty ? .connectionData : .identity(by: policy)
    }

    /// False when the store cannot be written: a peer that would be forgotten is not trusted on first use.
    private func remember(_ evidence: TrustEvidence) -> Bool {
        guard let fingerprint = evidence.fingerprint else { return false }
        remembered[evidence.peer] = fingerprint
        return configuration.trustStore?.remember(fingerprint, of: evidence.peer) ?? true
    }
}
