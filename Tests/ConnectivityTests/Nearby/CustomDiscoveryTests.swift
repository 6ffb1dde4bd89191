@preconcurrency import MultipeerConnectivity
import TestSupport
import Testing

@Suite("Facade: connecting by hand", .inTurns)
struct CustomDiscoveryTests {
    @Test("four devices exchange data with each other, and are all connected")
    func four() async throws {
        let members = ["ann", "bob", "cid", "dan"].map { Member($0) }
        for (index, one) in members.enumerated() {
            for other in members[(index + 1)...] { try await one.dial(other) }
        }
        for one in members {
            for other in members where other.peer != one.peer {
                try await one.recorder.hears(.connected, of: other.peer)
                #expect(one.recorder.states(of: other.peer) == [.connecting, .connected])
            }
        }
        let message = Data("to all".utf8)
        for one in members {
            try one.session.send(message, toPeers: one.session.connectedPeers, with: .reliable)
        }
        for one in members {
            for other in members where other.peer != one.peer {
                #expect(try await one.recorder.hears(messages: 1, of: other.peer) == [message])
            }
        }
    }

    @Test("a peer that connects before it made its own data is connected all the same")
    func dataAfter() async throws {
        let (ann, bob) = (Member("ann"), Member("bob"))
        let ofBob = try await bob.session.nearbyConnectionData(forPeer: ann.peer)
        ann.session.connectPeer(bob.peer, withNearbyConnectionData: ofBob)
        try await ann.recorder.hears(.connecting, of: bob.peer)
        let ofAnn = try await ann.session.nearbyConnectionData(forPeer: bob.peer)
        bob.session.connectPeer(ann.peer, withNearbyConnectionData: ofAnn)
        try await ann.recorder.hears(.connected, of: bob.peer)
        try await bob.recorder.hears(.connected, of: ann.peer)
        #expect(ann.recorder.states(of: bob.peer) == [.connecting, .connected])
    }

    @Test("the handler is called once, on the session's queue, with data or with an error")
    func handler() async throws {
        let ann = Member("ann")
        let answers = EventLog<(Data?, MCError?)>()
        let bob = MCPeerID(displayName: "bob")
        for peer in [bob, ann.peer] {
            ann.session.nearbyConnectionData(forPeer: peer) { data, error in
                dispatchPrecondition(condition: .notOnQueue(.main))
                answers.note((data, error as? MCError))
            }
        }
        let all = try await answers.until { $0.count == 2 }
        #expect(all.filter { $0.0 != nil && $0.1 == nil }.count == 1)
        #expect(all.filter { $0.0 == nil && $0.1?.code == .invalidParameter }.count == 1)
    }

    @Test("data that is malformed, or of another peer or the own one, leads to .notConnected, once")
    func badData() async throws {
        let (ann, bob, cid) = (Member("ann"), Member("bob"), Member("cid"))
        let ofCid = try await cid.session.nearbyConnectionData(forPeer: ann.peer)
        ann.session.connectPeer(bob.peer, withNearbyConnectionData: Data("rubbish".utf8))
        ann.session.connectPeer(cid.peer, withNearbyConnectionData: Data())
        ann.session.connectPeer(ann.peer, withNearbyConnectionData: ofCid)
        for peer in [bob.peer, cid.peer, ann.peer] { try await ann.recorder.hears(.notConnected, of: peer) }
        let dan = MCPeerID(displayName: "dan")
        ann.session.connectPeer(dan, withNearbyConnectionData: ofCid)
        try await ann.recorder.hears(.notConnected, of: dan)
        for peer in [bob.peer, cid.peer, ann.peer, dan] {
            #expect(ann.recorder.states(of: peer) == [.notConnected])
        }
    }

    @Test("an attempt without an answer ends, and a cancelled one ends at once")
    func searches() async throws {
        var configuration = Member.loopback
        configuration.connectTimeout = .seconds(1)
        let (ann, bob, cid) = (Member("ann", configuration: configuration), Member("bob"), Member("cid"))
        _ = try await ann.session.nearbyConnectionData(forPeer: bob.peer)
        let ofBob = try await bob.session.nearbyConnectionData(forPeer: ann.peer)
        ann.session.connectPeer(bob.peer, withNearbyConnectionData: ofBob)
        try await ann.recorder.hears(.notConnected, of: bob.peer)
        #expect(ann.recorder.states(of: bob.peer) == [.connecting, .notConnected])

        _ = try await bob.session.nearbyConnectionData(forPeer: cid.peer)
        let ofCid = try await cid.session.nearbyConnectionData(forPeer: bob.peer)
        bob.session.connectPeer(cid.peer, withNearbyConnectionData: ofCid)
        try await bob.recorder.hears(.connecting, of: cid.peer)
        bob.session.cancelConnectPeer(cid.peer)
        try await bob.recorder.hears(.notConnected, of: cid.peer)
        #expect(bob.recorder.states(of: cid.peer) == [.connecting, .notConnected])
    }

    @Test("cancelling has no effect on a peer that is connected or unknown")
    func cancelling() async throws {
        let (ann, bob) = try await Member.pair()
        ann.session.cancelConnectPeer(bob.peer)
        ann.session.cancelConnectPeer(MCPeerID(displayName: "nobody"))
        try ann.session.send(Data([1]), toPeers: [bob.peer], with: .reliable)
        try await bob.recorder.hears(messages: 1, of: ann.peer)
        #expect(ann.recorder.states(of: bob.peer) == [.connecting, .connected])
    }

    @Test("disconnecting ends an attempt, and later calls belong to the next connection")
    func disconnectThenConnect() async throws {
        let (ann, bob) = (Member("ann"), Member("bob"))
        _ = try await ann.session.nearbyConnectionData(forPeer: bob.peer)
        let old = try await bob.session.nearbyConnectionData(forPeer: ann.peer)
        ann.session.connectPeer(bob.peer, withNearbyConnectionData: old)
        try await ann.recorder.hears(.connecting, of: bob.peer)
        ann.session.disconnect()
        let answers = EventLog<Data?>()
        ann.session.nearbyConnectionData(forPeer: bob.peer) { data, _ in answers.note(data) }
        ann.session.connectPeer(bob.peer, withNearbyConnectionData: old)
        try await answers.until { !$0.isEmpty }
        let fresh = try #require(answers.all[0])
        bob.session.connectPeer(ann.peer, withNearbyConnectionData: fresh)
        try await ann.recorder.hears(.connected, of: bob.peer)
        #expect(
            ann.recorder.states(of: bob.peer) == [.connecting, .notConnected, .connecting, .connected])
    }
}
