import MultipeerTransport
import TestSupport
import Testing

@unsafe @preconcurrency import MultipeerConnectivity

@Suite("Invitations", .inTurns)
struct InvitationTests {
    @Test(
        "accepting connects both, each of which receives connecting and connected, once",
        arguments: TestNetwork.Kind.allCases)
    func accepted(_ kind: TestNetwork.Kind) async throws {
        let devices = try await meeting(["ann", "bob"], TestNetwork(kind))
        let (ann, bob) = (devices[0], devices[1])
        ann.invite(bob, context: Data("chess?".utf8))
        try await ann.hears(.connected, of: bob)
        try await bob.hears(.connected, of: ann)
        #expect(bob.log.all.contains(.invited(ann.id, Data("chess?".utf8))))
        #expect(ann.states(of: bob) == [.connecting, .connected])
        #expect(bob.states(of: ann) == [.connecting, .connected])
        #expect(ann.session.connectedPeers == [bob.peer])
        #expect(bob.session.connectedPeers == [ann.peer])
        // A connected peer may be invited again, and nothing changes.
        ann.invite(bob)
        try await bob.log.until { $0.contains(.invited(ann.id, nil)) }
        await ann.settles()
        #expect(ann.states(of: bob) == [.connecting, .connected])
        devices.stop()
    }

    @Test("declining gives the inviter one notConnected, and the invited peer nothing")
    func declined() async throws {
        let devices = try await meeting(["ann", "bob"], TestNetwork(), .declines)
        let (ann, bob) = (devices[0], devices[1])
        ann.invite(bob)
        try await ann.hears(.notConnected, of: bob)
        ann.invite(bob)
        try await ann.log.until { $0.count { $0 == .state(bob.id, .notConnected) } == 2 }
        #expect(ann.states(of: bob) == [.notConnected, .notConnected])
        #expect(bob.states(of: ann).isEmpty)
        devices.stop()
    }

    @Test("accepting without a session declines, and so does an advertiser without a delegate")
    func nobody() async throws {
        let devices = try await meeting(["ann", "bob"], TestNetwork(), .waits)
        let (ann, bob) = (devices[0], devices[1])
        ann.invite(bob)
        try await bob.answers.entry(0)(true, nil)
        try await ann.hears(.notConnected, of: bob)
        bob.advertiser.delegate = nil
        ann.invite(bob)
        try await ann.log.until { $0.count { $0 == .state(bob.id, .notConnected) } == 2 }
        #expect(bob.states(of: ann).isEmpty)
        devices.stop()
    }

    @Test("an answer may come later and from any thread; the first one counts")
    func later() async throws {
        let devices = try await meeting(["ann", "bob"], TestNetwork(), .waits)
        let (ann, bob) = (devices[0], devices[1])
        ann.invite(bob)
        let answer = try await bob.answers.entry(0)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { @MainActor in answer(true, bob.session) }
        }
        answer(false, nil)
        DispatchQueue.global().async { answer(true, bob.session) }
        try await ann.hears(.connected, of: bob)
        try await bob.hears(.connected, of: ann)
        #expect(bob.states(of: ann) == [.connecting, .connected])
        devices.stop()
    }

    @Test(
        "without an answer the inviter receives notConnected after the timeout, and a late accept fails, too")
    func never() async throws {
        let devices = try await meeting(["ann", "bob"], TestNetwork(), .waits)
        let (ann, bob) = (devices[0], devices[1])
        // On a busy machine a second may be over before he is asked.
        for (round, timeout) in [1.0, 6, 20].enumerated() where bob.answers.all.isEmpty {
            let began = ContinuousClock.now
            ann.invite(bob, timeout: timeout)
            try await ann.log.until { $0.count { $0 == .state(bob.id, .notConnected) } > round }
            #expect(ContinuousClock.now - began >= .seconds(timeout))
            #expect(ann.states(of: bob).count == round + 1)
        }
        let answer = try await bob.answers.entry(0)
        answer(true, bob.session)
        try await bob.hears(.notConnected, of: ann)
        #expect(bob.states(of: ann) == [.notConnected])
        devices.stop()
    }

    @Test(
        "stopping or releasing the advertiser inside the answer does not revoke it",
        arguments: [true, false])
    func stopped(_ isLetGo: Bool) async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device("bob", network, .waits))
        ann.start()
        let bobs = Box<MCNearbyServiceAdvertiser?>(
            MCNearbyServiceAdvertiser(
                peer: bob.peer, discoveryInfo: nil, serviceType: network.type,
                configuration: network.discovery))
        bobs.value?.delegate = bob
        bob.onEvent { heard in
            guard case .invited = heard else { return }
            bob.answers.all.last?(true, bob.session)
            if isLetGo {
                bobs.value = nil
            } else {
                bobs.value?.stopAdvertisingPeer()
            }
        }
        bobs.value?.startAdvertisingPeer()
        try await ann.finds(bob)
        ann.invite(bob)
        try await ann.hears(.connected, of: bob)
        try await bob.hears(.connected, of: ann)
        try await ann.log.until { $0.contains(.lost(bob.id)) }
        // A peer that cannot be found any more stays connected.
        #expect(ann.session.connectedPeers == [bob.peer])
        bob.onEvent(nil)
        [ann, bob].stop()
    }

    @Test(
        "an invitation that was received can be answered after the advertiser was stopped or released",
        arguments: [(true, true), (true, false), (false, true), (false, false)])
    func stoppedBefore(_ isLetGo: Bool, _ isYes: Bool) async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device("bob", network, .waits))
        ann.start()
        let advertiser = Box<MCNearbyServiceAdvertiser?>(
            MCNearbyServiceAdvertiser(
                peer: bob.peer, discoveryInfo: nil, serviceType: network.type,
                configuration: network.discovery))
        advertiser.value?.delegate = bob
        advertiser.value?.startAdvertisingPeer()
        try await ann.finds(bob)
        ann.invite(bob)
        let answer = try await bob.answers.entry(0)
        if isLetGo { advertiser.value = nil } else { advertiser.value?.stopAdvertisingPeer() }
        // The advertiser is gone by now.
        try await ann.log.until { $0.contains(.lost(bob.id)) }
        await ann.settles()
        #expect(ann.states(of: bob).isEmpty)
        answer(isYes, bob.session)
        try await ann.hears(isYes ? .connected : .notConnected, of: bob)
        if isYes { try await bob.hears(.connected, of: ann) }
        [ann, bob].stop()
    }

    @Test("an invitation that is not answered ends in time, also when its advertiser was stopped")
    func stoppedAndForgotten() async throws {
        let devices = try await meeting(["ann", "bob"], TestNetwork(), .waits)
        let (ann, bob) = (devices[0], devices[1])
        ann.invite(bob, timeout: 6)
        let answer = try await bob.answers.entry(0)
        bob.advertiser.stopAdvertisingPeer()
        try await ann.hears(.notConnected, of: bob)
        answer(true, bob.session)
        try await bob.hears(.notConnected, of: ann)
        devices.stop()
    }

    @Test(
        "two peers that invite each other at once are connected once, without a notConnected",
        arguments: 0..<8)
    func mutual(_ round: Int) async throws {
        let devices = try await meeting(["ann", "bob"])
        let (ann, bob) = (devices[0], devices[1])
        DispatchQueue.global().async { ann.invite(bob) }
        if round % 2 == 1 { await Task.yield() }
        bob.invite(ann)
        try await ann.hears(.connected, of: bob)
        try await bob.hears(.connected, of: ann)
        try ann.session.send(Data("a".utf8), toPeers: [bob.peer], with: .reliable)
        try bob.session.send(Data("b".utf8), toPeers: [ann.peer], with: .reliable)
        try await bob.log.until { $0.contains(.data(ann.id, Data("a".utf8))) }
        try await ann.log.until { $0.contains(.data(bob.id, Data("b".utf8))) }
        #expect(ann.states(of: bob) == [.connecting, .connected])
        #expect(bob.states(of: ann) == [.connecting, .connected])
        devices.stop()
    }

    @Test("when both invite and one declines, the other invitation stands, without a notConnected")
    func halfMutual() async throws {
        let devices = try await meeting(["ann", "bob"])
        let (ann, bob) = (devices[0], devices[1])
        ann.manners.set(.waits)
        ann.invite(bob)
        bob.invite(ann)
        let answer = try await ann.answers.entry(0)
        try await ann.hears(.connected, of: bob)
        try await bob.hears(.connected, of: ann)
        answer(false, nil)
        // Bob's own invitation has failed, and a message comes after that.
        try ann.session.send(Data("a".utf8), toPeers: [bob.peer], with: .reliable)
        try await bob.log.until { $0.contains(.data(ann.id, Data("a".utf8))) }
        #expect(bob.states(of: ann) == [.connecting, .connected])
        #expect(ann.states(of: bob) == [.connecting, .connected])
        devices.stop()
    }

    @Test("a peer that cannot be invited is notConnected, once")
    func impossible() async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device("bob", network))
        ann.browser.startBrowsingForPeers()
        // No browser has found him.
        ann.invite(bob)
        try await ann.hears(.notConnected, of: bob)
        ann.invite(ann)
        try await ann.hears(.notConnected, of: ann)
        // A session of another peer.
        ann.browser.invitePeer(ann.peer, to: bob.session, withContext: nil, timeout: 30)
        try await bob.hears(.notConnected, of: ann)
        await ann.settles()
        #expect(ann.states(of: bob) == [.notConnected])
        #expect(ann.states(of: ann) == [.notConnected])
        [ann, bob].stop()
    }

    @Test("leaving the session ends its invitations, and later ones are not affected")
    func left() async throws {
        let devices = try await meeting(["ann", "bob"], TestNetwork(), .waits)
        let (ann, bob) = (devices[0], devices[1])
        ann.invite(bob)
        let answer = try await bob.answers.entry(0)
        ann.session.disconnect()
        try await ann.hears(.notConnected, of: bob)
        bob.manners.set(.accepts)
        ann.session.disconnect()
        ann.invite(bob)
        // If he does not know yet that the first was cancelled, the second takes its question over.
        answer(true, bob.session)
        try await ann.hears(.connected, of: bob)
        // What is begun before is ended by it, however close.
        ann.session.disconnect()
        try await bob.log.until { $0.last == .state(ann.id, .notConnected) }
        ann.invite(bob)
        ann.session.disconnect()
        await ann.settles()
        #expect(ann.session.connectedPeers.isEmpty)
        devices.stop()
    }

    @Test("releasing a session ends its invitations")
    func letGo() async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device("bob", network, .waits))
        bob.start()
        ann.browser.startBrowsingForPeers()
        try await ann.finds(bob)
        weak var gone: MCSession?
        do {
            let session = MCSession(
                peer: ann.peer, securityIdentity: nil, encryptionPreference: .required,
                configuration: .loopback)
            gone = session
            ann.browser.invitePeer(bob.peer, to: session, withContext: nil, timeout: 30)
            _ = try await bob.answers.entry(0)
            withExtendedLifetime(session) {}
        }
        #expect(gone == nil)
        try await bob.answers.entry(0)(true, bob.session)
        try await bob.hears(.notConnected, of: ann)
        [ann, bob].stop()
    }

    @Test(
        "a timeout is 1 to 600 seconds, and 30 when it is not a time",
        arguments: [
            (0, 30), (-1, 30), (.nan, 30), (-.infinity, 30), (0.5, 1), (7, 7), (600, 600), (601, 600),
            (.infinity, 600),
        ] as [(TimeInterval, Int)])
    func timeouts(_ given: TimeInterval, _ meant: Int) {
        #expect(Duration(invitationTimeout: given) == .seconds(meant))
    }
}

extension Session.Configuration {
    static var loopback: Session.Configuration {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        return configuration
    }
}

extension Locked where Value: Sendable {
    func set(_ value: Value) { withLock { $0 = value } }
}
