import Glibc
import MultipeerCore
import MultipeerEngine
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

/// Whom the session trusts: what its policy says of the keys that peers show, and what was decided before. Lives on the
/// loop.
struct TrustDecisions {
    private let policy: TrustPolicy
    private let store: TrustStoreFile?
    /// Questions that somebody has to be asked, or for which a file has to be written.
    private var questions: [UID: Task<Void, Never>] = [:]
    private var authentications: [UID: LinkFacts.Authentication] = [:]
    /// First keys, for the life of the session, when there is no store on disk.
    private var remembered = TrustStore()
}

extension TrustDecisions {
    init(_ configuration: SessionConfiguration) {
        policy = configuration.trust
        store = configuration.trustStore
    }

    /// The key that was remembered of this peer.
    func known(_ uid: UID) -> Fingerprint? { store.map { $0.fingerprint(of: uid) } ?? remembered[uid] }

    /// The verdict where the policy has one at once, and nothing has to be written for it.
    func verdict(on evidence: TrustEvidence) -> TrustVerdict? {
        let verdict = policy.evaluate(evidence)
        return verdict != .undecided && (store == nil || !verdict.remembers) ? verdict : nil
    }

    /// Who has to be asked, and a file that has to be written, are waited for off the loop: neither may keep it from its
    /// other work. `answered` is not called any more once the question is withdrawn.
    mutating func ask(
        _ evidence: TrustEvidence, _ answered: @escaping @Sendable (TrustVerdict) async -> Void
    ) {
        questions[evidence.peer]?.cancel()
        questions[evidence.peer] = Task.followingDetached { [policy, store] in
            var verdict = await policy.decide(evidence)
            // Whoever would be forgotten is not trusted on first use.
            if verdict.remembers, !Task.isCancelled, store?.remember(evidence) == false {
                verdict = .distrusted(reason: "the key cannot be remembered")
            }
            await answered(verdict)
        }
    }

    mutating func withdraw(_ uid: UID) { questions.removeValue(forKey: uid)?.cancel() }

    /// The answer to an open question came.
    mutating func close(_ uid: UID) { questions[uid] = nil }

    /// Returns whether the peer is trusted.
    mutating func settle(_ verdict: TrustVerdict, _ evidence: TrustEvidence) -> Bool {
        guard case .trusted(let policy, let remembers) = verdict else { return false }
        authentications[evidence.peer] = authentication(evidence, by: policy)
        return remembers && store == nil ? remembered.rememberFirst(evidence) : true
    }

    private func authentication(_ evidence: TrustEvidence, by policy: String) -> LinkFacts.Authentication {
        if evidence.fingerprint == nil { return .tokens }
        return evidence.chain.isEmpty ? .connectionData : .identity(by: policy)
    }

    /// What the last decision about this peer rests on.
    func authentication(of uid: UID) -> LinkFacts.Authentication? { authentications[uid] }

    mutating func forget(_ uid: UID) { authentications[uid] = nil }
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
