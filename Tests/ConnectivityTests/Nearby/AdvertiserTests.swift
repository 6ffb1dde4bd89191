import MultipeerTransport
import TestSupport
import Testing

@unsafe @preconcurrency import MultipeerConnectivity

@Suite("Several advertisers of one peer", .inTurns)
struct AdvertiserTests {
    @Test(
        "an advertiser that replaces one that was just started and never stopped always starts",
        arguments: TestNetwork.Kind.allCases)
    func replaced(_ kind: TestNetwork.Kind) async throws {
        let network = TestNetwork(kind)
        let (ann, bob) = (Device("ann", network), Device("bob", network))
        ann.browser.startBrowsingForPeers()
        let current = Box<MCNearbyServiceAdvertiser?>(nil)
        let rounds = Sanitizer.fewer(200)
        for round in 1...rounds {
            let advertiser = MCNearbyServiceAdvertiser(
                peer: bob.peer, discoveryInfo: ["round": "\(round)"], serviceType: network.type,
                configuration: network.discovery)
            advertiser.delegate = bob
            advertiser.startAdvertisingPeer()
            current.value = advertiser
            // Some are replaced at each moment of their start, others when they have started.
            for _ in 0..<(round % 20) * 25 { await Task.yield() }
            if round % 20 == 0 {
                try await ann.log.until { $0.contains(.found(bob.id, ["round": "\(round)"])) }
            }
        }
        ann.invite(bob)
        try await bob.hears(.connected, of: ann)
        #expect(!bob.log.all.contains { if case .notStarted = $0 { true } else { false } })
        current.value = nil
        [ann, bob].stop()
    }

    @Test(
        "of two advertisers that run the one that started last is invited, and then the other",
        arguments: TestNetwork.Kind.allCases)
    func two(_ kind: TestNetwork.Kind) async throws {
        let network = TestNetwork(kind)
        let (ann, bob) = (Device("ann", network), Device("bob", network, info: ["which": "first"]))
        let second = MCNearbyServiceAdvertiser(
            peer: bob.peer, discoveryInfo: ["which": "second"], serviceType: network.type,
            configuration: network.discovery)
        let invited = InvitationCounter()
        second.delegate = invited
        ann.browser.startBrowsingForPeers()
        bob.advertiser.startAdvertisingPeer()
        try await ann.log.until { $0.contains(.found(bob.id, ["which": "first"])) }
        second.startAdvertisingPeer()
        try await ann.log.until { $0.contains(.found(bob.id, ["which": "second"])) }
        ann.invite(bob)
        try await ann.hears(.notConnected, of: bob)
        #expect(invited.count == 1 && invited.failures == 0)
        second.stopAdvertisingPeer()
        try await ann.log.until { $0.last == .found(bob.id, ["which": "first"]) }
        ann.invite(bob)
        try await bob.hears(.connected, of: ann)
        #expect(invited.count == 1)
        [ann, bob].stop()
    }

    @Test(
        "an assistant beside an advertiser starts, asks, and leaves the advertiser running",
        arguments: TestNetwork.Kind.allCases)
    func assistant(_ kind: TestNetwork.Kind) async throws {
        let network = TestNetwork(kind)
        let (ann, bob) = (Device("ann", network), Device("bob", network, .declines))
        ann.browser.startBrowsingForPeers()
        bob.advertiser.startAdvertisingPeer()
        try await ann.finds(bob)
        let assistant = MCAdvertiserAssistant(
            serviceType: network.type, discoveryInfo: ["which": "assistant"], session: bob.session,
            configuration: network.discovery)
        assistant.presenter = Agreeing()
        assistant.start()
        try await ann.log.until { $0.contains(.found(bob.id, ["which": "assistant"])) }
        ann.invite(bob)
        try await bob.hears(.connected, of: ann)
        // Otherwise this may come after the event below, which has to be the last one.
        try await ann.hears(.connected, of: bob)
        #expect(assistant.failure == nil)
        assistant.stop()
        try await ann.log.until { $0.last == .found(bob.id, nil) }
        #expect(!bob.log.all.contains { if case .notStarted = $0 { true } else { false } })
        [ann, bob].stop()
    }
}

/// A delegate that declines.
private final class InvitationCounter: NSObject, MCNearbyServiceAdvertiserDelegate, Sendable {
    private let state = Locked((invitations: 0, failures: 0))

    var count: Int { state.withLock { $0.invitations } }
    var failures: Int { state.withLock { $0.failures } }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        state.withLock { $0.invitations += 1 }
        invitationHandler(false, nil)
    }

    func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
        state.withLock { $0.failures += 1 }
    }
}

/// A presenter that accepts everybody.
private struct Agreeing: MCInvitationPresenter {
    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool { true }
}
