import Glibc
import MultipeerCore
import MultipeerEngine
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

// MARK: whom to trust

extension SessionDriver {
    /// Decides at once where the policy can. Who has to be asked, and a file that has to be written, are waited for off
    /// the loop: neither may keep it from its other work.
    func ask(_ uid: UID, about id: ConnectionID) {
        guard let wire = wires[id], let peer = engine.mesh.name(of: uid) else { return }
        let evidence = TrustEvidence(
            peer: uid, name: peer.displayName,
            chain: engine.mesh.showsIdentity(uid) ? wire.channel?.peerChain ?? [] : [],
            fingerprint: wire.channel?.peerFingerprint, known: knownFingerprint(of: uid),
            now: Int64(time(nil)))
        let (policy, store) = (configuration.trust, configuration.trustStore)
        let verdict = policy.evaluate(evidence)
        if verdict != .undecided, store == nil || !verdict.remembers {
            return answered(verdict, evidence, about: id)
        }
        questions[uid]?.cancel()
        questions[uid] = Task.detached { [weak self] in
            var verdict = await policy.decide(evidence)
            // Whoever would be forgotten is not trusted on first use.
            if verdict.remembers, !Task.isCancelled, store?.remember(evidence) == false {
                verdict = .distrusted(reason: "the key cannot be remembered")
            }
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
        if case .trusted(let policy, let remembers) = verdict {
            let isForSession = remembers && configuration.trustStore == nil
            isTrusted = isForSession ? remembered.rememberFirst(evidence) : true
            authentications[uid] = authentication(evidence, by: policy)
        }
        engine.decide(
            uid, asked: id, isTrusted: isTrusted, at: EventLoop.currentMoment())  // [trust.before-confirm]
        loop.wantsTurnEnd(self)
    }

    private func authentication(_ evidence: TrustEvidence, by policy: String) -> LinkFacts.Authentication {
        if evidence.fingerprint == nil { return .tokens }
        return evidence.chain.isEmpty ? .connectionData : .identity(by: policy)
    }

}

extension TrustVerdict {
    fileprivate var remembers: Bool {
        if case .trusted(by: _, remember: true) = self { true } else { false }
    }
}

extension TrustStore {
    /// Remembers a first key; false when there is none, the store is full, or another key was the first meanwhile.
    mutating func rememberFirst(_ evidence: TrustEvidence) -> Bool {
        guard let key = evidence.fingerprint else { return false }
        if let known = self[evidence.peer] { return known == key }
        return remember(key, of: evidence.peer)
    }
}
