import Multipeer
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("1 Structured lifetimes", .inTurns, .timeLimit(.minutes(2)))
struct LifetimeTests {
    private struct Refusal: Error {}

    @Test("withSession disconnects at the end, whether its body returns or throws", arguments: [true, false])
    func session(_ isThrowing: Bool) async throws {
        let other = try Session(peer: PeerID(displayName: "bob"), configuration: .loopback())
        let theirs = try await other.connectionData()
        let body: @Sendable (Session) async throws -> Int = { session in
            let mine = try await session.connectionData()
            async let answer: Void = other.connect(with: ConnectionData(mine.bytes))
            try await session.connect(with: ConnectionData(theirs.bytes))
            try await answer
            try await session.send("last words", to: other.peer)
            if isThrowing { throw Refusal() }
            return 7
        }
        try await within {
            do {
                let result = try await withSession(
                    peer: PeerID(displayName: "ann"), configuration: .loopback(), body)
                #expect(result == 7 && !isThrowing)
            } catch is Refusal {
                #expect(isThrowing)
            }
            // What was accepted is still sent, and then the goodbye.
            var received: [String] = []
            for await event in other.events {
                if case .message(let message) = event { received.append(message.text ?? "") }
                if case .peer(_, .notConnected(let reason)) = event {
                    #expect(reason.code == .goodbye)
                    break
                }
            }
            #expect(received == ["last words"])
        }
        await other.disconnect()
    }

    @Test("a browser and an advertiser run during their bodies, and are stopped when these return or throw")
    func nearby() async throws {
        let network = try Ground.memory.network()
        let (ann, bob) = (try Caller("ann", network), try Caller("bob", network))
        try await within {
            await #expect(throws: Refusal.self) {
                try await bob.advertiser.run { _ in
                    let found = try await ann.browser.run { events -> PeerID? in
                        for await event in events { if case .found(let peer) = event { return peer.peer } }
                        return nil
                    }
                    #expect(found == bob.session.peer)
                    let isBrowsing = await ann.browser.isRunning
                    #expect(!isBrowsing)
                    throw Refusal()
                }
            }
            let isAdvertising = await bob.advertiser.isRunning
            #expect(!isAdvertising)
        }
        await ann.stop()
        await bob.stop()
    }
}
