import MultipeerTransport
import TestSupport
import Testing

@unsafe @preconcurrency import MultipeerConnectivity

@Suite("The assistant", .inTurns)
struct AssistantTests {
    @Test("the user is asked, and the delegate is called before and after", arguments: [true, false])
    func asked(_ isYes: Bool) async throws {
        let network = TestNetwork()
        let (ann, host) = (Device("ann", network), Hosting("bob", network))
        host.presenter.answer { _ in isYes }
        host.assistant.start()
        host.assistant.start()
        ann.browser.startBrowsingForPeers()
        try await ann.log.until { $0 == [.found(host.peer.id, ["room": "attic"])] }
        ann.browser.invitePeer(host.peer, to: ann.session, withContext: Data([1]), timeout: 30)
        try await ann.log.until { $0.contains(.state(host.peer.id, isYes ? .connected : .notConnected)) }
        #expect(host.log.all == ["will present", "did dismiss"])
        let asked = try await host.presenter.asked.entry(0)
        #expect(asked.inviter == ann.id)
        #expect(asked.invitee == host.peer.id)
        #expect(asked.inviter.displayName == "ann")
        #expect(asked.serviceType == network.type)
        #expect(asked.context == Data([1]))
        host.assistant.stop()
        try await ann.log.until { $0.contains(.lost(host.peer.id)) }
        if isYes { #expect(ann.session.connectedPeers == [host.peer]) }
        ann.stop()
    }

    @Test("one question is asked at a time, and one whose invitation has ended is withdrawn")
    func turns() async throws {
        let network = TestNetwork()
        let devices = [Device("ann", network), Device("carl", network)]
        let host = Hosting("bob", network)
        let mayAnswer = Promise<Bool>()
        host.presenter.answer { invitation in
            if invitation.inviter.displayName == "ann" {
                // Until it is taken away.
                try? await Task.sleep(for: .seconds(60))
                return !Task.isCancelled
            }
            return await mayAnswer.value()
        }
        host.assistant.start()
        for device in devices {
            device.browser.startBrowsingForPeers()
            try await device.log.until { !$0.isEmpty }
        }
        devices[0].browser.invitePeer(host.peer, to: devices[0].session, withContext: nil, timeout: 10)
        _ = try await host.presenter.asked.entry(0)
        devices[1].browser.invitePeer(host.peer, to: devices[1].session, withContext: nil, timeout: 30)
        try await devices[0].log.until { $0.contains(.state(host.peer.id, .notConnected)) }
        _ = try await host.presenter.asked.entry(1)
        #expect(host.log.all == ["will present", "did dismiss", "will present"])
        mayAnswer.send(true)
        try await devices[1].log.until { $0.contains(.state(host.peer.id, .connected)) }
        // The inviter may be notified first.
        for _ in 0..<3_000 where host.session.connectedPeers.isEmpty {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(host.session.connectedPeers == [devices[1].peer])
        host.assistant.stop()
        devices.stop()
    }

    @Test("stopping withdraws the question, and so does releasing the assistant")
    func stopped() async throws {
        for isLetGo in [true, false] {
            let network = TestNetwork()
            let ann = Device("ann", network)
            var host: Hosting? = Hosting("bob", network)
            let peer = try #require(host).peer
            let log = try #require(host).log
            let isGone = Promise<Bool>()
            host?.presenter.answer { _ in
                try? await Task.sleep(for: .seconds(60))
                isGone.send(Task.isCancelled)
                return true
            }
            host?.assistant.start()
            ann.browser.startBrowsingForPeers()
            try await ann.log.until { !$0.isEmpty }
            ann.browser.invitePeer(peer, to: ann.session, withContext: nil, timeout: 30)
            _ = try await host?.presenter.asked.entry(0)
            if isLetGo { host = nil } else { host?.assistant.stop() }
            try await ann.log.until { $0.contains(.state(peer.id, .notConnected)) }
            #expect(await isGone.value())
            #expect(log.all.first == "will present")
            ann.stop()
        }
    }

    @Test("an assistant that cannot start reports an error")
    func failure() async throws {
        let host = Hosting("bob", .nowhere)
        host.assistant.start()
        for _ in 0..<3_000 where host.assistant.failure == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect((host.assistant.failure as? MCError)?.code == .unavailable)
    }
}

/// A device that asks about invitations through an assistant.
private final class Hosting: NSObject, MCAdvertiserAssistantDelegate, @unchecked Sendable {
    // Unchecked for the same reason as `Device`.
    let peer: MCPeerID
    let session: MCSession
    let assistant: MCAdvertiserAssistant
    let presenter = Scripted()
    let log = Log<String>()

    init(_ name: String, _ network: TestNetwork) {
        peer = MCPeerID(displayName: name)
        session = MCSession(
            peer: peer, securityIdentity: nil, encryptionPreference: .required, configuration: .loopback)
        assistant = MCAdvertiserAssistant(
            serviceType: network.type, discoveryInfo: ["room": "attic"], session: session,
            configuration: network.discovery)
        super.init()
        assistant.delegate = self
        assistant.presenter = presenter
    }

    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        log.note("will present")
    }

    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        log.note("did dismiss")
    }
}

/// A presenter that answers as the test specifies.
private final class Scripted: MCInvitationPresenter {
    let asked = Log<MCPresentedInvitation>()
    private let script = Locked(Script(answer: { _ in false }))

    private struct Script {
        var answer: @Sendable (MCPresentedInvitation) async -> Bool
    }

    /// Sets what is answered.
    func answer(_ body: @escaping @Sendable (MCPresentedInvitation) async -> Bool) {
        script.withLock { $0.answer = body }
    }

    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool {
        asked.note(invitation)
        return await script.withLock { $0.answer }(invitation)
    }
}
