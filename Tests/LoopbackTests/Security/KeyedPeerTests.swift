import Multipeer
import MultipeerCore
import MultipeerDiscovery
import MultipeerHandshake
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("3.1 Peers with keyed uids", .inTurns)
struct KeyedPeerTests {
    @Test("two of them find, invite and link each other [uid.keyed] [uid.proof]")
    func linked() async throws {
        let network = try Ground.memory.network()
        var callers: [Caller] = []
        for name in ["ann", "bob"] { callers.append(try Caller(name, network, identity: .generate())) }
        let (ann, bob) = (callers[0], callers[1])
        #expect(ann.peer.uid.isKeyed && bob.peer.uid.isKeyed)
        for caller in callers { try await caller.start() }
        try await ann.finds([bob.peer])
        async let asked = ann.inviting(bob, context: [1, 2, 3])
        let invitation = try await bob.invited()
        #expect(invitation.inviter == ann.peer && invitation.context == [1, 2, 3])
        try await invitation.accept(into: bob.session)
        try await asked.get()
        #expect(await ann.session.connectedPeers == [bob.peer])
        #expect(await ann.session.connectionInfo(for: bob.peer)?.verification == .unverified(.network))
        try await ann.session.confirmID(of: bob.peer)
        #expect(await ann.session.connectionInfo(for: bob.peer)?.verification == .verified(by: .id))
        for caller in callers { await caller.stop() }
    }

    @Test("only a linked peer with a keyed uid can be confirmed by its id [uid.proof]")
    func unconfirmed() async throws {
        let session = try Session(peer: try PeerID(displayName: "ann"), configuration: .loopback())
        for (peer, code) in [
            (try PeerID(displayName: "bob"), MultipeerError.Code.invalidArgument),
            (try PeerID(displayName: "bob", identity: .generate()), .notConnected),
        ] {
            let error = await #expect(throws: MultipeerError.self) { try await session.confirmID(of: peer) }
            #expect(error?.code == code)
        }
        await session.disconnect()
    }

    @Test("a session or an advertiser of one needs its identity, and encryption [uid.proof]")
    func configuration() async throws {
        let identity = try Identity.generate()
        let ann = try PeerID(displayName: "ann", identity: identity)
        var plain = Session.Configuration.loopback(.none)
        plain.identity = identity
        for (configuration, isValid) in [
            (Session.Configuration(identity: identity), true), (Session.Configuration(), false),
            (Session.Configuration(identity: try .generate()), false), (plain, false),
        ] {
            do {
                _ = try Session(peer: ann, configuration: configuration)
                #expect(isValid)
            } catch {
                #expect(!isValid && error.code == .identity)
                #expect("\(error)".contains("the peer id is the hash of a key"), "\(error)")
            }
        }
        let (service, discovery) = try Ground.memory.network()
        let error = await #expect(throws: MultipeerError.self) {
            try await Advertiser(peer: ann, service: service, configuration: discovery).start()
        }
        #expect(error?.code == .identity)
    }

    @Test(
        "a host that advertises another peer's keyed uid is not invited, and the error says why [uid.proof]")
    func impostor() async throws {
        let bob = try PeerID(displayName: "bob", identity: .generate())
        let ann = try PeerID(displayName: "ann")
        for identity in [nil, try Identity.generate()] {
            try await withHost(identity) { host in
                let outcome = await ann.invite(bob, at: [host.address], context: [1, 2, 3])
                guard case .failure(.foreignKey(let text)) = outcome else {
                    Issue.record("the invitation ended with \(outcome)")
                    return
                }
                #expect(text.contains("the peer does not have the key of its id"))
                #expect(host.listener.questions.count == 0)
            }
        }
    }

    @Test("the real peer is invited, even if an impostor's address comes first [uid.proof]")
    func first() async throws {
        let identity = try Identity.generate()
        let ann = try PeerID(displayName: "ann")
        try await withHost { impostor in
            try await withHost(identity) { host in
                async let call = ann.invite(host.peer, at: [impostor.address, host.address])
                let question = try await host.question()
                #expect(question.inviter == ann)
                try await host.listener.refuse(question.id)
                #expect(await call == .failure(.declined))
                #expect(impostor.listener.questions.count == 0)
            }
        }
    }

    @Test("an address that another host announced first does not end the search for the peer [uid.proof]")
    func announcedFirst() async throws {
        try await withHost { impostor in
            var network = try Ground.memory.network()
            let discovery = ForgedDiscovery(impostor.address, count: 2)
            network.1.backend = discovery
            let bob = try Caller("bob", network, identity: .generate())
            let ann = try Caller("ann", network)
            for caller in [ann, bob] { try await caller.start() }
            try await ann.finds([bob.peer])
            async let asked = ann.inviting(bob)
            let invitation = try await bob.invited()
            try await invitation.accept(into: bob.session)
            try await asked.get()
            #expect(await discovery.forgeries == 0 && impostor.listener.questions.count == 0)
            for caller in [ann, bob] { await caller.stop() }
        }
    }

    @Test("without the peer itself, the error at the timeout says that another key was there [uid.proof]")
    func announcedAlone() async throws {
        try await withHost { impostor in
            var network = try Ground.memory.network()
            network.1.backend = ForgedDiscovery(impostor.address, count: .max)
            let bob = try Caller("bob", network, identity: .generate())
            let ann = try Caller("ann", network)
            for caller in [ann, bob] { try await caller.start() }
            try await ann.finds([bob.peer])
            let outcome = await ann.inviting(bob, timeout: .seconds(2))
            #expect(outcome.error?.code == .unreachable)
            #expect(outcome.error?.description.contains("the peer does not have the key of its id") == true)
            #expect(impostor.listener.questions.count == 0)
            for caller in [ann, bob] { await caller.stop() }
        }
    }

    @Test(
        "an inviter without the key of its keyed uid is refused, and the application is not asked [uid.proof]"
    )
    func unproven() async throws {
        let eve = try PeerID(displayName: "eve", identity: .generate())
        try await withHost { host in
            let pipe = try await host.pipe(InvitationTLS())
            try await pipe.say(.invite(eve.invitation(to: host.peer)))
            guard case .answer(let answer) = try await pipe.hear() else {
                Issue.record("no answer")
                return
            }
            #expect(answer.code == .policy && host.listener.questions.count == 0)
        }
    }
}

/// A network in memory on which another host's address is announced for every peer, before the peer's own.
private actor ForgedDiscovery: DiscoveryBackend {
    private let base = InMemoryDiscovery()
    private let address: SocketAddress
    /// How often only the other address is known.
    private(set) var forgeries: Int

    init(_ address: SocketAddress, count: Int) { (self.address, forgeries) = (address, count) }

    func resolve(
        _ peer: PeerID, _ type: ServiceType, within timeLimit: Duration
    ) async throws(MultipeerError) -> [SocketAddress] {
        guard forgeries > 0 else { return try await base.resolve(peer, type, within: timeLimit) }
        forgeries -= 1
        return [address]
    }

    func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        try await base.advertise(advertisement)
    }

    func browse(
        _ type: ServiceType, hiding local: PeerID?
    ) async throws(MultipeerError) -> DiscoveryEvents {
        try await base.browse(type, hiding: local)
    }

    func miss(_ peer: PeerID, _ type: ServiceType) {}
    func reached(_ peer: PeerID, _ type: ServiceType) {}
    func regain(_ peer: PeerID, _ type: ServiceType) {}
}
