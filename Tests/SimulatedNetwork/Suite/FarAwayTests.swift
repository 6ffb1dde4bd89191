import Multipeer
import MultipeerSimulation
import TestSupport
import Testing

@Suite("Peers that are far away", .computing)
struct FarAwayTests {
    /// A round trip of three seconds.
    private static let delay = Duration.milliseconds(1_500)

    private static func network(_ seed: UInt64) -> SimulatedNetwork {
        let network = SimulatedNetwork(seed: seed)
        network.delay = delay...delay
        return network
    }

    @Test(
        "with a round trip of 3 s peers link with each other's data [link.timeouts] [link.deadline]",
        arguments: 0..<8)
    func data(_ seed: UInt64) async throws {
        let preference: EncryptionPreference = seed % 2 == 0 ? .required : .none
        let network = Self.network(seed)
        let (texts, duration) = try await network.run { network in
            let before = network.elapsed
            let pair = try await Pair(on: network, preference: preference)
            let duration = network.elapsed - before
            try await pair.ann.send(Array("hello".utf8), to: pair.bob.peer)
            return (await pair.bob.messages(1), duration)
        }
        #expect(texts == ["hello"])
        // TCP, TLS, HELLO and SELECT.
        #expect(duration <= .seconds(16))
    }

    @Test(
        "with a round trip of 3 s an invitation leads to a link, with a code or without [invite.deadline]",
        arguments: 0..<8)
    func invitation(_ seed: UInt64) async throws {
        let code = seed % 2 == 0 ? nil : try InvitationCode("4-island-guitar")
        let duration = try await Self.network(seed).run { network in
            let (anns, bobs) = (try network.host("ann"), try network.host("bob"))
            let ann = try Session(peer: anns.peer, configuration: anns.session(.init()))
            let bob = try Session(peer: bobs.peer, configuration: bobs.session(.init()))
            let advertiser = try Advertiser(
                peer: bobs.peer, service: "room", code: code, configuration: bobs.discovery())
            let browser = try Browser(peer: anns.peer, service: "room", configuration: anns.discovery())
            try await advertiser.start()
            try await browser.start()
            async let admitted: Void = {
                for await invitation in advertiser.invitations {
                    return try await invitation.accept(into: bob)
                }
            }()
            for await case .found in browser.events { break }
            let before = network.elapsed
            try await browser.invite(bobs.peer, to: ann, code: code)
            try await admitted
            return network.elapsed - before
        }
        #expect(duration <= .seconds(30))
    }

    @Test("with a round trip of 3 s unreliable messages go over UDP, and the path stays up [dgram.silence]")
    func datagrams() async throws {
        let network = Self.network(3)
        let (before, facts) = try await network.run { network in
            let pair = try await Pair(on: network)
            try await network.clock.sleep(for: .seconds(20))
            let before = await pair.ann.connectionInfo(for: pair.bob.peer)?.datagrams.isUp
            for _ in 0..<60 {
                try await pair.ann.send([1], to: pair.bob.peer, delivery: .unreliable)
                try await network.clock.sleep(for: .seconds(1))
            }
            return (before, await pair.ann.connectionInfo(for: pair.bob.peer)?.datagrams)
        }
        #expect(before == true)
        #expect(facts?.isUp == true && facts?.sent == 60)
    }
}
