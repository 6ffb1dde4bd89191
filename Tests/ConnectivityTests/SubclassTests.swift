import ClassicClient
import ClassicClientSwift6
import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

/// Programs subclass all four main classes, for their own tests above all.
@Suite("Subclasses of Apple's classes", .computing)
struct SubclassTests {
    @Test("a peer subclass keeps its own properties, in a program and in an archive")
    func peer() throws {
        let peer = NamedPeerOf5(displayName: "ann")
        #expect(peer.displayName == "ANN")
        #expect(peer.description.hasPrefix("named "))
        let archive = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NamedPeerOf5.self, from: archive))
        #expect(read == peer && read.hash == peer.hash)
        #expect(abs(read.made.timeIntervalSince(peer.made)) < 0.001)
    }

    @Test("a subclass without members inherits the initialisers")
    func inherited() {
        #expect(ClassicClient.PlainPeer(displayName: "ann").displayName == "ann")
        #expect(ClassicClientSwift6.PlainPeer(displayName: "ann").displayName == "ann")
    }

    @Test("a session's overridden members are called")
    func session() throws {
        let me = MCPeerID(displayName: "ann")
        let friend = MCPeerID(displayName: "bob")
        let delegate = ClassicClient.LeastDelegate()
        let session = ClassicClient.CountingSession(peer: me)
        #expect(session.encryptionPreference == .required && session.securityIdentity == nil)
        #expect(session.myPeerID === me)

        let plain: MCSession = session
        plain.delegate = delegate
        #expect(session.delegatesSet == 1 && plain.delegate === delegate)
        session.pretended = [friend]
        #expect(plain.connectedPeers == [friend])
        try plain.send(Data([1]), toPeers: [friend], with: .reliable)
        #expect(session.sent == [Data([1])])
        plain.disconnect()
        #expect(session.disconnections == 1)
        session.pretended = nil
        let why = ClassicClient.caught { try plain.send(Data([1]), toPeers: [friend], with: .reliable) }
        #expect(why == "not connected")
    }

    @Test("a session with a configuration is made once, also of a subclass that overrides the initialiser")
    func configured() {
        var configuration = Session.Configuration.facadeOnLoopback
        configuration.maximumPeers = 3
        let session = MadeSession(
            peer: MCPeerID(displayName: "ann"), securityIdentity: nil, encryptionPreference: .optional,
            configuration: configuration)
        #expect(session.made === session.native)
        #expect(session.native.configuration.maximumPeers == 3)
        #expect(session.securityIdentity == nil && session.encryptionPreference == .optional)
        let wrong = MCSession(
            peer: MCPeerID(displayName: "ann"), securityIdentity: ["none"], encryptionPreference: .required,
            configuration: configuration)
        #expect(wrong.securityIdentity as? [String] == ["none"])
    }

    @Test("a delegate is held weakly, and an observer in a subclass is called")
    func observedDelegate() {
        let session = ClassicClientSwift6.ObservedSession(
            peer: MCPeerID(displayName: "ann"), securityIdentity: nil, encryptionPreference: .none)
        do {
            let delegate = ClassicClientSwift6.LeastDelegate()
            session.delegate = delegate
            #expect(session.delegate === delegate)
        }
        #expect(session.delegate == nil)
        #expect(session.changes == 1)
    }

    @Test("an advertiser, a browser and an assistant can be replaced by ones that do nothing")
    func discovery() {
        let me = MCPeerID(displayName: "ann")
        let delegate = ClassicClient.WholeDelegate()
        let advertiser = ClassicClient.CountingAdvertiser(
            peer: me, discoveryInfo: ["room": "1"], serviceType: "audit")
        let browser = ClassicClient.CountingBrowser(peer: me, serviceType: "audit")
        let assistant = ClassicClient.QuietAssistant(
            serviceType: "audit", discoveryInfo: nil, session: MCSession(peer: me))
        let plain: MCNearbyServiceAdvertiser = advertiser
        plain.delegate = delegate
        browser.delegate = delegate
        assistant.delegate = delegate
        plain.startAdvertisingPeer()
        #expect(advertiser.starts == 1 && advertiser.discoveryInfo == ["room": "1"])
        (browser as MCNearbyServiceBrowser).invitePeer(
            MCPeerID(displayName: "bob"), to: MCSession(peer: me), withContext: nil, timeout: 0)
        #expect(browser.invited.map(\.displayName) == ["bob"] && browser.serviceType == "audit")
        assistant.start()
        assistant.stop()
    }
}

private typealias NamedPeerOf5 = ClassicClient.NamedPeer

/// Keeps the native session that its initialiser has made.
private final class MadeSession: MCSession {
    private(set) var made: Session?

    override init(
        peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
        encryptionPreference: MCEncryptionPreference
    ) {
        super.init(
            peer: myPeerID, securityIdentity: identity, encryptionPreference: encryptionPreference)
        made = native
    }
}
