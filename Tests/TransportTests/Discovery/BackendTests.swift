import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

/// What every backend has to do, done with each of them.
@Suite("12 Discovery backends", .inTurns)
struct BackendTests {
    enum Kind: String, CaseIterable, Sendable {
        case memory, multicast

        /// Two that see each other, as two processes would.
        func pair() throws -> (any DiscoveryBackend, any DiscoveryBackend) {
            switch self {
            case .memory:
                let network = InMemoryDiscovery()
                return (network, network)
            case .multicast: return (try MulticastDiscovery(.loopback), try MulticastDiscovery(.loopback))
            }
        }
    }

    private let type: ServiceType
    private let ann: PeerID

    init() throws {
        type = try ServiceType.random()
        ann = try PeerID("ann")
    }

    private func advertisement(
        _ peer: PeerID? = nil, port: UInt16 = 4_711, _ info: [String: String] = [:]
    ) throws -> Advertisement {
        Advertisement(peer: peer ?? ann, type: type, port: port, info: try DiscoveryInfo(validating: info))
    }

    @Test(
        "a peer is found with its info, updated and lost, in whatever order the two start",
        arguments: Kind.allCases)
    func life(_ kind: Kind) async throws {
        let (one, other) = try kind.pair()
        let early = try await other.browse(type, hiding: nil)
        let advertised = try await one.advertise(advertisement(nil, ["room": "7"]))
        let late = try await other.browse(type, hiding: nil)
        try await within {
            for events in [early, late] {
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .found(DiscoveredPeer(peer: ann, info: ["room": "7"])))
            }
            try await advertised.update(DiscoveryInfo(validating: ["room": "8"]))
            for events in [early, late] {
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .updated(DiscoveredPeer(peer: ann, info: ["room": "8"])))
            }
            await advertised.stop()
            await advertised.stop()
            for events in [early, late] {
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .lost(ann))
            }
        }
        await #expect(throws: MultipeerError(.cancelled, "")) { try await advertised.update(.empty) }
    }

    @Test(
        "of several advertisements of a peer for one type the latest is announced, and then the one before",
        arguments: Kind.allCases)
    func twice(_ kind: Kind) async throws {
        let (one, other) = try kind.pair()
        let events = try await other.browse(type, hiding: nil)
        let first = try await one.advertise(advertisement(nil, port: 4_001, ["round": "1"]))
        let second = try await one.advertise(advertisement(nil, port: 4_002, ["round": "2"]))
        let third = try await one.advertise(advertisement(nil, port: 4_003, ["round": "3"]))
        try await within {
            var iterator = events.makeAsyncIterator()
            func infoIs(_ round: String) async {
                while let event = await iterator.next() {
                    if case .found(let peer) = event, peer.info["round"] == round { return }
                    if case .updated(let peer) = event, peer.info["round"] == round { return }
                }
            }
            await infoIs("3")
            try await until { try await other.resolve(ann, type, within: .seconds(5)).first?.port == 4_003 }
            // One that is not announced may be stopped and changed.
            await second.stop()
            try await first.update(DiscoveryInfo(validating: ["round": "1 again"]))
            await third.stop()
            await infoIs("1 again")
            try await until { try await other.resolve(ann, type, within: .seconds(5)).first?.port == 4_001 }
            await first.stop()
            #expect(await iterator.next() == .lost(ann))
        }
    }

    @Test("neither the local peer nor peers of another type are found", arguments: Kind.allCases)
    func hiding(_ kind: Kind) async throws {
        let (one, other) = try kind.pair()
        let bob = try PeerID("bob")
        let stranger = Advertisement(peer: try PeerID("stranger"), type: try .random(), port: 1, info: .empty)
        let kept = [
            try await one.advertise(stranger), try await one.advertise(advertisement()),
            try await one.advertise(advertisement(bob)),
        ]
        for backend in [one, other] {
            let events = try await backend.browse(type, hiding: ann)
            try await within {
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .found(DiscoveredPeer(peer: bob, info: [:])))
            }
        }
        for one in kept { await one.stop() }
    }

    @Test(
        "a peer is resolved to its port, and an unknown one to nothing, in time",
        arguments: Kind.allCases)
    func resolving(_ kind: Kind) async throws {
        let (one, other) = try kind.pair()
        let advertised = try await one.advertise(advertisement(port: 5_000))
        let (type, ann) = (type, ann)
        try await within {
            let found = try await other.resolve(ann, type, within: .seconds(30))
            #expect(found == [SocketAddress(.loopbackV4, port: 5_000)])
            let start = ContinuousClock.now
            #expect(try await other.resolve(PeerID("nobody"), type, within: .milliseconds(100)).isEmpty)
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            let waiting = Task { try await other.resolve(PeerID("nobody"), type, within: .seconds(600)) }
            waiting.cancel()
            await #expect(throws: MultipeerError(.cancelled, "")) { try await waiting.value }
        }
        await advertised.stop()
    }

    @Test("a peer that is resolved before it is advertised is found when it is", arguments: Kind.allCases)
    func resolvingEarly(_ kind: Kind) async throws {
        let (one, other) = try kind.pair()
        let (type, ann) = (type, ann)
        async let found = other.resolve(ann, type, within: .seconds(30))
        let advertised = try await one.advertise(advertisement(port: 5_001))
        #expect(try await found == [SocketAddress(.loopbackV4, port: 5_001)])
        await advertised.stop()
    }

    @Test("releasing an advertisement stops it", arguments: Kind.allCases)
    func lettingGo(_ kind: Kind) async throws {
        let (one, other) = try kind.pair()
        let events = try await other.browse(type, hiding: nil)
        let ann = ann
        var advertised: (any OngoingAdvertisement)? = try await one.advertise(advertisement())
        #expect(advertised != nil)
        try await within {
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == .found(DiscoveredPeer(peer: ann, info: [:])))
        }
        advertised = nil
        try await within {
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == .lost(ann))
        }
    }

    @Test("a peer that is reconfirmed and still there stays", arguments: Kind.allCases)
    func reconfirming(_ kind: Kind) async throws {
        let (one, other) = try kind.pair()
        let events = try await other.browse(type, hiding: nil)
        let advertised = try await one.advertise(advertisement())
        let (type, ann) = (type, ann)
        try await within {
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == .found(DiscoveredPeer(peer: ann, info: [:])))
            await other.miss(ann, type)
            try await advertised.update(DiscoveryInfo(validating: ["still": "here"]))
            #expect(await iterator.next() == .updated(DiscoveredPeer(peer: ann, info: ["still": "here"])))
        }
        await advertised.stop()
    }

    @Test("a port of 0 is refused", arguments: Kind.allCases)
    func portMissing(_ kind: Kind) async throws {
        let (one, _) = try kind.pair()
        await #expect(throws: MultipeerError(.invalidArgument, "")) {
            _ = try await one.advertise(advertisement(port: 0))
        }
    }

    @Test("eight peers all find each other, and none finds itself", arguments: Kind.allCases)
    func eight(_ kind: Kind) async throws {
        let peers = try (0..<8).map { try PeerID("peer\($0)") }
        let network = InMemoryDiscovery()
        let type = type
        try await withThrowingTaskGroup { group in
            for peer in peers {
                let backend: any DiscoveryBackend =
                    kind == .memory ? network : try MulticastDiscovery(.loopback)
                group.addTask {
                    let advertised = try await backend.advertise(
                        Advertisement(peer: peer, type: type, port: 4_711, info: .empty))
                    var found: Set<PeerID> = []
                    for await event in try await backend.browse(type, hiding: peer) {
                        guard case .found(let other) = event else {
                            Issue.record("\(peer) heard \(event)")
                            continue
                        }
                        #expect(found.insert(other.peer).inserted)
                        if found.count == peers.count - 1 { break }
                    }
                    #expect(found == Set(peers).subtracting([peer]))
                    return advertised
                }
            }
            // No peer leaves before all have been found.
            var advertised: [any OngoingAdvertisement] = []
            for try await one in group { advertised.append(one) }
            for one in advertised { await one.stop() }
        }
    }
}
