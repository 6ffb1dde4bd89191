import Multipeer
import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Advertising and browsing", .inTurns)
struct AdvertiserTests {
    @Test(
        "an advertised peer is found once, with its info, and never by itself [mdns.self]",
        arguments: Ground.allCases)
    func found(_ ground: Ground) async throws {
        let (type, configuration) = try ground.network()
        let (me, other) = (try PeerID(displayName: "me"), try PeerID(displayName: "other"))
        let browser = Browser(peer: me, service: type, configuration: configuration)
        let mine = Advertiser(peer: me, service: type, configuration: configuration)
        let theirs = Advertiser(
            peer: other, service: type, info: try DiscoveryInfo(["room": "kitchen"]),
            configuration: configuration)
        try await browser.start()
        try await mine.start()
        try await theirs.start()
        var events = browser.events.makeAsyncIterator()
        #expect(await events.next() == .found(DiscoveredPeer(peer: other, info: ["room": "kitchen"])))
        #expect(await browser.peers == [DiscoveredPeer(peer: other, info: ["room": "kitchen"])])
        try await theirs.update(info: ["room": "attic"])
        #expect(await events.next() == .updated(DiscoveredPeer(peer: other, info: ["room": "attic"])))
        await theirs.stop()
        #expect(await events.next() == .lost(other))
        #expect(await browser.peers.isEmpty)
        await mine.stop()
        await browser.stop()
    }

    @Test(
        "both can be started twice, which has no effect, stopped, and started again",
        arguments: Ground.allCases)
    func again(_ ground: Ground) async throws {
        let (type, configuration) = try ground.network()
        let (me, other) = (try PeerID(displayName: "me"), try PeerID(displayName: "other"))
        let browser = Browser(peer: me, service: type, configuration: configuration)
        let advertiser = Advertiser(peer: other, service: type, configuration: configuration)
        for _ in 0..<2 {
            var events = browser.events.makeAsyncIterator()
            async let first: Void = advertiser.start()
            async let second: Void = advertiser.start()
            _ = try await (first, second)
            try await browser.start()
            try await browser.start()
            #expect(await advertiser.isRunning)
            #expect(await browser.isRunning)
            #expect(await events.next()?.isFound(other) == true)
            await advertiser.stop()
            await advertiser.stop()
            #expect(await events.next() == .lost(other))
            await browser.stop()
            #expect(await events.next() == nil)
            #expect(await !advertiser.isRunning)
            #expect(await !browser.isRunning)
        }
        // A browser that stops loses all peers, and one that starts finds them again.
        try await advertiser.start()
        try await browser.start()
        var events = browser.events.makeAsyncIterator()
        #expect(await events.next()?.isFound(other) == true)
        await browser.stop()
        #expect(await browser.peers.isEmpty)
        #expect(await events.next() == .lost(other))
        try await browser.start()
        events = browser.events.makeAsyncIterator()
        #expect(await events.next()?.isFound(other) == true)
        await advertiser.stop()
        await browser.stop()
    }

    @Test(
        "releasing them ends everything, with a goodbye, and nothing leaks",
        arguments: Ground.allCases)
    func letGo(_ ground: Ground) async throws {
        let (type, configuration) = try ground.network()
        let watcher = Browser(
            peer: try PeerID(displayName: "watcher"), service: type, configuration: configuration)
        try await watcher.start()
        let other = try PeerID(displayName: "other")
        var advertiser: Advertiser? = Advertiser(peer: other, service: type, configuration: configuration)
        var browser: Browser? = Browser(peer: other, service: type, configuration: configuration)
        weak let advertisers = advertiser
        weak let browsers = browser
        try await advertiser?.start()
        try await browser?.start()
        let invitations = try #require(advertiser).invitations
        let sightings = try #require(browser).events
        let waiting = Task { for await _ in invitations {} }
        let looking = Task { for await _ in sightings {} }
        var events = watcher.events.makeAsyncIterator()
        #expect(await events.next()?.isFound(other) == true)
        advertiser = nil
        browser = nil
        #expect(await events.next() == .lost(other))
        try await within { await waiting.value }
        try await within { await looking.value }
        #expect(advertisers == nil)
        #expect(browsers == nil)
        await watcher.stop()
    }

    @Test("what cannot be advertised is refused with a validation error [service.type] [service.info]")
    func words() throws {
        let peer = try PeerID(displayName: "ann")
        let refused = MultipeerError(.invalidArgument, "")
        #expect(throws: refused) { try Advertiser(peer: peer, service: "Chat") }
        #expect(throws: refused) { try Browser(peer: peer, service: "sixteen-letters-") }
        #expect(throws: refused) { try Advertiser(peer: peer, service: "chat", info: ["mpc": "2"]) }
        #expect(throws: refused) {
            try Advertiser(peer: peer, service: "chat", info: ["key": String(repeating: "x", count: 252)])
        }
    }

    @Test("a start that fails throws, and leaves nothing running")
    func cannotStart() async throws {
        let (type, _) = try Ground.multicast.network()
        var configuration = DiscoveryConfiguration(interfaces: .only(["no-such-link"]))
        let peer = try PeerID(displayName: "ann")
        for code in [MultipeerError.Code.discovery, .invalidArgument] {
            let advertiser = Advertiser(peer: peer, service: type, configuration: configuration)
            let browser = Browser(peer: peer, service: type, configuration: configuration)
            await #expect(throws: MultipeerError(code, "")) { try await advertiser.start() }
            await #expect(throws: MultipeerError(code, "")) { try await browser.start() }
            #expect(await !advertiser.isRunning)
            #expect(await !browser.isRunning)
            configuration.hostTTL = .seconds(5)
        }
    }

    @Test("a backend that fails once does not prevent the next start")
    func secondStart() async throws {
        let (type, _) = try Ground.memory.network()
        var configuration = DiscoveryConfiguration.loopback
        let network = WatchedDiscovery()
        configuration.backend = network
        await network.refuse(2)
        let peer = try PeerID(displayName: "ann")
        let advertiser = Advertiser(peer: peer, service: type, configuration: configuration)
        let browser = Browser(peer: peer, service: type, configuration: configuration)
        await #expect(throws: MultipeerError(.discovery, "")) { try await advertiser.start() }
        await #expect(throws: MultipeerError(.discovery, "")) { try await browser.start() }
        try await advertiser.start()
        try await browser.start()
        await advertiser.stop()
        await browser.stop()
    }

    @Test("a peer that an invitation does not reach is reconfirmed")
    func unreachable() async throws {
        let (type, _) = try Ground.memory.network()
        var configuration = DiscoveryConfiguration.loopback
        let network = WatchedDiscovery()
        configuration.backend = network
        let ann = try Caller("ann", (type, configuration))
        let ghost = try PeerID(displayName: "ghost")
        // Nothing listens there.
        let announced = try await network.advertise(Advertisement(peer: ghost, type: type, port: 1))
        try await ann.start()
        try await ann.finds([ghost])
        await #expect(throws: MultipeerError(.unreachable, "")) {
            try await ann.browser.invite(ghost, to: ann.session, timeout: .seconds(5))
        }
        #expect(try await within { await network.firstDoubted() } == ghost)
        await announced.stop()
        await ann.stop()
    }

    @Test("a peer whose link is lost without a goodbye is reconfirmed")
    func silent() async throws {
        let (type, _) = try Ground.memory.network()
        var configuration = DiscoveryConfiguration.loopback
        let network = WatchedDiscovery()
        configuration.backend = network
        let callers = [
            try Caller("ann", (type, configuration)), try Caller("bob", (type, configuration)),
        ]
        try await callers.start()
        try await callers[0].link(with: callers[1])
        await callers[1].session.driver.shutDown()
        #expect(try await within { await network.firstDoubted() } == callers[1].peer)
        await callers.stop()
    }
}

extension DiscoveredPeer.Event {
    func isFound(_ peer: PeerID) -> Bool {
        if case .found(let found) = self { found.peer == peer } else { false }
    }
}
