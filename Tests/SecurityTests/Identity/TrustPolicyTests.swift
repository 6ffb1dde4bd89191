import MultipeerCore
import MultipeerSecurity
import TestSupport
import Testing

extension TrustEvidence {
    static let peer = UID(high: 1, low: 2)

    /// Evidence of a peer called ann, with what a store knows.
    static func sample(
        chain: [Certificate] = [], fingerprint: Fingerprint?, in store: TrustStore = TrustStore(),
        now: Int64 = 0
    ) -> TrustEvidence {
        let known = Known(
            peer: store[peer], key: fingerprint.map { store.entries(of: $0) } ?? [], name: store.anns)
        return TrustEvidence(
            peer: peer, name: "ann", chain: chain, fingerprint: fingerprint, origin: .network, known: known,
            now: now)
    }
}

extension TrustStore {
    fileprivate var anns: [Entry] { entries.filter { $0.name?.lowercased() == "ann" } }

    /// A store with one entry, of 2026-11-22.
    static func sample(
        _ fingerprint: Fingerprint, of peer: UID = TrustEvidence.peer, named name: String? = "ann",
        verifiedBy means: PeerVerification.Means? = nil
    ) -> TrustStore {
        var store = TrustStore()
        let entry = Entry(
            peer: peer, fingerprint: fingerprint, name: name, at: 1_795_348_800, verifiedBy: means)
        let isKept = store.remember(entry)
        #expect(isKept)
        return store
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

    /// The beginning of 2026-11-22.
    private let day: Int64 = 1_795_305_600

    @Test(
        "the first key is remembered, the same one trusted again with its date, another one refused with both"
    )
    func firstUse() {
        let policy = TrustPolicy.trustOnFirstUse
        #expect(policy.evaluate(.sample(fingerprint: one)) == trusted(unverified, remember: true))
        #expect(
            policy.evaluate(.sample(fingerprint: one, in: .sample(one)))
                == trusted(.knownKey(since: day, verifiedBy: nil)))
        #expect(
            policy.evaluate(.sample(fingerprint: one, in: .sample(one, verifiedBy: .code)))
                == trusted(.knownKey(since: day, verifiedBy: .code)))
        #expect(
            policy.evaluate(.sample(fingerprint: other, in: .sample(one)))
                == .distrusted(
                    reason:
                        "the key has changed since 2026-11-22: old 0101 0101 0101 0101, new 0202 0202 0202 0202"
                ))
        #expect(
            policy.evaluate(.sample(fingerprint: nil, in: .sample(one)))
                == .distrusted(reason: "a plain link proves no key"))
    }

    @Test("a store contradicts another key under an id or a name, and a known key under another name")
    func contacts() throws {
        let elsewhere = UID(high: 9, low: 9)
        func contact(_ key: Fingerprint?, _ store: TrustStore) -> TrustEvidence.Contact {
            TrustEvidence.sample(fingerprint: key, in: store).contact
        }
        func entry(_ store: TrustStore) throws -> TrustStore.Entry { try #require(store.entries.first) }
        #expect(contact(one, TrustStore()) == .first)
        #expect(contact(one, .sample(other, of: elsewhere, named: "bob")) == .first)
        for known in [
            TrustStore.sample(one), .sample(one, named: nil), .sample(one, of: elsewhere, named: "Ann"),
        ] {
            #expect(contact(one, known) == .known(try entry(known)))
        }
        let changed = [TrustStore.sample(other), .sample(other, named: nil), .sample(other, of: elsewhere)]
        for known in changed {
            #expect(contact(one, known) == .changed(try entry(known)))
            #expect(contact(nil, known) == .changed(try entry(known)))
        }
        let renamed = TrustStore.sample(one, of: elsewhere, named: "bob")
        #expect(contact(one, renamed) == .renamed(try entry(renamed)))
        // A known key that takes over another known name is not only renamed.
        var both = renamed
        let isKept = both.remember(try entry(.sample(other, of: UID(high: 3, low: 3))))
        #expect(isKept)
        #expect(contact(one, both) == .changed(try #require(both.anns.first)))
    }

    @Test("the application is asked only about what contradicts the store, and a yes is remembered")
    func unchanged() async {
        let asked = Lines()
        func verdict(_ key: Fingerprint, _ store: TrustStore, says isYes: Bool) async -> TrustEvidence.Verdict
        {
            await TrustPolicy.unchanged { evidence in
                asked.add(evidence.contradiction ?? "")
                return isYes
            }.decide(.sample(fingerprint: key, in: store))
        }
        #expect(await verdict(one, TrustStore(), says: false) == trusted(unverified))
        #expect(
            await verdict(one, .sample(one), says: false) == trusted(.knownKey(since: day, verifiedBy: nil)))
        #expect(asked.all.isEmpty)
        #expect(await verdict(other, .sample(one), says: true) == trusted(unverified, remember: true))
        let refused = await verdict(other, .sample(one), says: false)
        #expect(!isTrusted(refused) && asked.all.count == 2)
        let renamed = TrustStore.sample(one, named: "bob")
        #expect(await verdict(one, renamed, says: true) == trusted(unverified, remember: true))
        #expect(asked.all.last == "the key has been known since 2026-11-22 under another name")
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
