import MultipeerCore
import MultipeerSecurity
import TestSupport
import Testing

extension TrustEvidence {
    static func sample(
        chain: [Certificate] = [], fingerprint: Fingerprint?, known: Fingerprint? = nil, now: Int64 = 0
    ) -> TrustEvidence {
        TrustEvidence(
            peer: UID(high: 1, low: 2), name: "ann", chain: chain, fingerprint: fingerprint,
            origin: .network, known: known, now: now)
    }
}

@Suite("5.4 Trust policies", .computing)
struct TrustPolicyTests {
    let one: Fingerprint
    let other: Fingerprint

    init() throws {
        one = try #require(Fingerprint([UInt8](repeating: 1, count: 32)))
        other = try #require(Fingerprint([UInt8](repeating: 2, count: 32)))
    }

    private let unverified = PeerVerification.unverified(.network)

    private func trusted(_ verification: PeerVerification, remember: Bool = false) -> TrustEvidence.Verdict {
        .trusted(verification, remember: remember)
    }

    @Test("by default connection data suffices, even without a key")
    func connectionData() {
        for key in [one, nil] {
            #expect(
                TrustPolicy.connectionData.evaluate(.sample(fingerprint: key)) == trusted(unverified))
        }
    }

    @Test("listed fingerprints are trusted, others and plain links are not")
    func fingerprints() {
        let policy = TrustPolicy.fingerprints([one])
        #expect(policy.evaluate(.sample(fingerprint: one)) == trusted(.verified(by: .fingerprint)))
        #expect(
            policy.evaluate(.sample(fingerprint: other))
                == .distrusted(reason: "the fingerprint is not listed"))
        #expect(
            policy.evaluate(.sample(fingerprint: nil)) == .distrusted(reason: "a plain link proves no key"))
    }

    @Test("the first key is remembered, the same one trusted again, another one not")
    func firstUse() {
        let policy = TrustPolicy.trustOnFirstUse
        #expect(policy.evaluate(.sample(fingerprint: one)) == trusted(unverified, remember: true))
        #expect(
            policy.evaluate(.sample(fingerprint: one, known: one))
                == trusted(.knownKey(since: nil, verifiedBy: nil)))
        #expect(
            policy.evaluate(.sample(fingerprint: other, known: one))
                == .distrusted(reason: "the key is not the one known since first use"))
        #expect(
            policy.evaluate(.sample(fingerprint: nil, known: one))
                == .distrusted(reason: "a plain link proves no key"))
    }

    @Test("an authority vouches for identities only, and only for the leaf of the handshake")
    func authority() throws {
        let identity = try Identity.generated()
        let policy = TrustPolicy.certificateAuthority(identity.chain)
        #expect(policy.evaluate(.sample(fingerprint: one)) == .distrusted(reason: "the peer has no identity"))
        #expect(
            policy.evaluate(.sample(chain: identity.chain, fingerprint: one))
                == .distrusted(reason: "the peer has no identity"))
    }

    enum Part: CaseIterable, Sendable {
        case yes, no, askYes, askNo

        var isYes: Bool { self == .yes || self == .askYes }
        var isAsked: Bool { self == .askYes || self == .askNo }

        func policy(_ log: Lines) -> TrustPolicy {
            switch self {
            case .yes: return .connectionData
            case .no: return .fingerprints([])
            case .askYes, .askNo:
                let answer = isYes
                return .ask { _ in
                    log.add("asked")
                    return answer
                }
            }
        }
    }

    @Test(
        "all and any of every two policies decide as their names say",
        arguments: Part.allCases, Part.allCases)
    func combinations(_ first: Part, _ second: Part) async {
        let log = Lines()
        let parts = [first.policy(log), second.policy(log)]
        let evidence = TrustEvidence.sample(fingerprint: one)
        let all = await TrustPolicy.all(parts).decide(evidence)
        let any = await TrustPolicy.any(parts).decide(evidence)
        #expect(isTrusted(all) == (first.isYes && second.isYes))
        #expect(isTrusted(any) == (first.isYes || second.isYes))
        #expect(all != .undecided && any != .undecided)
    }

    @Test("the delegate is not asked when its answer would not matter", arguments: [Part.askYes, .askNo])
    func needless(_ asked: Part) async {
        let log = Lines()
        let evidence = TrustEvidence.sample(fingerprint: one)
        for pair in [[asked, Part.no], [.no, asked]] {
            #expect(!isTrusted(await TrustPolicy.all(pair.map { $0.policy(log) }).decide(evidence)))
        }
        for pair in [[asked, Part.yes], [.yes, asked]] {
            #expect(isTrusted(await TrustPolicy.any(pair.map { $0.policy(log) }).decide(evidence)))
        }
        #expect(log.all.isEmpty)
        _ = await TrustPolicy.any([Part.askYes, .askYes].map { $0.policy(log) }).decide(evidence)
        _ = await TrustPolicy.all([Part.askNo, .askNo].map { $0.policy(log) }).decide(evidence)
        #expect(log.all.count == 2)
    }

    @Test("evaluating a question is undecided, and a nested question is found")
    func open() async {
        let evidence = TrustEvidence.sample(fingerprint: one)
        let nested = TrustPolicy.all([
            .any([.fingerprints([other]), .ask { $0.name == "ann" }]), .trustOnFirstUse,
        ])
        #expect(nested.evaluate(evidence) == .undecided)
        #expect(await nested.decide(evidence) == trusted(unverified, remember: true))
    }

    @Test("an empty composition trusts no peer")
    func empty() async {
        let evidence = TrustEvidence.sample(fingerprint: one)
        for policy in [TrustPolicy.all([]), .any([])] {
            #expect(policy.evaluate(evidence) == .distrusted(reason: "the policy names no peer"))
        }
    }

    private func isTrusted(_ verdict: TrustEvidence.Verdict) -> Bool {
        if case .trusted = verdict { true } else { false }
    }
}
