import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 One port for links, invitations and datagrams", .inTurns)
struct SharedPortTests {
    /// A peer whose session and advertiser have the same port.
    private struct SinglePortPeer {
        let caller: Caller
        /// The UDP port that was offered.
        let datagrams = Promise<UInt16>()

        init(_ port: UInt16, _ network: (type: ServiceType, configuration: DiscoveryConfiguration)) throws {
            var discovery = network.configuration
            discovery.port = port
            var configuration = Session.Configuration.loopback()
            configuration.port = port
            configuration.overrides.datagramPort = { [datagrams] number in
                datagrams.send(number)
                return number
            }
            caller = try Caller("bob", (network.type, discovery), configuration)
        }
    }

    @Test(
        "an invitation, the link and its datagrams use one number, in either order of opening [invite.port]",
        arguments: [true, false])
    func one(_ sessionIsFirst: Bool) async throws {
        let port = try ReservedPort.next()
        let network = try Ground.memory.network()
        let bob = try SinglePortPeer(port, network)
        let ann = try Caller("ann", network)
        if sessionIsFirst { _ = try await bob.caller.session.connectionData() }
        try await bob.caller.start()
        try await ann.start()
        try await ann.finds([bob.caller.peer])
        for _ in 0..<2 {
            async let asked = ann.inviting(bob.caller)
            try await bob.caller.invited().accept(into: bob.caller.session)
            try await asked.get()
        }
        let data = try await bob.caller.session.connectionData()
        #expect(data.candidates.map(\.port) == [port])
        #expect(try await within { await bob.datagrams.value() } == port)
        // A link that the other side dials, and one after the advertiser has stopped.
        let cid = try Session(peer: PeerID(displayName: "cid"), configuration: .loopback())
        await bob.caller.advertiser.stop()
        async let dialled: Void = cid.connect(with: data)
        try await bob.caller.session.connect(with: try await cid.connectionData())
        try await dialled
        await cid.disconnect()
        await ann.stop()
        await bob.caller.stop()
    }

    @Test("an invitation to an address needs no discovery, and asks the same question [invite.address]")
    func address() async throws {
        let port = try ReservedPort.next()
        let address = SocketAddress.loopback.with(port: port)
        let bob = try SinglePortPeer(port, try Ground.memory.network()).caller
        // On a network of its own: it cannot find bob.
        let ann = try Caller("ann", try Ground.memory.network())
        try await bob.advertiser.start()
        let declined = Task { try await ann.browser.invite(at: [address], to: ann.session, context: [7]) }
        let first = try await bob.invited()
        #expect(first.inviter == ann.peer && first.context == [7])
        try await first.decline()
        let refusal = await #expect(throws: MultipeerError.self) { _ = try await declined.value }
        #expect(refusal?.code == .declined)
        let unexpected = Task { try await ann.browser.invite(at: [address], to: ann.session) { _ in false } }
        let second = try await bob.invited()
        let accepting = await bob.accepting(second)
        #expect(accepting.error != nil)
        let mismatch = await #expect(throws: MultipeerError.self) { _ = try await unexpected.value }
        #expect(mismatch?.code == .unreachable)
        async let linked = ann.browser.invite(at: [address], to: ann.session)
        try await bob.invited().accept(into: bob.session)
        #expect(try await linked == bob.peer)
        #expect(await ann.session.connectedPeers == [bob.peer])
        await bob.stop()
        let gone = await #expect(throws: MultipeerError.self) {
            try await ann.browser.invite(at: [.loopback.with(port: 1_024)], to: ann.session)
        }
        #expect(gone?.code == .unreachable)
        await ann.session.disconnect()
    }

    @Test("an advertiser alone has the port, too, and gets it back each time it starts")
    func advertiserAlone() async throws {
        let port = try ReservedPort.next()
        let network = try Ground.memory.network()
        let bob = try SinglePortPeer(port, network).caller
        let ann = try Caller("ann", network)
        try await ann.start()
        for _ in 0..<2 {
            try await bob.start()
            try await ann.finds([bob.peer])
            let address = SocketAddress.loopback.with(port: port)
            async let answer = PeerID(displayName: "cid").invite(bob.peer, at: [address])
            try await bob.invited().decline()
            #expect(try await answer == .failure(.declined))
            await bob.advertiser.stop()
        }
        await ann.stop()
    }

    @Test("a port that another session, advertiser or program has is an error that names the holder")
    func taken() async throws {
        let port = try ReservedPort.next()
        let network = try Ground.memory.network()
        let first = try SinglePortPeer(port, network).caller
        let second = try SinglePortPeer(port, network).caller
        _ = try await first.session.connectionData()
        try await first.advertiser.start()
        let session = await #expect(throws: MultipeerError.self) { try await second.session.connectionData() }
        #expect(session?.description == "port \(port) is in use by another session of this process")
        let advertiser = await #expect(throws: MultipeerError.self) { try await second.advertiser.start() }
        #expect(advertiser?.description == "port \(port) is in use by another advertiser of this process")
        await first.advertiser.stop()
        try await second.advertiser.start()
        await second.advertiser.stop()
        await first.session.driver.shutDown()
        _ = try await second.session.connectionData()
        await second.session.driver.shutDown()
    }

    @Test(
        "a port that another program has for TCP or UDP is taken, and one that is only tried first is replaced"
    )
    func busy() async throws {
        let port = try ReservedPort.next()
        let address = SocketAddress.loopback.with(port: port)
        for isDatagram in [false, true] {
            let holder = isDatagram ? nil : try Socket.listening(on: address)
            let datagrams = isDatagram ? try DatagramSocket.bound(to: address) : nil
            var configuration = Session.Configuration.loopback()
            configuration.port = port
            let ann = try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
            let error = await #expect(throws: MultipeerError.self) { try await ann.connectionData() }
            #expect(error?.description == "port \(port) is in use by another program")
            configuration.overrides.sharedPort = SharedPort(port, takesOther: true)
            let bob = try Session(peer: PeerID(displayName: "bob"), configuration: configuration)
            let candidates = try await bob.connectionData().candidates
            #expect(candidates.count == 1 && candidates.first?.port != port)
            await bob.driver.shutDown()
            withExtendedLifetime(holder?.localAddress) {}
            withExtendedLifetime(datagrams?.localAddress) {}
        }
    }

    @Test("a session at one address does not get connections that an advertiser takes at all of them")
    func addresses() async throws {
        let port = try ReservedPort.next()
        let shared = SharedPort(port)
        let peer = try PeerID(displayName: "bob")
        let listener = try InvitationListener(peer: peer, sharedPort: shared)
        #expect(try await listener.start() == port)
        var configuration = Session.Configuration.loopback()
        configuration.overrides.sharedPort = shared
        let session = try Session(peer: peer, configuration: configuration)
        let error = await #expect(throws: MultipeerError.self) { try await session.connectionData() }
        #expect(error?.description == "port \(port) is in use by this process at other addresses")
        await listener.stop()
        // In this order the advertiser takes what the session has.
        _ = try await session.connectionData()
        let other = try InvitationListener(peer: peer, sharedPort: shared)
        #expect(try await other.start() == port)
        await other.stop()
        await session.driver.shutDown()
    }

    @Test(
        "a first message in single bytes, and peers that never finish theirs, keep no one out [limit.unauthenticated]"
    )
    func slow() async throws {
        let port = try ReservedPort.next()
        let network = try Ground.memory.network()
        let bob = try SinglePortPeer(port, network).caller
        _ = try await bob.session.connectionData()
        try await bob.advertiser.start()
        let address = SocketAddress.loopback.with(port: port)
        var pipes: [SecuredPipe] = []
        for _ in 0..<8 {
            let pipe = try SecuredPipe(to: address)
            try await pipe.sayBelow([22, 3, 1, 2, 0, 1, 0])
            pipes.append(pipe)
        }
        try await withTaps { tap, _ in
            _ = tap.advertise([try #require(Candidate(address))])
            await tap.meddle { $0.from == .dialler && $0.offset == 0 ? .drip : .pass }
            async let answer = PeerID(displayName: "cid").invite(bob.peer, at: [tap.address])
            try await bob.invited().decline()
            #expect(try await answer == .failure(.declined))
        }
        await bob.stop()
        withExtendedLifetime(pipes) {}
    }

    @Test("ports that no peer would dial, or that contradict each other, are refused")
    func ranges() throws {
        var configuration = Session.Configuration.loopback()
        configuration.port = 80
        #expect(throws: MultipeerError.self) {
            try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        }
        configuration.port = 4_000
        configuration.listenAddresses = [.loopback.with(port: 4_001)]
        #expect(throws: MultipeerError.self) {
            try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        }
        configuration.port = 0
        #expect(throws: Never.self) {
            try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        }
    }
}
