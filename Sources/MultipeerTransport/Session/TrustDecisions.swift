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
    private var verdicts: [UID: PeerVerification] = [:]
    /// The keys that came otherwise than from a member of the mesh.
    private var origins: [UID: (key: Fingerprint, origin: PeerVerification.Origin)] = [:]
    private var verified = VerifiedKeys()
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
        guard case .trusted(let verification, let remembers) = verdict else { return false }
        verdicts[evidence.peer] = verification
        return remembers && store == nil ? remembered.rememberFirst(evidence) : true
    }

    /// Notes where connection data came from.
    mutating func note(_ data: ConnectionData, from origin: PeerVerification.Origin) {
        guard let key = data.fingerprint else { return }
        origins[data.peer.uid] = (key, origin)
    }

    /// Notes that the holder of this key was verified to be this peer.
    mutating func noteVerified(_ uid: UID, _ key: Fingerprint, by means: PeerVerification.Means) {
        verified.add(uid, key, means)
    }

    /// Returns where the key of a peer came from; nil is a plain link.
    func origin(of uid: UID, _ key: Fingerprint?) -> PeerVerification.Origin {
        guard let key else { return .plain }
        guard let noted = origins[uid], noted.key == key else { return .member }
        return noted.origin
    }

    /// Returns how it is known that the holder of this key is this peer, without what was verified since the link was made.
    func verification(of uid: UID, _ key: Fingerprint?) -> PeerVerification {
        key.flatMap { _ in verdicts[uid] } ?? .unverified(origin(of: uid, key))
    }

    /// Returns how the holder of this key was verified in this session; nil if it was not.
    func verified(_ uid: UID, _ key: Fingerprint?) -> PeerVerification? {
        key.flatMap { verified[uid, $0] }.map { .verified(by: $0) }
    }

    mutating func forget(_ uid: UID) {
        verdicts[uid] = nil
        origins[uid] = nil
    }
}

extension TrustEvidence.Verdict {
    fileprivate var remembers: Bool {
        if case .trusted(_, remember: true) = self { true } else { false }
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
