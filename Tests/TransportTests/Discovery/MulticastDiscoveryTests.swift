import Glibc
import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Multicast DNS on real sockets", .inTurns)
struct MulticastDiscoveryTests {
    private let type: ServiceType
    private let ann: PeerID
    private let bob: PeerID

    init() throws {
        type = try .random()
        (ann, bob) = (try PeerID("ann"), try PeerID("bob"))
    }

    private func advertisement(_ peer: PeerID, _ info: DiscoveryInfo = .empty) -> Advertisement {
        Advertisement(peer: peer, type: type, port: 4_711, info: info)
    }

    /// Waits until the other one is found, then stops announcing it and waits until it is lost.
    private func meet(_ one: MulticastDiscovery, _ other: MulticastDiscovery) async throws {
        let advertised = try await one.advertise(advertisement(ann))
        let events = try await other.browse(type, hiding: bob)
        let ann = ann
        try await within {
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == .found(DiscoveredPeer(peer: ann, info: [:])))
            await advertised.stop()
            #expect(await iterator.next() == .lost(ann))
        }
    }

    @Test("a peer that stops is lost within 2 s [mdns.lost]")
    func goodbye() async throws {
        let (one, other) = (try MulticastDiscovery(.loopback), try MulticastDiscovery(.loopback))
        // On a busy machine the first try may take longer.
        try await until {
            let advertised = try await one.advertise(advertisement(ann))
            let events = try await other.browse(type, hiding: bob)
            let ann = ann
            return try await within {
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .found(DiscoveredPeer(peer: ann, info: [:])))
                let start = ContinuousClock.now
                await advertised.stop()
                #expect(await iterator.next() == .lost(ann))
                return ContinuousClock.now - start < .seconds(2)
            }
        }
    }

    @Test("peers that share one instance also find each other, and not themselves [mdns.self]")
    func sharing() async throws {
        let shared = try MulticastDiscovery(.loopback)
        let advertised = [
            try await shared.advertise(advertisement(ann)), try await shared.advertise(advertisement(bob)),
        ]
        for (local, other) in [(ann, bob), (bob, ann)] {
            let events = try await shared.browse(type, hiding: local)
            try await within {
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .found(DiscoveredPeer(peer: other, info: [:])))
            }
        }
        for one in advertised { await one.stop() }
    }

    @Test("at most 64 requests are accepted, and as many advertisements of one peer [mdns.limit]")
    func limits() async throws {
        let discovery = try MulticastDiscovery(.loopback)
        let advertised = try await discovery.advertise(advertisement(ann))
        var others: [any OngoingAdvertisement] = []
        for _ in 1..<64 { others.append(try await discovery.advertise(advertisement(ann))) }
        await #expect(throws: MultipeerError(.discovery, "")) {
            _ = try await discovery.advertise(advertisement(ann))
        }
        for other in others { await other.stop() }
        var browses: [DiscoveryEvents] = []
        for _ in 1..<64 { browses.append(try await discovery.browse(type, hiding: nil)) }
        await #expect(throws: MultipeerError(.discovery, "")) {
            _ = try await discovery.browse(type, hiding: nil)
        }
        browses.removeFirst().stop()
        // Stopping takes a turn of the loop.
        try await until {
            do throws(MultipeerError) {
                browses.append(try await discovery.browse(type, hiding: nil))
                return true
            } catch { return false }
        }
        await advertised.stop()
    }

    @Test("when it is no longer used its descriptors are closed, and it can be used again")
    func closing() async throws {
        try await withLoop { loop in
            weak var gone: MulticastDiscovery?
            do {
                let discovery = try MulticastDiscovery(.loopback, on: loop)
                gone = discovery
                for _ in 0..<3 {
                    #expect(await !discovery.isOpen)
                    let advertised = try await discovery.advertise(advertisement(ann))
                    let events = try await discovery.browse(type, hiding: nil)
                    #expect(await discovery.isOpen)
                    events.stop()
                    await advertised.stop()
                    try await until { await !discovery.isOpen }
                }
            }
            try await until { gone == nil }
        }
    }

    @Test("cancelling a wait for registration withdraws the advertisement")
    func cancelling() async throws {
        let discovery = try MulticastDiscovery(.loopback)
        for _ in 0..<4 {
            let waiting = Task { try await discovery.advertise(advertisement(ann)) }
            waiting.cancel()
            if let advertised = try? await waiting.value { await advertised.stop() }
        }
        let advertised = try await discovery.advertise(advertisement(ann))
        await advertised.stop()
    }

    @Test("an unknown interface is refused, and the error lists the available ones")
    func unknownInterface() async throws {
        let discovery = try MulticastDiscovery(
            DiscoveryConfiguration(interfaces: .only(["lo", "nonesuch0"])))
        let error = await complaint { _ = try await discovery.browse(type, hiding: nil) }
        #expect(
            error?.code == .discovery && error?.description.contains("'nonesuch0'; available: lo") == true)
    }

    private func complaint(_ body: () async throws -> Void) async -> MultipeerError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? MultipeerError
        }
    }

    // MARK: in namespaces

    @Test("nothing leaves the loopback interface when it is chosen [mdns.scope]", .inNamespace)
    func nothingLeaves() async throws {
        try await Namespace.with(
            "ip link add here type veth peer name there", "ip addr add 10.0.0.1/24 dev here",
            "ip link set here up", "ip link set there up"
        ) { loop, probe in
            let (one, other) = (
                try MulticastDiscovery(.loopback, on: loop), try MulticastDiscovery(.loopback, on: loop)
            )
            let (before, busy) = await probe.run { _ in (Namespace.packets("here"), Namespace.packets("lo")) }
            try await meet(one, other)
            let (after, busier) = await probe.run { _ in (Namespace.packets("here"), Namespace.packets("lo"))
            }
            #expect(after?.sent == before?.sent && after != nil)
            #expect(try #require(busier).sent > #require(busy).sent + 4)
            // And what would leave is counted.
            let cable = DiscoveryConfiguration(interfaces: .only(["here"]))
            try await meet(MulticastDiscovery(cable, on: loop), MulticastDiscovery(cable, on: loop))
            let last = await probe.run { _ in Namespace.packets("here") }
            #expect(try #require(last).sent > #require(after).sent + 4)
        }
    }

    @Test("a port that another program uses exclusively is an error that says so", .inNamespace)
    func portTaken() async throws {
        try await Namespace.with { loop, probe in
            let taken = try await probe.run { _ throws(SocketFault) in
                Boxed(try DatagramSocket.bound(to: SocketAddress(.anyV4, port: 5353)))
            }
            let discovery = try MulticastDiscovery(.loopback, on: loop)
            for _ in 0..<2 {
                let error = await complaint { _ = try await discovery.browse(type, hiding: nil) }
                #expect(error?.code == .discovery)
                #expect(error?.description.contains("another program uses UDP port 5353 exclusively") == true)
                #expect(await !discovery.isOpen)
            }
            _ = consume taken
        }
    }

    @Test("without any interface there is an error with a hint", .inNamespace)
    func noInterface() async throws {
        try await Namespace.with { loop, _ in
            let discovery = try MulticastDiscovery(
                MulticastSettings(interfaces: .all, hostTTL: 120, families: [.v4, .v6]), on: loop)
            let error = await complaint { _ = try await discovery.browse(type, hiding: nil) }
            #expect(error?.description.contains("no network interface but loopback") == true)
            #expect(error?.description.contains("connection data") == true)
        }
    }

    @Test(
        "what waits for connectivity is announced and found once an interface carries multicast [mdns.scope]",
        .inNamespace)
    func waiting() async throws {
        try await Namespace.with(
            "ip link add here type veth peer name there", "ip addr add 10.0.0.1/24 dev here",
            "ip link set here multicast off", "ip link set here up", "ip link set there up"
        ) { loop, probe in
            let ann = ann
            let cable = DiscoveryConfiguration(interfaces: .only(["here"]))
            let (one, other) = (
                try MulticastDiscovery(cable, on: loop), try MulticastDiscovery(cable, on: loop)
            )
            #expect(await complaint { _ = try await one.advertise(advertisement(ann)) }?.code == .discovery)
            #expect(await one.obstacle == nil)
            #expect(await !one.isOpen)
            let advertised = try await one.advertise(advertisement(ann), waiting: true)
            #expect(await one.obstacle?.description.contains("here carries no multicast") == true)
            #expect(await complaint { _ = try await one.browse(type, hiding: nil) }?.code == .discovery)
            let events = try await other.browse(type, hiding: bob, waiting: true)
            try await probe.run { _ throws(Namespace.Unavailable) in
                try Namespace.run("ip link set here multicast on")
            }
            try await within {
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .found(DiscoveredPeer(peer: ann, info: [:])))
                #expect(await one.obstacle == nil)
                await advertised.stop()
                #expect(await iterator.next() == .lost(ann))
            }
            let missing = try MulticastDiscovery(
                DiscoveryConfiguration(interfaces: .only(["gone"])), on: loop)
            let error = await complaint { _ = try await missing.browse(type, hiding: nil, waiting: true) }
            #expect(error?.description.contains("no network interface 'gone'") == true)
        }
    }

    @Test("interfaces and addresses that appear and disappear are followed [mdns.scope]", .inNamespace)
    func following() async throws {
        try await Namespace.with(
            "ip link add here type veth peer name there", "ip addr add 10.0.0.1/24 dev here",
            "ip link set here up", "ip link set there up"
        ) { loop, probe in
            let cable = DiscoveryConfiguration(interfaces: .only(["here"]))
            let (one, other) = (
                try MulticastDiscovery(cable, on: loop), try MulticastDiscovery(cable, on: loop)
            )
            let advertised = try await one.advertise(advertisement(ann))
            let events = try await other.browse(type, hiding: bob)
            let (ann, type) = (ann, type)
            try await within {
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .found(DiscoveredPeer(peer: ann, info: [:])))
                try await probe.run { _ throws(Namespace.Unavailable) in
                    try Namespace.run("ip addr add 10.0.1.1/24 dev here; ip addr del 10.0.0.1/24 dev here")
                }
                try await until {
                    try await other.resolve(ann, type, within: .seconds(1)).map(\.description) == [
                        "10.0.1.1:4711"
                    ]
                }
                // Down and up again: the other one may have been lost in between, and is found again.
                try await probe.run { _ throws(Namespace.Unavailable) in
                    try Namespace.run("ip link set here down; ip link set here up")
                }
                var again: DiscoveryEvents?
                try await until {
                    again = try? await other.browse(type, hiding: nil)
                    return again != nil
                }
                let second = try #require(again)
                var found = second.makeAsyncIterator()
                #expect(await found.next() == .found(DiscoveredPeer(peer: ann, info: [:])))
            }
            await advertised.stop()
        }
    }

    @Test("IPv6 alone is used as soon as the address is known to be unique [mdns.scope]", .inNamespace)
    func tentativeAddress() async throws {
        try await Namespace.with(
            "ip link add here type veth peer name there", "sysctl -qw net.ipv6.conf.here.disable_ipv6=0",
            "ip link set there up", "ip link set here up"
        ) { loop, _ in
            // Until the address is ready there is nothing to speak from.
            let cable = DiscoveryConfiguration(interfaces: .only(["here"]))
            let (one, other) = (
                try MulticastDiscovery(cable, on: loop), try MulticastDiscovery(cable, on: loop)
            )
            let error = await complaint { _ = try await one.browse(type, hiding: nil) }
            // The interface is still coming up, its address is tentative, or everything is done already.
            #expect(error == nil || error?.code == .discovery)
            try await until {
                await complaint { _ = try await one.browse(type, hiding: nil) } == nil
            }
            try await meet(one, other)
        }
    }
}

/// Keeps what cannot be copied.
private final class Boxed: Sendable {
    private let socket: DatagramSocket
    init(_ socket: consuming DatagramSocket) { self.socket = socket }
}
