@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: sessions", .inTurns)
struct SessionTests {
    @Test("a session has the values it was created with, and no peers at first")
    func beginnings() throws {
        let ann = MCPeerID(displayName: "ann")
        let plain = MCSession(peer: ann)
        #expect(plain.myPeerID === ann && plain.securityIdentity == nil && plain.connectedPeers.isEmpty)
        #expect(plain.encryptionPreference == .required && plain.delegate == nil)
        let identity = try MCIdentity.generate()
        let other = MCSession(peer: ann, securityIdentity: [identity], encryptionPreference: .optional)
        #expect(other.securityIdentity?.count == 1 && other.encryptionPreference == .optional)
    }

    @Test(
        "two peers connect and exchange messages, with every encryption preference",
        arguments: [MCEncryptionPreference.optional, .required, .none])
    func talking(_ preference: MCEncryptionPreference) async throws {
        let (ann, bob) = try await Member.pair(preference)
        #expect(ann.session.connectedPeers == [bob.peer] && bob.session.connectedPeers == [ann.peer])
        try ann.session.send(Data("hello".utf8), toPeers: [bob.peer], with: .reliable)
        try bob.session.send(Data("hi".utf8), toPeers: [ann.peer], with: .unreliable)
        #expect(try await bob.recorder.hears(messages: 1, of: ann.peer) == [Data("hello".utf8)])
        #expect(try await ann.recorder.hears(messages: 1, of: bob.peer) == [Data("hi".utf8)])
        #expect(ann.recorder.states(of: bob.peer) == [.connecting, .connected])
        #expect(bob.recorder.states(of: ann.peer) == [.connecting, .connected])
    }

    @Test(
        "the peer is connected, and can be sent to, when the delegate is called, and is gone when it is gone")
    func insideCallbacks() async throws {
        let (ann, bob) = (Member("ann"), Member("bob"))
        let seen = EventLog<[MCPeerID]>()
        ann.recorder.react { session, heard in
            guard case .state(let peer, let state) = heard else { return }
            seen.note(session.connectedPeers)
            if state == .connected {
                do {
                    try session.send(Data([1]), toPeers: [peer], with: .reliable)
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        try await ann.connect(bob)
        try await bob.recorder.hears(messages: 1, of: ann.peer)
        bob.session.disconnect()
        try await ann.recorder.hears(.notConnected, of: bob.peer)
        #expect(seen.all == [[], [bob.peer], []])
    }

    @Test("a message may have 64 MiB, and a longer one is refused")
    func longest() async throws {
        let (ann, bob) = try await Member.pair(configuration: .facadeOnLoopback)
        let long = Data(repeating: 7, count: 64 << 20)
        try ann.session.send(long, toPeers: [bob.peer], with: .reliable)
        #expect(
            code(of: { try ann.session.send(long + [7], toPeers: [bob.peer], with: .reliable) })
                == .invalidParameter)
        #expect(try await bob.recorder.hears(messages: 1, of: ann.peer) == [long])
        for member in [ann, bob] { member.session.disconnect() }
    }

    @Test("messages arrive whole and in order, including long and empty ones")
    func order() async throws {
        let (ann, bob) = try await Member.pair()
        let sent = (0..<300).map { number in
            Data(repeating: UInt8(truncatingIfNeeded: number), count: number % 50 == 0 ? 200_000 : number % 7)
        }
        for message in sent { try ann.session.send(message, toPeers: [bob.peer], with: .reliable) }
        #expect(try await bob.recorder.hears(messages: sent.count, of: ann.peer) == sent)
    }

    @Test("sending to no peer, an unknown peer, oneself or too much throws, and sends nothing to any peer")
    func refusals() async throws {
        let (ann, bob) = try await Member.pair()
        func code(_ data: Data, _ peers: [MCPeerID], _ mode: MCSessionSendDataMode = .reliable) -> MCError
            .Code?
        {
            do {
                try ann.session.send(data, toPeers: peers, with: mode)
                return nil
            } catch {
                return (error as? MCError)?.code
            }
        }
        let stranger = MCPeerID(displayName: "bob")
        #expect(code(Data([1]), []) == .invalidParameter)
        #expect(code(Data([1]), [bob.peer, stranger]) == .notConnected)
        #expect(code(Data([1]), [bob.peer, ann.peer]) == .notConnected)
        #expect(code(Data(count: 16 * 1_048_576 + 1), [bob.peer]) == .invalidParameter)
        #expect(code(Data(), [bob.peer]) == nil)
        #expect(try await bob.recorder.hears(messages: 1, of: ann.peer) == [Data()])
    }

    @Test("disconnecting empties the session at once, and both sides are notified once")
    func disconnecting() async throws {
        let (ann, bob) = try await Member.pair()
        ann.session.disconnect()
        #expect(ann.session.connectedPeers.isEmpty)
        #expect(throws: MCError.self) { try ann.session.send(Data(), toPeers: [bob.peer], with: .reliable) }
        try await ann.recorder.hears(.notConnected, of: bob.peer)
        try await bob.recorder.hears(.notConnected, of: ann.peer)
        #expect(ann.recorder.states(of: bob.peer) == [.connecting, .connected, .notConnected])
        #expect(bob.recorder.states(of: ann.peer) == [.connecting, .connected, .notConnected])
    }

    @Test("data sent before disconnecting arrives")
    func goodbye() async throws {
        let (ann, bob) = try await Member.pair()
        for number in 0..<100 {
            try ann.session.send(Data([UInt8(number)]), toPeers: [bob.peer], with: .reliable)
        }
        ann.session.disconnect()
        try await bob.recorder.hears(.notConnected, of: ann.peer)
        #expect(bob.recorder.messages(of: ann.peer) == (0..<100).map { Data([UInt8($0)]) })
    }

    @Test("a session can be used again at once, any number of times")
    func reuse() async throws {
        let (ann, bob) = (Member("ann"), Member("bob"))
        for round in 0..<10 {
            try await ann.connect(bob)
            try ann.session.send(Data([UInt8(round)]), toPeers: [bob.peer], with: .reliable)
            try await bob.recorder.hears(messages: round + 1, of: ann.peer)
            let leaver = round.isMultiple(of: 2) ? ann : bob
            leaver.session.disconnect()
            try await ann.recorder.hears(.notConnected, of: bob.peer)
            try await bob.recorder.hears(.notConnected, of: ann.peer)
        }
        let round: [MCSessionState] = [.connecting, .connected, .notConnected]
        #expect(ann.recorder.states(of: bob.peer) == Array(repeating: round, count: 10).flatMap { $0 })
        #expect(bob.recorder.messages(of: ann.peer).count == 10)
    }

    @Test("disconnecting inside a callback ends the callbacks of that connection")
    func disconnectingInside() async throws {
        let (ann, bob) = try await Member.pair()
        bob.recorder.react { session, heard in
            if case .data = heard { session.disconnect() }
        }
        for number in 0..<50 {
            try? ann.session.send(Data([UInt8(number)]), toPeers: [bob.peer], with: .reliable)
        }
        try await bob.recorder.hears(.notConnected, of: ann.peer)
        try await ann.recorder.hears(.notConnected, of: bob.peer)
        #expect(bob.recorder.messages(of: ann.peer) == [Data([0])])
        bob.recorder.react(nil)
        try await ann.connect(bob)
    }

    @Test("releasing a session says goodbye and leaks nothing")
    func release() async throws {
        let bob = Member("bob")
        var ann: Member? = Member("ann")
        weak let session = ann?.session
        weak let native = ann?.session.native
        let peer = try #require(ann?.peer)
        try await ann?.connect(bob)
        ann = nil
        try await bob.recorder.hears(.notConnected, of: peer)
        for _ in 0..<3_000 where session != nil || native != nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(session == nil && native == nil)
    }

    @Test("a session without a delegate connects and discards messages")
    func noDelegate() async throws {
        let (ann, bob) = (Member("ann"), Member("bob"))
        bob.session.delegate = nil
        try await ann.dial(bob)
        try await ann.recorder.hears(.connected, of: bob.peer)
        try ann.session.send(Data([1]), toPeers: [bob.peer], with: .reliable)
        bob.session.delegate = bob.recorder
        bob.session.disconnect()
        try await ann.recorder.hears(.notConnected, of: bob.peer)
    }

    @Test("a delegate is not retained, and a call in progress outlives its removal")
    func delegateOwnership() async throws {
        let (ann, bob) = try await Member.pair()
        weak var gone: Recorder?
        do {
            let recorder = Recorder()
            gone = recorder
            bob.session.delegate = recorder
            #expect(bob.session.delegate === recorder)
        }
        #expect(gone == nil && bob.session.delegate == nil)
        bob.recorder.react { session, _ in session.delegate = nil }
        bob.session.delegate = bob.recorder
        for number in 0..<5 {
            try ann.session.send(Data([UInt8(number)]), toPeers: [bob.peer], with: .reliable)
        }
        try await bob.recorder.hears(messages: 1, of: ann.peer)
        #expect(bob.session.delegate == nil)
    }

    @Test("eight peers are all connected with each other's session, and a ninth with none")
    func eight() async throws {
        let host = Member("host")
        let guests = (0..<7).map { Member("guest \($0)") }
        for guest in guests { try await host.connect(guest) }
        let ninth = Member("ninth")
        try await host.dial(ninth)
        try await ninth.recorder.hears(.notConnected, of: host.peer)
        #expect(host.session.connectedPeers == guests.map(\.peer), "in the order in which they came")
        #expect(!host.recorder.states(of: ninth.peer).contains(.connected))
        for guest in guests { #expect(guest.recorder.states(of: host.peer) == [.connecting, .connected]) }
    }

    @Test("callbacks are serial, and never on the main queue")
    func queue() async throws {
        let (ann, bob) = try await Member.pair()
        let inside = Locked(0)
        bob.recorder.react { _, _ in
            dispatchPrecondition(condition: .notOnQueue(.main))
            #expect(
                inside.withLock {
                    $0 += 1; return $0
                } == 1)
            inside.withLock { $0 -= 1 }
        }
        for number in 0..<200 {
            try ann.session.send(Data([UInt8(number)]), toPeers: [bob.peer], with: .reliable)
        }
        try await bob.recorder.hears(messages: 200, of: ann.peer)
    }

    @Test("a slow delegate holds back its sender, and no other")
    func backPressure() async throws {
        let (ann, bob) = try await Member.pair()
        let gate = DispatchSemaphore(value: 0)
        bob.recorder.react { _, _ in gate.wait() }
        defer { for _ in 0..<1_000 { gate.signal() } }
        let message = Data(repeating: 7, count: 1_048_576)
        var accepted = 0
        var refusal: MCError?
        for _ in 0..<100 {
            do {
                try ann.session.send(message, toPeers: [bob.peer], with: .reliable)
                accepted += 1
            } catch {
                refusal = error as? MCError
                break
            }
        }
        #expect(refusal?.code == .unavailable, "\(accepted)")
        #expect((64...90).contains(accepted), "\(accepted)")
        #expect(ann.session.connectedPeers == [bob.peer])
        for _ in 0..<1_000 { gate.signal() }
        try await bob.recorder.hears(messages: accepted, of: ann.peer)
    }
}
