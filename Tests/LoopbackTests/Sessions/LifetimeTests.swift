import Multipeer
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("1 Structured lifetimes", .inTurns)
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

    @Test(
        "an advertiser that runs into a session answers each invitation in a task of its own, until it is stopped"
    )
    func answering() async throws {
        let network = try Ground.memory.network()
        let (ann, bob) = (try Caller("ann", network), try Caller("bob", network))
        let (cid, dan) = (try Caller("cid", network), try Caller("dan", network))
        let (undecided, decision) = (Promise<Void>(), Promise<Bool>())
        try await within {
            var states = bob.session.peerStates.makeAsyncIterator()
            let running = Task {
                try await bob.advertiser.run(into: bob.session) { invitation in
                    guard invitation.inviter == ann.peer else { return invitation.inviter == cid.peer }
                    undecided.send(())
                    return await decision.value()
                }
            }
            for other in [ann, cid, dan] {
                try await other.browser.start()
                try await other.finds([bob.peer])
            }
            async let first: Void = ann.browser.invite(bob.peer, to: ann.session)
            await undecided.value()
            // ann's invitation is not answered yet.
            try await cid.browser.invite(bob.peer, to: cid.session)
            await #expect(throws: MultipeerError.self) {
                try await dan.browser.invite(bob.peer, to: dan.session)
            }
            decision.send(true)
            try await first
            var missing: Set = [ann.peer, cid.peer]
            while !missing.isEmpty, let (peer, state) = await states.next() {
                if state == .connected { missing.remove(peer) }
            }
            await bob.advertiser.stop()
            try await running.value
            await #expect {
                try await bob.advertiser.run(into: ann.session) { _ in true }
            } throws: {
                ($0 as? MultipeerError)?.code == .invalidArgument
            }
        }
        for caller in [ann, bob, cid, dan] { await caller.stop() }
    }

    @Test(
        "an advertiser that runs into a session is stopped when its task is cancelled, and reports invitations that fail"
    )
    func failing() async throws {
        let network = try Ground.memory.network()
        let (ann, bob) = (try Caller("ann", network), try Caller("bob", network))
        let (asked, failed) = (Promise<Void>(), Promise<MultipeerError.Code>())
        try await within {
            let running = Task {
                try await bob.advertiser.run(into: bob.session) { invitation in
                    asked.send(())
                    await invitation.waitUntilEnded()
                    return true
                } onFailure: { invitation, error in
                    failed.send(invitation.inviter == ann.peer ? error.code : .system)
                }
            }
            try await ann.browser.start()
            try await ann.finds([bob.peer])
            let inviting = Task { try await ann.browser.invite(bob.peer, to: ann.session) }
            await asked.value()
            inviting.cancel()
            #expect(await failed.value() == .cancelled)
            running.cancel()
            try await running.value
            let isAdvertising = await bob.advertiser.isRunning
            #expect(!isAdvertising)
        }
        await ann.stop()
        await bob.stop()
    }
}
