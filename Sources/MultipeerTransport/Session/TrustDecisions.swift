import Glibc
import MultipeerCore
import MultipeerEngine
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity

/// Which peers the session trusts: the policy's verdicts on the keys that peers present, and earlier decisions. Lives on the
/// loop.
struct TrustDecisions {
    private let policy: TrustPolicy
    private let store: TrustStore.File?
    /// Questions that wait for a user, or for a file to be written.
    private var questions: [UID: Task<Void, Never>] = [:]
    private var authentications: [UID: ConnectionInfo.Authentication] = [:]
    /// First keys, for the life of the session, when there is no store on disk.
    private var remembered = TrustStore()
}

extension TrustDecisions {
    init(_ configuration: Session.Configuration) {
        policy = configuration.trust
        store = configuration.trustStore
    }

    /// Returns the key that was remembered of this peer.
    func known(_ uid: UID) -> Fingerprint? { store.map { $0.fingerprint(of: uid) } ?? remembered[uid] }

    /// Returns the verdict if the policy has one at once, and nothing has to be written for it.
    func verdict(on evidence: TrustEvidence) -> TrustEvidence.Verdict? {
        let verdict = policy.evaluate(evidence)
        return verdict != .undecided && (store == nil || !verdict.remembers) ? verdict : nil
    }

    /// Waits for a user or for a file off the loop: neither may block the loop's other work. `answered` is no longer called
    /// once the question is withdrawn.
    mutating func ask(
        _ evidence: TrustEvidence, _ answered: @escaping @Sendable (TrustEvidence.Verdict) async -> Void
    ) {
        questions[evidence.peer]?.cancel()
        questions[evidence.peer] = Task.followingDetached { [policy, store] in
            var verdict = await policy.decide(evidence)
            // A peer that could not be remembered is not trusted on first use.
            if verdict.remembers, !Task.isCancelled, store?.remember(evidence) == false {
                verdict = .distrusted(reason: "the key cannot be remembered")
            }
            await answered(verdict)
        }
    }

    mutating func withdraw(_ uid: UID) { questions.removeValue(forKey: uid)?.cancel() }

    /// Closes an open question that was answered.
    mutating func close(_ uid: UID) { questions[uid] = nil }

    /// Returns whether the peer is trusted.
    mutating func settle(_ verdict: TrustEvidence.Verdict, _ evidence: TrustEvidence) -> Bool {
        guard case .trusted(let policy, let remembers) = verdict else { return false }
        authentications[evidence.peer] = authentication(evidence, by: policy)
        return remembers && store == nil ? remembered.rememberFirst(evidence) : true
    }

    private func authentication(_ evidence: TrustEvidence, by policy: String) -> ConnectionInfo.Authentication
    {
        if evidence.fingerprint == nil { return .tokens }
        return evidence.chain.isEmpty ? .connectionData : .identity(by: policy)
    }

    /// Returns what the last decision about this peer rests on.
    func authentication(of uid: UID) -> ConnectionInfo.Authentication? { authentications[uid] }

    mutating func forget(_ uid: UID) { authentications[uid] = nil }
}

extension TrustEvidence.Verdict {
    fileprivate var remembers: Bool {
        if case .trusted(by: _, remember: true) = self { true } else { false }
    }
}

extension TrustStore {
    /// Remembers a first key; returns false when there is none, the store is full, or another key was stored first in the
    /// meantime.
    mutating func rememberFirst(_ evidence: TrustEvidence) -> Bool {
        guard let key = evidence.fingerprint else { return false }
        if let known = self[evidence.peer] { return known == key }
        return remember(key, of: evidence.peer)
    }
}
