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
    /// Questions that wait for a user, or for a file.
    private var questions: [UID: Task<Void, Never>] = [:]
    private var verdicts: [UID: PeerVerification] = [:]
    private var refusals = TrustRefusals()
    /// The keys that came otherwise than from a member of the mesh.
    private var origins: [UID: (key: Fingerprint, origin: PeerVerification.Origin)] = [:]
    private var verified = VerifiedKeys()
    /// First keys, for the life of the session: those of peers without an identity, and all when there is no store on disk.
    private var remembered = TrustStore()
}

extension TrustDecisions {
    init(_ configuration: Session.Configuration) {
        policy = configuration.trust
        store = configuration.trustStore
    }

    /// Returns what is remembered of a peer for the life of the session. What a file has comes with the question, off the loop.
    func known(_ uid: UID, named name: String, _ key: Fingerprint?) -> TrustEvidence.Known {
        TrustEvidence.Known(uid, named: name, key, in: store == nil ? [remembered] : [])
    }

    /// Returns the verdict if the policy has one at once, and no file is needed for it.
    func verdict(on evidence: TrustEvidence) -> TrustEvidence.Verdict? {
        let verdict = policy.evaluate(evidence)
        return verdict != .undecided && store == nil ? verdict : nil
    }

    /// Waits for a user or for a file off the loop: neither may block the loop's other work. `answered` is no longer called
    /// once the question is withdrawn.
    mutating func ask(
        _ first: TrustEvidence,
        _ answered: @escaping @Sendable (TrustEvidence.Verdict, TrustEvidence) async -> Void
    ) {
        questions[first.peer]?.cancel()
        questions[first.peer] = Task.followingDetached { [policy, store, remembered] in
            // Another process may have written since. A file that has become unreadable is reported when it is written.
            let evidence = await TrustDecisions.offPool {
                first.with([(try? store?.reload()) ?? store?.contents, remembered].compactMap(\.self))
            }
            var verdict = await policy.decide(evidence)
            // A peer that could not be remembered is not trusted on first use.
            if verdict.remembers, evidence.hasIdentity, !Task.isCancelled, let store {
                let isWritten = await TrustDecisions.offPool {
                    (try? store.change { $0.remember(evidence) }) == true
                }
                if !isWritten { verdict = .distrusted(reason: "the key cannot be remembered") }
            }
            // That it was there again is worth no refusal.
            if let store, case .trusted = verdict, case .known(let entry) = evidence.contact,
                entry.seenAgain == nil, store.contents[entry.peer] != nil
            {
                _ = await TrustDecisions.offPool {
                    try? store.change { contents in
                        contents.noteSeenAgain(entry, at: evidence.now)
                        return true
                    }
                }
            }
            await answered(verdict, evidence)
        }
    }

    /// Waits for the disk on a thread of the file pool, so that no other task waits for it; on this one if there is none.
    private static func offPool<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        guard let loop = try? EventLoop.nextFileLoop() else { return body() }
        return await Task(executorPreference: loop.taskExecutor) { body() }.value
    }

    mutating func withdraw(_ uid: UID) { questions.removeValue(forKey: uid)?.cancel() }

    /// Closes an open question that was answered.
    mutating func close(_ uid: UID) { questions[uid] = nil }

    /// Returns whether the peer is trusted.
    mutating func settle(_ verdict: TrustEvidence.Verdict, _ evidence: TrustEvidence) -> Bool {
        switch verdict {
        case .trusted(let verification, let remembers):
            var known: PeerVerification?
            if case .known(let entry) = evidence.contact {
                known = entry.verification
                remembered.noteSeenAgain(entry, at: evidence.now)
            }
            verdicts[evidence.peer] = verification.strengthened(by: known)
            refusals.forget(evidence.peer)
            guard remembers, store == nil || !evidence.hasIdentity else { return true }
            return remembered.remember(evidence)
        case .distrusted(let reason):
            refusals.add(evidence.peer, reason)
            return false
        case .undecided: return false
        }
    }

    /// Returns the reason for the end of an attempt or a link with the policy's own reason, if that was it.
    func explained(_ reason: DisconnectReason, of uid: UID) -> DisconnectReason {
        guard reason.code == .rejected, reason.detail.isEmpty, let text = refusals[uid] else { return reason }
        return DisconnectReason(
            code: reason.code, closeCode: reason.closeCode, detail: text, undelivered: reason.undelivered)
    }
}

// MARK: - Where keys came from, and what was verified

extension TrustDecisions {
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
    /// Remembers the key of a peer; returns false when there is none, the store is full, or, for a first contact, something that
    /// contradicts it was stored in the meantime.
    mutating func remember(_ evidence: TrustEvidence) -> Bool {
        guard let key = evidence.fingerprint else { return false }
        switch (evidence.contact, evidence.with([self]).contact) {
        case (_, .known): return true
        case (.first, .first), (.renamed, _), (.changed, _): break
        case (.first, _), (.known, _): return false
        }
        return remember(
            Entry(peer: evidence.peer, fingerprint: key, name: evidence.name, at: evidence.now))
    }
}
