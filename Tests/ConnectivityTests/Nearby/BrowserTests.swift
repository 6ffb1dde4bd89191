import MultipeerTransport
import TestSupport
import Testing

@unsafe @preconcurrency import MultipeerConnectivity

@Suite("Advertising and browsing", .inTurns)
struct BrowserTests {
    @Test(
        "a peer that advertises is found with its info, and lost; no peer finds itself",
        arguments: TestNetwork.Kind.allCases)
    func found(_ kind: TestNetwork.Kind) async throws {
        let network = TestNetwork(kind)
        let (ann, bob) = (Device("ann", network), Device("bob", network, info: ["room": "attic"]))
        ann.start()
        bob.start()
        try await ann.finds(bob)
        try await bob.finds(ann)
        #expect(ann.log.all == [.found(bob.id, ["room": "attic"])])
        #expect(bob.log.all == [.found(ann.id, nil)])
        bob.advertiser.stopAdvertisingPeer()
        try await ann.log.until { $0.last == .lost(bob.id) }
        [ann, bob].stop()
    }

    @Test(
        "a second start does nothing, a stop reports nothing, and a start after it reports everything again")
    func again() async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device("bob", network))
        for _ in 0..<3 { bob.advertiser.startAdvertisingPeer() }
        for round in 1...3 {
            for _ in 0..<3 { ann.browser.startBrowsingForPeers() }
            try await ann.log.until { $0.count == round }
            ann.browser.stopBrowsingForPeers()
            ann.browser.stopBrowsingForPeers()
        }
        #expect(ann.log.all.allSatisfy { $0.isFound(bob.id) })
        // And the same of the advertiser: it is lost and found.
        ann.browser.startBrowsingForPeers()
        try await ann.log.until { $0.count == 4 }
        bob.advertiser.stopAdvertisingPeer()
        // If it were back before its loss was noticed, it would not have been lost.
        try await ann.log.until { $0.last == .lost(bob.id) }
        bob.advertiser.startAdvertisingPeer()
        try await ann.log.until { $0.count == 6 && $0.last == .found(bob.id, nil) }
        [ann, bob].stop()
    }

    @Test("no callback comes before the start has returned, even inside another callback")
    func order() async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device("bob", network))
        bob.advertiser.startAdvertisingPeer()
        let isStarting = Locked(false)
        let early = Locked(0)
        let rounds = Locked(0)
        let finished = Log<Bool>()
        ann.onEvent { heard in
            guard heard.isFound(bob.id) else { return }
            if isStarting.withLock({ $0 }) { early.withLock { $0 += 1 } }
            let round = rounds.withLock { count in
                count += 1
                return count
            }
            guard round < 20 else { return finished.note(true) }
            isStarting.set(true)
            ann.browser.stopBrowsingForPeers()
            ann.browser.startBrowsingForPeers()
            for _ in 0..<1_000 { _ = rounds.withLock { $0 } }
            isStarting.set(false)
        }
        // The first callback may come on another thread as soon as this has returned: it is not among those that are judged.
        ann.browser.startBrowsingForPeers()
        _ = try await finished.entry(0)
        #expect(early.withLock { $0 } == 0)
        ann.onEvent(nil)
        [ann, bob].stop()
    }

    @Test("a start that fails reports an MCError, and may be tried again")
    func notStarted() async throws {
        let ann = Device("ann", .nowhere)
        ann.browser.startBrowsingForPeers()
        try await ann.log.until { $0 == [.notStarted(.unavailable)] }
        ann.advertiser.startAdvertisingPeer()
        try await ann.log.until { $0.count == 2 }
        ann.start()
        try await ann.log.until { $0.count == 4 }
        #expect(ann.log.all.allSatisfy { $0 == .notStarted(.unavailable) })
        ann.stop()
    }

    @Test("upper case in a service type is lowered for discovery, and the property keeps it")
    func capitals() async throws {
        let network = TestNetwork()
        let peer = MCPeerID(displayName: "loud")
        let loud = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: ["n": "1", "MPC": "2", "~x": "3"],
            serviceType: network.type.uppercased(), configuration: network.discovery)
        let ann = Device("ann", network)
        loud.startAdvertisingPeer()
        ann.browser.startBrowsingForPeers()
        // Keys that the protocol has for itself are the application's, too.
        try await ann.log.until { $0 == [.found(peer.id, ["n": "1", "MPC": "2", "~x": "3"])] }
        #expect(loud.serviceType == network.type.uppercased())
        #expect(loud.discoveryInfo == ["n": "1", "MPC": "2", "~x": "3"])
        #expect(loud.myPeerID == peer)
        loud.stopAdvertisingPeer()
        ann.stop()
    }

    @Test("what raises an exception in Apple's framework can be checked beforehand")
    func validation() throws {
        for type in ["", "-a", "a-", "a--b", "1", "sixteen-letters-", "a_b", "a b", "ä"] {
            let error = #expect(throws: MCError.self) {
                try MCNearbyServiceBrowser.validate(serviceType: type)
            }
            #expect(error?.code == .invalidParameter)
        }
        for type in ["a", "MKSVC", "MPC-Testing", "fifteen-letters"] {
            try MCNearbyServiceBrowser.validate(serviceType: type)
        }
        for info in [
            ["a=b": "x"], ["k": String(repeating: "x", count: 254)],
            Dictionary(
                uniqueKeysWithValues: "abcdefg".map { (String($0), String(repeating: "x", count: 200)) }),
        ] {
            #expect(throws: MCError.self) {
                try MCNearbyServiceAdvertiser.validate(serviceType: "chat", discoveryInfo: info)
            }
            #expect(throws: MCError.self) {
                try MCNearbyServiceAdvertiser(
                    validatingPeer: MCPeerID(displayName: "ann"), discoveryInfo: info, serviceType: "chat")
            }
        }
        #expect(throws: MCError.self) {
            try MCNearbyServiceBrowser(
                validatingPeer: MCPeerID(displayName: "ann"), serviceType: "no good")
        }
    }

    @Test("all methods may be called on several threads at once, and inside the callbacks")
    func crowd() async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device("bob", network))
        ann.onEvent { heard in
            switch heard {
            case .found: ann.invite(bob)
            case .state(_, .connected): ann.session.disconnect()
            default: break
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<25 {
                        switch (number + round) % 6 {
                        case 0: ann.start()
                        case 1: bob.start()
                        case 2: ann.browser.stopBrowsingForPeers()
                        case 3: bob.advertiser.stopAdvertisingPeer()
                        case 4: ann.browser.delegate = nil
                        default: ann.browser.delegate = ann
                        }
                    }
                }
            }
        }
        ann.onEvent(nil)
        ann.browser.delegate = ann
        [ann, bob].stop()
        let before = ann.log.all.count
        bob.start()
        ann.start()
        try await ann.log.until { $0.dropFirst(before).contains { $0.isFound(bob.id) } }
        [ann, bob].stop()
    }

    @Test(
        "releasing both inside a callback ends them, and nothing leaks",
        arguments: TestNetwork.Kind.allCases)
    func letGo(_ kind: TestNetwork.Kind) async throws {
        let network = TestNetwork(kind)
        let (watcher, other) = (Device("watcher", network), MCPeerID(displayName: "other"))
        watcher.start()
        final class Holder: NSObject, MCNearbyServiceBrowserDelegate, Sendable {
            let pair = Box<(MCNearbyServiceAdvertiser, MCNearbyServiceBrowser)?>(nil)

            func browser(
                _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
                withDiscoveryInfo info: [String: String]?
            ) {
                pair.value = nil
            }

            func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
        }
        let holder = Holder()
        weak var advertiser: MCNearbyServiceAdvertiser?
        weak var browser: MCNearbyServiceBrowser?
        do {
            let pair = (
                MCNearbyServiceAdvertiser(
                    peer: other, discoveryInfo: nil, serviceType: network.type,
                    configuration: network.discovery),
                MCNearbyServiceBrowser(
                    peer: other, serviceType: network.type, configuration: network.discovery)
            )
            (advertiser, browser) = pair
            holder.pair.value = pair
            pair.0.startAdvertisingPeer()
            try await watcher.log.until { $0.contains { $0.isFound(other.id) } }
            pair.1.delegate = holder
            pair.1.startBrowsingForPeers()
        }
        try await watcher.log.until { $0.contains(.lost(other.id)) }
        #expect(advertiser == nil)
        #expect(browser == nil)
        watcher.stop()
    }
}
