import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

@unsafe @preconcurrency import MultipeerConnectivity

/// Nothing that a user types may end the process.
@Suite("Arguments beyond what others allow", .inTurns)
struct ArgumentTests {
    private static func value(_ count: Int) -> String { String(repeating: "v", count: count) }

    @Test(
        "discovery info of any keys, and of up to 1,200 bytes, is found as it was given",
        arguments: [
            ["a": ArgumentTests.value(198), "b": ArgumentTests.value(198)],
            ["a": ArgumentTests.value(198), "b": ArgumentTests.value(198), "c": ArgumentTests.value(197)],
            Dictionary(uniqueKeysWithValues: "abcdef".map { (String($0), ArgumentTests.value(198)) }),
            ["größe": "1", "名前": "ann", "🐟": "fish", "e\u{301}": "combining"], ["": "empty key", "a": ""],
            ["Key": "1", "key": "2", "KEY": "3"], ["a=b": "c=d", "a\nb": "\n", "\0": "\0"],
            [ArgumentTests.value(65): "long key", ArgumentTests.value(250): "1"],
            ["long": String(repeating: "ä", count: 400), "longer": ArgumentTests.value(300)],
            ["n": "1", "MPC": "2", "~": "3", "~0": "4", "~n": "5", "~~": "6", "0": "7"],
        ])
    func info(_ info: [String: String]) async throws {
        let network = TestNetwork(.multicast)
        let (ann, bob) = (Device("ann", network), Device("bob", network, info: info))
        bob.advertiser.startAdvertisingPeer()
        ann.browser.startBrowsingForPeers()
        try await ann.log.until { !$0.isEmpty }
        #expect(ann.log.all == [.found(bob.id, info)])
        #expect(bob.advertiser.discoveryInfo == info)
        [ann, bob].stop()
    }

    @Test("of longer discovery info the entries that fit, in the order of their keys, are advertised")
    func longInfo() async throws {
        let keys = (10..<30).map { "key \($0)" }
        let info = Dictionary(uniqueKeysWithValues: keys.map { ($0, ArgumentTests.value(100)) })
        let network = TestNetwork(.multicast)
        let (ann, bob) = (
            Device("ann", network),
            Device(
                "bob", network, info: info.merging(["huge": ArgumentTests.value(100_000)]) { one, _ in one })
        )
        bob.advertiser.startAdvertisingPeer()
        ann.browser.startBrowsingForPeers()
        try await ann.log.until { !$0.isEmpty }
        let fitting = keys.prefix(1_222 / 108)
        #expect(ann.log.all == [.found(bob.id, info.filter { fitting.contains($0.key) })])
        [ann, bob].stop()
    }

    @Test("attributes of another peer that carry no entries are ignored, and none ends the process")
    func foreignInfo() async throws {
        var random = Seeded(6)
        let texts = [
            "", "~", "0", "1:a", "2:ab1:", "99999999999999999999:", "1:a1:b", "-1:", "3:ä", ":", "a",
        ]
        for _ in 0..<2_000 {
            var attributes: [String: String] = [:]
            for _ in 0..<random.next() % 4 {
                let number = Int(random.next() % 3)
                attributes["~\(number)"] = (0..<random.next() % 4)
                    .map { _ in texts[Int(random.next() % UInt64(texts.count))] }.joined()
            }
            for key in (AdvertisedEntries.entries(of: attributes) ?? [:]).keys {
                #expect(key.utf8.count < 100)
            }
        }
        #expect(
            AdvertisedEntries.entries(of: ["~99999999999999999999": "x"]) == ["99999999999999999999": "x"])
        #expect(AdvertisedEntries.entries(of: ["~0": "1:a1", "~1": ":b"]) == ["a": "b"])
    }

    @Test(
        "a context that is too long is an invitation that fails, and the longest one arrives",
        arguments: [32_768, 32_769, 1_000_000])
    func context(_ count: Int) async throws {
        let devices = try await meeting(["ann", "bob"])
        let (ann, bob) = (devices[0], devices[1])
        let context = Data(repeating: 7, count: count)
        ann.invite(bob, context: context)
        if count <= 32_768 {
            try await ann.hears(.connected, of: bob)
            #expect(bob.log.all.contains(.invited(ann.id, context)))
        } else {
            try await ann.hears(.notConnected, of: bob)
            #expect(ann.states(of: bob) == [.notConnected])
        }
        devices.stop()
    }

    @Test(
        "any name is accepted: other peers see it without control characters, and its beginning",
        arguments: [
            ("a\nb\tc\r\n", "a b c  "), ("\0\u{7F}\u{9B}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("\u{202E}abc\u{2066}d\u{2069}", "\u{FFFD}abc\u{FFFD}d\u{FFFD}"),
            (String(repeating: "x", count: 64), String(repeating: "x", count: 63)),
            (String(repeating: "ä", count: 100), String(repeating: "ä", count: 31)),
            ("a" + String(repeating: "\u{301}", count: 100), "a" + String(repeating: "\u{301}", count: 31)),
        ])
    func names(_ given: String, _ shown: String) async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device(given, network))
        #expect(bob.peer.displayName == given)
        let seen = Log<String>()
        let observer = NameObserver { seen.note($0) }
        ann.browser.delegate = observer
        bob.advertiser.startAdvertisingPeer()
        ann.browser.startBrowsingForPeers()
        #expect(try await seen.entry(0) == shown)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: bob.peer, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive))
        #expect(read == bob.peer && read.displayName == given && MCPeerID(read.id).displayName == shown)
        [ann, bob].stop()
    }

    @Test(
        "an invalid service type is a start that fails, and an invitation that does",
        arguments: ["", "no good", "a--b", "sixteen-letters-", "ä", "_http._tcp"])
    func serviceTypes(_ type: String) async throws {
        let network = TestNetwork()
        let ann = Device("ann", network)
        let browser = MCNearbyServiceBrowser(peer: ann.peer, serviceType: type)
        let advertiser = MCNearbyServiceAdvertiser(peer: ann.peer, discoveryInfo: nil, serviceType: type)
        (browser.delegate, advertiser.delegate) = (ann, ann)
        browser.startBrowsingForPeers()
        advertiser.startAdvertisingPeer()
        try await ann.log.until { $0 == [.notStarted(.invalidParameter), .notStarted(.invalidParameter)] }
        let bob = MCPeerID(displayName: "bob")
        browser.invitePeer(bob, to: ann.session, withContext: nil, timeout: 10)
        try await ann.log.until { $0.contains(.state(bob.id, .notConnected)) }
        let assistant = MCAdvertiserAssistant(serviceType: type, discoveryInfo: nil, session: ann.session)
        assistant.start()
        #expect((assistant.failure as? MCError)?.code == .invalidParameter)
        #expect(browser.serviceType == type && advertiser.serviceType == type)
        ann.stop()
    }

    @Test(
        "a session with an unusable identity or configuration connects with nobody, and says so",
        arguments: [0, 1, 2, 3])
    func sessions(_ number: Int) async throws {
        let network = TestNetwork()
        let identity = try MCIdentity.generate()
        let stranger = try MCIdentity.generate().certificates
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        var array: [Any] = [identity]
        switch number {
        case 0: array = ["no identity"]
        case 1: array += ["no certificate"]
        case 2: array += stranger
        default: configuration.maximumPeers = -1
        }
        let (ann, bob) = (Device("ann", network), MCPeerID(displayName: "bob"))
        let session = MCSession(
            peer: bob, securityIdentity: array, encryptionPreference: .required, configuration: configuration)
        session.delegate = ann
        #expect(session.securityIdentity?.count == array.count && session.connectedPeers.isEmpty)
        let browser = MCNearbyServiceBrowser(
            peer: bob, serviceType: network.type, configuration: network.discovery)
        browser.invitePeer(ann.peer, to: session, withContext: nil, timeout: 10)
        try await ann.log.until { $0 == [.state(ann.id, .notConnected)] }
        let data = try await ann.session.nearbyConnectionData(forPeer: bob)
        session.connectPeer(ann.peer, withNearbyConnectionData: data)
        try await ann.log.until { $0.count == 2 }
        #expect(ann.log.all.last == .state(ann.id, .notConnected))
        await #expect(throws: MCError.self) { try await session.nearbyConnectionData(forPeer: ann.peer) }
        #expect(code(of: { try session.send(Data(), toPeers: [ann.peer], with: .reliable) }) == .notConnected)
        ann.stop()
    }
}

/// What a browser makes of a peer's attributes.
private enum AdvertisedEntries {
    static func entries(of attributes: [String: String]) -> [String: String]? {
        let peer = MCPeerID(displayName: "ann").native
        return DiscoveredPeer(peer: peer, info: attributes).applicationInfo
    }
}

/// A delegate that notes the names of found peers.
private final class NameObserver: NSObject, MCNearbyServiceBrowserDelegate, Sendable {
    private let note: @Sendable (String) -> Void

    init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        note(peerID.displayName)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}
