import Foundation
import Multipeer
import MultipeerCore
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("5 Trust over loopback", .inTurns)
struct TrustTests {
    @Test(
        "the application is asked once, with the certificates, and may accept [trust.before-confirm] [trust.once]"
    )
    func accepted() async throws {
        let identity = try Identity.generate(commonName: "bob's own")
        let asked = Questions(answer: true)
        let meeting = try Meeting(
            ann: .loopback().with { $0.trust = .ask { await asked.decide($0) } },
            bob: .loopback(identity: identity))
        try await meeting.link()
        let facts = try #require(await meeting.ann.connectionInfo(for: meeting.bob.peer))
        #expect(facts.verification == .unverified(.connectionData))
        #expect(asked.all.map(\.fingerprint) == [identity.fingerprint])
        #expect(asked.all.first?.chain.map(\.der) == identity.chain.map(\.der))
        #expect(asked.all.first?.name == "bob")
        #expect(asked.all.first?.peer == meeting.bob.peer.uid)
        await meeting.end()
    }

    @Test(
        "the application may refuse: both sides end with REJECTED, and are not linked [trust.before-confirm]")
    func refused() async throws {
        let asked = Questions(answer: false)
        let meeting = try Meeting(
            ann: .loopback().with { $0.trust = .ask { await asked.decide($0) } },
            bob: .loopback(identity: try Identity.generate()))
        let fared = try await meeting.attempt()
        #expect(fared.ann.error?.reason?.code == .rejected)
        #expect(fared.bob.error?.reason?.code == .rejected)
        #expect(asked.all.count == 1)
        await meeting.end()
    }

    @Test("a link shows that its key was verified, and by what; one with another key of the peer does not")
    func verified() async throws {
        let meeting = try Meeting()
        func verification() async -> PeerVerification? {
            await meeting.ann.connectionInfo(for: meeting.bob.peer)?.verification
        }
        let uid = meeting.bob.peer.uid
        let (key, other) = (try #require(meeting.bob.certificate), try Identity.generate())
        await meeting.ann.driver.noteVerified(uid, other.fingerprint, by: .code)
        try await meeting.link()
        #expect(await verification() == .unverified(.connectionData))
        await meeting.ann.driver.noteVerified(uid, key.fingerprint, by: .code)
        #expect(await verification() == .verified(by: .code))
        #expect(
            await meeting.bob.connectionInfo(for: meeting.ann.peer)?.verification
                == .unverified(.connectionData))
        await meeting.end()
    }

    @Test("an unanswered question blocks nothing: the attempt can be cancelled, and the question with it")
    func unanswered() async throws {
        let asked = Questions(answer: nil)
        let meeting = try Meeting(
            ann: .loopback().with { $0.trust = .ask { await asked.decide($0) } },
            bob: .loopback(identity: try Identity.generate()))
        let (annsData, bobsData) = (
            try await meeting.ann.connectionData(), try await meeting.bob.connectionData()
        )
        async let first = meeting.ann.trying(bobsData)
        async let second = meeting.bob.trying(annsData)
        try await within { await asked.arrive(1) }
        await meeting.ann.cancelConnecting(to: meeting.bob.peer)
        #expect(await first.error?.reason?.code == .cancelled)
        #expect(await second.error?.reason?.code == .cancelled)
        try await within { await asked.cancelled() }
        #expect(await meeting.ann.connectedPeers.isEmpty)
        await meeting.end()
    }

    @Test("an answer to an earlier question does not answer a later one [trust.once]")
    func lateAnswer() async throws {
        let asked = Questions(answer: nil)
        let meeting = try Meeting(
            ann: .loopback().with { $0.trust = .ask { await asked.decideWhenTold($0) } },
            bob: .loopback(identity: try Identity.generate()))
        let (annsData, bobsData) = (
            try await meeting.ann.connectionData(), try await meeting.bob.connectionData()
        )
        async let firstOfAnn = meeting.ann.trying(bobsData)
        async let firstOfBob = meeting.bob.trying(annsData)
        try await within { await asked.arrive(1) }
        await meeting.ann.cancelConnecting(to: meeting.bob.peer)
        _ = await (firstOfAnn, firstOfBob)
        async let second = meeting.ann.trying(bobsData)
        async let secondOfBob = meeting.bob.trying(annsData)
        try await within { await asked.arrive(2) }
        asked.tell(0, false)
        asked.tell(1, true)
        #expect(await second.isLinked)
        #expect(await secondOfBob.isLinked)
        await meeting.end()
    }

    @Test("a listed fingerprint is accepted, another is refused")
    func fingerprints() async throws {
        let (known, unknown) = (try Identity.generate(), try Identity.generate())
        let strict = Session.Configuration.loopback().with { $0.trust = .fingerprints([known.fingerprint]) }
        let good = try Meeting(ann: strict, bob: .loopback(identity: known))
        try await good.link()
        #expect(
            await good.ann.connectionInfo(for: good.bob.peer)?.verification
                == .verified(by: .fingerprint))
        await good.end()
        let bad = try Meeting(ann: strict, bob: .loopback(identity: unknown))
        let fared = try await bad.attempt()
        #expect(fared.ann.error?.reason?.code == .rejected)
        #expect(fared.bob.error?.reason?.code == .rejected)
        await bad.end()
    }

    @Test("the first key is the only one accepted later, even by another process with the same store")
    func firstUse() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "multipeer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "peers").path()
        let bob = try PeerID(displayName: "bob")
        let own = try Identity.generate()
        func meet(_ identity: Identity) async throws -> (
            Result<Void, MultipeerError>, Result<Void, MultipeerError>
        ) {
            let store = try TrustStore.File(path: path)
            let meeting = try Meeting(
                PeerID(displayName: "ann"),
                .loopback().with {
                    $0.trust = .trustOnFirstUse
                    $0.trustStore = store
                },
                bob, .loopback(identity: identity))
            let fared = try await meeting.attempt()
            await meeting.end()
            return (fared.ann, fared.bob)
        }
        #expect(try await meet(own).0.isLinked)
        #expect(try await meet(own).1.isLinked)
        let thief = try await meet(Identity.generate())
        #expect(thief.0.error?.reason?.code == .rejected)
        #expect(thief.0.error?.description.contains("the key has changed since 20") == true)
        #expect(thief.1.error?.reason?.code == .rejected)
        #expect(try await meet(own).0.isLinked)
        // So that others who come once do not push it out of a full store.
        #expect(try TrustStore.File(path: path).contents[bob.uid]?.seenAgain != nil)
    }

    @Test("what a remembered name looks like is computed once, however often peers are looked up")
    func skeletons() throws {
        var store = TrustStore()
        let names = (0..<3).map { "zo\u{eb} \(UUID().uuidString) \($0)" }
        for (number, name) in names.enumerated() {
            let key = try #require(Fingerprint([UInt8](repeating: UInt8(number), count: 32)))
            let isKept = store.remember(
                TrustStore.Entry(
                    peer: UID(high: 1, low: UInt64(number)), fingerprint: key, name: name, at: 0))
            #expect(isKept)
        }
        #expect(names.allSatisfy { TrustStore.Skeletons.shared.known[$0] == nil })
        #expect(store.entries(named: names[1].uppercased()).map(\.name) == [names[1]])
        #expect(names.allSatisfy { TrustStore.Skeletons.shared.known[$0] != nil })
        #expect(store.entries(named: names[1]).map(\.name) == [names[1]])
    }

    @Test("a trust store that another process, or its user, has changed is read again")
    func reread() throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "multipeer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "peers").path()
        let key = try #require(Fingerprint([UInt8](repeating: 1, count: 32)))
        let store = try TrustStore.File(path: path)
        for number in 0..<3 as Range<UInt64> {
            let entry = TrustStore.Entry(
                peer: UID(high: 1, low: number), fingerprint: key, name: nil, at: nil)
            #expect(try store.change { $0.remember(entry) })
            // Of another process.
            let other = try TrustStore.File(path: path)
            let another = TrustStore.Entry(
                peer: UID(high: 2, low: number), fingerprint: key, name: nil, at: nil)
            #expect(try other.change { $0.remember(another) })
            #expect(try store.reload().count == 2 * Int(number) + 2)
        }
        try Data("not a store\n".utf8).write(to: URL(filePath: path))
        #expect(throws: MultipeerError.self) { try store.reload() }
    }

    private func withStore(_ body: (String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "multipeer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory.appending(path: "peers").path())
    }

    @Test("a peer with a remembered name, and another id and key, is refused with both fingerprints")
    func renamed() async throws {
        try await withStore { path in
            let identities = [try Identity.generate(), try Identity.generate()]
            for (round, identity) in identities.enumerated() {
                let store = try TrustStore.File(path: path)
                let strict = Session.Configuration.loopback().with {
                    $0.trust = .trustOnFirstUse
                    $0.trustStore = store
                }
                // Each time bob has another id.
                let meeting = try Meeting(ann: strict, bob: .loopback(identity: identity))
                let error = try await meeting.attempt().ann.error
                #expect((error == nil) == (round == 0))
                if let error {
                    let (old, new) = (identities[0].fingerprint.short, identity.fingerprint.short)
                    #expect(error.description.contains("the key has changed since 20"))
                    #expect(error.description.contains("old \(old), new \(new)"))
                }
                await meeting.end()
            }
        }
    }

    @Test("a name that looks like a remembered one is that name, whatever letters it has")
    func lookAlikes() throws {
        let keys = try (1...2).map { try #require(Fingerprint([UInt8](repeating: $0, count: 32))) }
        var store = TrustStore()
        for (number, name) in ["bob", "Zoë", nil].enumerated() {
            let isKept = store.remember(
                TrustStore.Entry(
                    peer: UID(high: 1, low: UInt64(number)), fingerprint: keys[0], name: name, at: nil))
            #expect(isKept)
        }
        func contact(_ name: String, _ key: Fingerprint) -> TrustEvidence.Contact {
            let peer = UID(high: 2, low: 0)
            return TrustEvidence(
                peer: peer, name: name, chain: [], fingerprint: key, origin: .network,
                known: TrustEvidence.Known(peer, named: name, key, in: [store]), now: 0
            ).contact
        }
        let bob = try #require(store[UID(high: 1, low: 0)])
        for name in [
            "bob", "BOB", "b\u{43e}b", "bob\u{fe0f}", "bo\u{34f}b", "b\u{ff4f}b", "b 0 b", "\u{412}ob",
        ] {
            #expect(store.entries(named: name) == [bob], "\(name)")
            #expect(contact(name, keys[1]) == .changed(bob), "\(name)")
        }
        for name in ["Zoe\u{308}", "\u{39f}", "zo\u{eb}"] {
            let isZoe = name != "\u{39f}"
            #expect(store.entries(named: name).map(\.name) == (isZoe ? ["Zoë"] : []), "\(name)")
        }
        for name in ["bib", "rob", "b\u{f3}b", "zoe"] {
            #expect(contact(name, keys[1]) == .first, "\(name)")
        }
    }

    @Test("peers that both users have verified are remembered if both have identities, and known later")
    func remembered() async throws {
        try await withStore { path in
            let identities = (try Identity.generate(), try Identity.generate())
            for round in 0..<3 {
                let store = try TrustStore.File(path: path)
                // The third time ann has no identity, which hers need not be to know bob's.
                let meeting = try Meeting(
                    ann: .loopback(identity: round == 2 ? nil : identities.0).with { $0.trustStore = store },
                    bob: .loopback(identity: identities.1))
                try await meeting.link()
                let (ann, bob) = (meeting.ann, meeting.bob)
                let verification = await ann.connectionInfo(for: bob.peer)?.verification
                if round == 0 {
                    #expect(verification == .unverified(.connectionData))
                    async let annsCode = ann.verificationCode(for: bob.peer)
                    async let bobsCode = bob.verificationCode(for: ann.peer)
                    _ = try await (annsCode, bobsCode)
                    async let anns: Void = ann.confirmVerification(of: bob.peer)
                    async let bobs: Void = bob.confirmVerification(of: ann.peer)
                    _ = try await (anns, bobs)
                    let entry = try #require(store.contents[bob.peer.uid])
                    #expect(entry.name == "bob" && entry.verifiedBy == .code)
                    #expect(entry.fingerprint == identities.1.fingerprint)
                } else {
                    guard case .knownKey(since: _?, verifiedBy: .code) = verification else {
                        Issue.record("\(String(describing: verification))")
                        break
                    }
                }
                await meeting.end()
            }
        }
    }

    @Test("two processes that write the same trust store lose nothing, and it stays private")
    func shared() async throws {
        try await withStore { path in
            let stores = [try TrustStore.File(path: path), try TrustStore.File(path: path)]
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<40 {
                    let key = try #require(Fingerprint([UInt8](repeating: UInt8(number), count: 32)))
                    let entry = TrustStore.Entry(
                        peer: UID(high: 1, low: UInt64(number)), fingerprint: key, name: nil, at: nil)
                    group.addTask { try stores[number % 2].change { $0.remember(entry) } }
                }
                for try await isWritten in group { #expect(isWritten) }
            }
            #expect(try stores[0].reload().count == 40)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try Data("not a store\n".utf8).write(to: URL(filePath: path))
            #expect(throws: MultipeerError(.invalidArgument, "")) {
                try stores[0].change { _ in true }
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "not a store\n")
        }
    }

    @Test("a lock on the directory of the trust store, which others may hold, does not hold up a change")
    func lockedDirectory() async throws {
        try await withStore { path in
            let directory = unsafe open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY)
            defer { close(directory) }
            try #require(flock(directory, LOCK_EX | LOCK_NB) == 0)
            let store = try TrustStore.File(path: path)
            let key = try #require(Fingerprint([UInt8](repeating: 1, count: 32)))
            let entry = TrustStore.Entry(peer: UID(high: 1, low: 2), fingerprint: key, name: nil, at: nil)
            #expect(try store.change { $0.remember(entry) })
            let mode = try FileManager.default.attributesOfItem(atPath: path + ".lock")[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }

    @Test(
        "an authority vouches for a peer that its certificate names, and for others as members only [trust.named]",
        .enabled(if: OpenSSLClient.isPresent))
    func authority() async throws {
        let chain = try TestChain(named: "bob")
        let mallory = try TestChain(named: "mallory")
        defer {
            chain.remove()
            mallory.remove()
        }
        let strict = Session.Configuration.loopback().with { $0.trust = .certificateAuthority([chain.root]) }
        let good = try Meeting(ann: strict, bob: .loopback(identity: chain.identity))
        try await good.link()
        #expect(
            await good.ann.connectionInfo(for: good.bob.peer)?.verification
                == .certified(subject: chain.identity.chain[0].subject, namesPeer: true))
        await good.end()
        let open = Session.Configuration.loopback().with {
            $0.trust = .certificateAuthorityMember([mallory.root])
        }
        let member = try Meeting(ann: open, bob: .loopback(identity: mallory.identity))
        try await member.link()
        #expect(
            await member.ann.connectionInfo(for: member.bob.peer)?.verification
                == .certified(subject: "CN=mallory", namesPeer: false))
        await member.end()
        let foreign = Session.Configuration.loopback().with {
            $0.trust = .certificateAuthority([mallory.root])
        }
        for (policy, other) in [
            (strict, try Identity.generate()), (strict, nil), (foreign, mallory.identity),
        ] {
            let bad = try Meeting(ann: policy, bob: .loopback(identity: other))
            let fared = try await bad.attempt()
            #expect(fared.ann.error?.reason?.code == .rejected)
            #expect(fared.bob.error?.reason?.code == .rejected)
            await bad.end()
        }
    }

    @Test("a plain peer proves no key, so every policy about keys refuses it [trust.before-confirm]")
    func plain() async throws {
        let meeting = try Meeting(
            ann: .loopback(.optional).with { $0.trust = .trustOnFirstUse }, bob: .loopback(.none))
        let fared = try await meeting.attempt()
        #expect(fared.ann.error?.reason?.code == .rejected)
        #expect(fared.bob.error?.reason?.code == .rejected)
        await meeting.end()
    }
}

/// The application's side of `TrustPolicy.ask`: records the questions, and answers when the test says so.
final class Questions: Sendable {
    private struct State {
        var all: [TrustEvidence] = []
        var told: [Promise<Bool>] = []
    }

    private let state = Locked(State())
    private let answer: Bool?
    private let arrivals = Counter()
    private let cancellation = Promise<Void>()

    init(answer: Bool?) { self.answer = answer }

    var all: [TrustEvidence] { state.withLock { $0.all } }

    func arrive(_ count: Int) async { await arrivals.reaches(count) }

    /// Waits until a question was withdrawn.
    func cancelled() async {
        let cancellation = cancellation
        await cancellation.value(onCancel: { cancellation.send(()) })
    }

    func decide(_ evidence: TrustEvidence) async -> Bool {
        let signal = note(evidence)
        if let answer { return answer }
        return await signal.value(onCancel: { [cancellation] in
            cancellation.send(())
            signal.send(true)
        })
    }

    /// Decides like an application that ignores cancellation.
    func decideWhenTold(_ evidence: TrustEvidence) async -> Bool { await note(evidence).value() }

    func tell(_ question: Int, _ answer: Bool) {
        let told = state.withLock { $0.told }
        // No question came in time: the test reports that already.
        guard told.indices.contains(question) else {
            Issue.record("question \(question) was not asked")
            return
        }
        told[question].send(answer)
    }

    private func note(_ evidence: TrustEvidence) -> Promise<Bool> {
        let signal = Promise<Bool>()
        state.withLock {
            $0.all.append(evidence)
            $0.told.append(signal)
        }
        arrivals.add()
        return signal
    }
}
