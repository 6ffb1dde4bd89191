/// Which peers a session links with. Policies compose; an empty composition trusts no peer. Spec 5.4.
///
/// TLS has already verified that the peer holds the key of its connection data. A policy states what else is
/// required.
public indirect enum TrustPolicy: Sendable {
    /// The key in the connection data suffices: the source of the connection data is trusted to have supplied the
    /// right one.
    case connectionData
    /// The key must be one of these.
    case fingerprints(Set<Fingerprint>)
    /// The peer must have an identity that one of these authorities has certified as this peer's, and that is valid now.
    ///
    /// The certificate names the peer by its uid, in a subject alternative name such as
    /// `URI:urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6`, or, if it contains no such URI, by its display name, in a DNS name
    /// or as the common name. If it restricts its purposes, they include those of a TLS client and of a TLS server: which of
    /// two peers is the client is not known in advance. `Identity.certificateRequest(commonName:uid:)` requests such a
    /// certificate.
    case certificateAuthority([Certificate])
    /// The same, but any certificate of these authorities suffices, even if it names another peer. It proves that the
    /// peer is a member, and nothing of its display name and uid.
    case certificateAuthorityMember([Certificate])
    /// The key must be the one that the peer had at first contact; that one is accepted and remembered, under the peer's id and
    /// name. Another key under a remembered id or name is refused, and so is a remembered key under another name.
    case trustOnFirstUse
    /// What is remembered must not be contradicted: another key under a remembered id or name, or a remembered key under another
    /// name, is accepted only if the application says so, and then remembered. `TrustEvidence.contact` says which it is. First
    /// contacts are accepted, and not remembered.
    case unchanged(asking: @Sendable (TrustEvidence) async -> Bool)
    /// The application decides, perhaps by asking its user.
    case ask(@Sendable (TrustEvidence) async -> Bool)
    /// All of these must trust the peer.
    case all([TrustPolicy])
    /// One of these must trust the peer.
    case any([TrustPolicy])

    /// Returns the verdict as far as it can be determined without asking the application.
    public func evaluate(_ evidence: TrustEvidence) -> TrustEvidence.Verdict {
        switch self {
        case .connectionData: .trusted(.unverified(evidence.origin), remember: false)
        case .fingerprints(let accepted): Self.evaluate(evidence, among: accepted)
        case .certificateAuthority(let roots):
            CertificateAuthority(roots: roots, acceptsAnyMember: false).evaluate(evidence)
        case .certificateAuthorityMember(let roots):
            CertificateAuthority(roots: roots, acceptsAnyMember: true).evaluate(evidence)
        case .trustOnFirstUse: Self.evaluateFirstUse(evidence)
        case .unchanged: Self.evaluateUnchanged(evidence)
        case .ask: .undecided
        case .all(let policies): .all(policies.map { $0.evaluate(evidence) })
        case .any(let policies): .any(policies.map { $0.evaluate(evidence) })
        }
    }

    /// Returns the verdict, never `undecided`. The application is asked only when the verdict depends on its answer.
    public func decide(_ evidence: TrustEvidence) async -> TrustEvidence.Verdict {
        let verdict = evaluate(evidence)
        guard verdict == .undecided else { return verdict }
        switch self {
        case .ask(let question):
            let isTrusted = await question(evidence)
            return isTrusted
                ? .trusted(.unverified(evidence.origin), remember: false)
                : .distrusted(reason: "the application declined")
        case .unchanged(let question):
            let isTrusted = await question(evidence)
            return isTrusted
                ? .trusted(.unverified(evidence.origin), remember: evidence.fingerprint != nil)
                : .distrusted(reason: evidence.contradiction ?? "")
        case .all(let policies):
            return .all(await Self.decide(policies, evidence) { !$0.isTrusted })
        case .any(let policies):
            return .any(await Self.decide(policies, evidence) { $0.isTrusted })
        case .connectionData, .fingerprints, .certificateAuthority, .certificateAuthorityMember,
            .trustOnFirstUse:
            return verdict
        }
    }

    /// Evaluates the policies in order, until a verdict decides the outcome.
    private static func decide(
        _ policies: [TrustPolicy], _ evidence: TrustEvidence, until isSettled: (TrustEvidence.Verdict) -> Bool
    ) async -> [TrustEvidence.Verdict] {
        var verdicts: [TrustEvidence.Verdict] = []
        for policy in policies {
            let verdict = await policy.decide(evidence)
            verdicts.append(verdict)
            if isSettled(verdict) { break }
        }
        return verdicts
    }

    private static func evaluate(_ evidence: TrustEvidence, among accepted: Set<Fingerprint>)
        -> TrustEvidence.Verdict
    {
        guard let fingerprint = evidence.fingerprint else { return .noKey }
        return accepted.contains(fingerprint)
            ? .trusted(.verified(by: .fingerprint), remember: false)
            : .distrusted(reason: "the fingerprint is not listed")
    }

    private static func evaluateFirstUse(_ evidence: TrustEvidence) -> TrustEvidence.Verdict {
        guard evidence.fingerprint != nil else { return .noKey }
        switch evidence.contact {
        case .first: return .trusted(.unverified(evidence.origin), remember: true)
        case .known(let entry): return .trusted(entry.verification, remember: false)
        case .renamed, .changed: return .distrusted(reason: evidence.contradiction ?? "")
        }
    }

    private static func evaluateUnchanged(_ evidence: TrustEvidence) -> TrustEvidence.Verdict {
        switch evidence.contact {
        case .first: .trusted(.unverified(evidence.origin), remember: false)
        case .known(let entry): .trusted(entry.verification, remember: false)
        case .renamed, .changed: .undecided
        }
    }
}

extension TrustEvidence.Verdict {
    static let noKey = TrustEvidence.Verdict.distrusted(reason: "a plain link proves no key")

    var isTrusted: Bool {
        if case .trusted = self { true } else { false }
    }

    /// Returns the first distrust, else the first undecided verdict; otherwise trust with the strongest verification.
    static func all(_ verdicts: [TrustEvidence.Verdict]) -> TrustEvidence.Verdict {
        var strongest: PeerVerification?
        var remember = false
        var isOpen = false
        for verdict in verdicts {
            switch verdict {
            case .distrusted: return verdict
            case .undecided: isOpen = true
            case .trusted(let verification, let asksToRemember):
                strongest = verification.strengthened(by: strongest)
                remember = remember || asksToRemember
            }
        }
        if isOpen { return .undecided }
        guard let strongest else { return .distrusted(reason: "the policy names no peer") }
        return .trusted(strongest, remember: remember)
    }

    /// Returns the first trust, else the first undecided verdict; otherwise distrust for all reasons together.
    static func any(_ verdicts: [TrustEvidence.Verdict]) -> TrustEvidence.Verdict {
        if let trusted = verdicts.first(where: \.isTrusted) { return trusted }
        if verdicts.contains(.undecided) { return .undecided }
        var reasons: [String] = []
        for case .distrusted(let reason) in verdicts where !reasons.contains(reason) {
            reasons.append(reason)
        }
        return .distrusted(
            reason: reasons.isEmpty ? "the policy names no peer" : reasons.joined(separator: "; "))
    }
}
