import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

/// Messages that arrived together are delivered one after the other, in one job of the callback queue.
@Suite("Facade: a run of messages", .inTurns)
struct MessageRunTests {
    private let calls = EventLog<Data>()

    /// Sends five messages that arrive together.
    private func send(_ ann: Member, _ bob: Member) async throws {
        let messages = (0..<5).map { [UInt8($0)] }
        try await ann.session.native.send(contentsOf: messages, to: bob.peer.native)
    }

    /// Returns when the delegate has received everything before.
    private func finish(_ ann: Member, _ bob: Member) async throws {
        try ann.session.send(Data([99]), toPeers: [bob.peer], with: .reliable)
        try await bob.recorder.log.until { $0.contains { $0.data(of: ann.peer) == Data([99]) } }
    }

    @Test(
        "a delegate that is released in one call is gone after it, and gets no other",
        arguments: [0, 1, 3])
    func released(at place: UInt8) async throws {
        let (ann, bob) = try await Member.pair()
        let recorder = Locked<Recorder?>(Recorder())
        weak let gone = recorder.withLock { $0 }
        gone?.react { [calls] session, event in
            guard let data = event.data(of: ann.peer) else { return }
            calls.note(data)
            if data == Data([place]) { recorder.withLock { $0 = nil } }
            if data == Data([place + 1]) { session.delegate = nil }
        }
        bob.session.delegate = gone
        try await send(ann, bob)
        try await ann.session.native.waitUntilReceived(by: bob.peer.native)
        while gone != nil { await Task.yield() }
        bob.session.delegate = bob.recorder
        try await finish(ann, bob)
        #expect(calls.all == (0...place).map { Data([$0]) })
    }

    @Test("a delegate that is replaced in one call gets no other, and its successor the next")
    func replaced() async throws {
        let (ann, bob) = try await Member.pair()
        let first = Recorder()
        first.react { [calls] session, event in
            guard let data = event.data(of: ann.peer) else { return }
            calls.note(data)
            if data == Data([1]) { session.delegate = bob.recorder }
        }
        bob.session.delegate = first
        try await send(ann, bob)
        try await finish(ann, bob)
        #expect(calls.all == [Data([0]), Data([1])])
        #expect(bob.recorder.messages(of: ann.peer) == [2, 3, 4, 99].map { Data([$0]) })
    }

    @Test("after a disconnect in one call there is no other")
    func disconnected() async throws {
        let (ann, bob) = try await Member.pair()
        bob.recorder.react { session, event in
            if event.data(of: ann.peer) == Data([2]) { session.disconnect() }
        }
        try await send(ann, bob)
        try await bob.recorder.hears(.notConnected, of: ann.peer)
        #expect(bob.recorder.messages(of: ann.peer) == [0, 1, 2].map { Data([$0]) })
    }

    @Test("a session that is released in one call is gone after it, and its delegate gets no other")
    func sessionReleased() async throws {
        let ann = Member("ann")
        let recorder = Recorder()
        let bob = MCPeerID(displayName: "bob")
        let held = Locked<UncheckedSendable<MCSession>?>(nil)
        weak var gone: MCSession?
        do {
            let session = MCSession(
                peer: bob, securityIdentity: nil, encryptionPreference: .required,
                configuration: Member.loopback)
            session.delegate = recorder
            gone = session
            let mine = try await ann.session.nearbyConnectionData(forPeer: bob)
            let theirs = try await session.nearbyConnectionData(forPeer: ann.peer)
            ann.session.connectPeer(bob, withNearbyConnectionData: theirs)
            session.connectPeer(ann.peer, withNearbyConnectionData: mine)
            held.withLock { $0 = UncheckedSendable(session) }
        }
        try await ann.recorder.hears(.connected, of: bob)
        recorder.react { _, event in
            if event.data(of: ann.peer) == Data([2]) { held.withLock { $0 = nil } }
        }
        let messages = (0..<5).map { [UInt8($0)] }
        try await ann.session.native.send(contentsOf: messages, to: bob.native)
        try await ann.recorder.hears(.notConnected, of: bob)
        #expect(gone == nil)
        #expect(recorder.messages(of: ann.peer) == [0, 1, 2].map { Data([$0]) })
    }
}
