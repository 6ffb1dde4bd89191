import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.6 Storms", .longForSanitizers, .computing)
struct StormTests {
    @Test(
        "whatever happened to peers and the network, in the end every peer knows exactly those that exist [mdns.lost]",
        arguments: 1...UInt64(12))
    func convergence(_ seed: UInt64) throws {
        var storm = try Storm(seed: seed, peers: 5)
        for _ in 0..<40 { try storm.act() }
        try storm.calm()
        #expect(storm.link.stuck == 0, "deadlines advance")
        for (viewer, seen) in storm.views() {
            #expect(seen == storm.truth(for: viewer), "viewer \(viewer)")
        }
        #expect(storm.disorder == [], "found, updated and lost come in order")
    }

    @Test(
        "eight peers on a bad network know each other in the end, whatever changes",
        arguments: [21, 22] as [UInt64])
    func eight(_ seed: UInt64) throws {
        var storm = try Storm(seed: seed, peers: 8)
        storm.link.conditions.loss = 40
        for _ in 0..<16 { try storm.act() }
        try storm.calm()
        for (viewer, seen) in storm.views() { #expect(seen == storm.truth(for: viewer), "viewer \(viewer)") }
    }
}

/// Peers that start, stop, die, come back, sleep and change their info, on a link that loses, duplicates, reorders and
/// partitions.
private struct Storm {
    var link: VirtualLink
    private var dice: Seeded
    private var peers: [Player] = []
    private let type: ServiceType

    /// A peer: it has one engine at a time, and a new one when it comes back after its process died.
    private struct Player {
        let peer: PeerID
        var engine: Int?
        var advert: AdvertID?
        var browse: BrowseID?
        var info: [String: String] = [:]
        var isAsleep = false
    }

    init(seed: UInt64, peers count: Int) throws {
        link = VirtualLink(seed: seed)
        dice = Seeded(seed)
        type = try ServiceType(parsing: "storm")
        for number in 0..<count {
            let uid = UID(high: UInt64(number + 1), low: seed)
            peers.append(Player(peer: try PeerID(validating: uid, displayName: "peer \(number)")))
            try start(number)
        }
        link.run(for: .seconds(3))
    }

    /// One thing happens, and some time goes by.
    mutating func act() throws {
        let number = Int.random(in: 0..<peers.count, using: &dice)
        switch Int.random(in: 0..<10, using: &dice) {
        case 0: stop(number)
        case 1: die(number)
        case 2, 3: try start(number)
        case 4, 5: try change(number)
        case 6: sleep(number)
        case 7: wake(number)
        case 8:
            let isWhole = Bool.random(using: &dice)
            for engine in link.engines.indices {
                link.conditions.groups[engine] = isWhole ? nil : Int.random(in: 0...1, using: &dice)
            }
        default:
            link.conditions.loss = Int.random(in: 0...40, using: &dice)
            link.conditions.twice = Int.random(in: 0...20, using: &dice)
            let slowest = Int64.random(in: 300_000...30_000_000, using: &dice)
            link.conditions.delay = 200_000...slowest
        }
        link.run(for: .milliseconds(Int.random(in: 1...4_000, using: &dice)))
    }

    /// Restores the link, wakes all peers, and waits until SRV records of dead peers have expired.
    mutating func calm() throws {
        link.conditions = VirtualLink.Conditions()
        for number in peers.indices { wake(number) }
        link.run(for: .seconds(150))
    }

    private mutating func start(_ number: Int) throws {
        guard peers[number].engine == nil else { return }
        let engine = link.add()
        link.conditions.groups[engine] = peers.compactMap(\.engine).last.flatMap {
            link.conditions.groups[$0]
        }
        let player = peers[number]
        let info = try DiscoveryInfo(validating: player.info)
        let (advert, browse) = try link.with(engine) { [type] engine, now in
            let advert = Advert(peer: player.peer, type: type, port: 4_000, info: info)
            return (
                try engine.advertise(advert, at: now),
                try engine.browse(type, hiding: player.peer.uid, at: now)
            )
        }
        (peers[number].engine, peers[number].advert, peers[number].browse) = (engine, advert, browse)
    }

    /// Stops a peer with a goodbye.
    private mutating func stop(_ number: Int) {
        guard let engine = peers[number].engine, !peers[number].isAsleep else { return }
        link.with(engine) { $0.shutDown(at: $1) }
        peers[number].engine = nil
    }

    private mutating func die(_ number: Int) {
        guard let engine = peers[number].engine else { return }
        link.kill(engine)
        peers[number].engine = nil
        peers[number].isAsleep = false
    }

    private mutating func change(_ number: Int) throws {
        guard let engine = peers[number].engine, let advert = peers[number].advert, !peers[number].isAsleep
        else { return }
        peers[number].info = ["n2": "\(Int.random(in: 0...99, using: &dice))"]
        let info = try DiscoveryInfo(validating: peers[number].info)
        link.with(engine) { $0.update(advert, info: info, at: $1) }
    }

    private mutating func sleep(_ number: Int) {
        guard let engine = peers[number].engine else { return }
        link.kill(engine)
        peers[number].isAsleep = true
    }

    private mutating func wake(_ number: Int) {
        guard let engine = peers[number].engine, peers[number].isAsleep else { return }
        link.resume(engine)
        link.with(engine) { $0.woke(at: $1) }
        peers[number].isAsleep = false
    }

    func truth(for viewer: Int) -> [UID: DiscoveredPeer] {
        var all: [UID: DiscoveredPeer] = [:]
        for (number, player) in peers.enumerated() where number != viewer && player.engine != nil {
            all[player.peer.uid] = DiscoveredPeer(peer: player.peer, info: player.info)
        }
        return all
    }

    /// Returns what each running peer was notified of.
    func views() -> [(viewer: Int, seen: [UID: DiscoveredPeer])] {
        peers.enumerated().compactMap { number, player in
            player.engine.map { (number, history(of: $0, player.browse).seen) }
        }
    }

    /// Events that contradict earlier ones.
    var disorder: [String] {
        peers.flatMap { player in player.engine.map { history(of: $0, player.browse).faults } ?? [] }
    }

    private func history(
        of engine: Int, _ browse: BrowseID?
    ) -> (seen: [UID: DiscoveredPeer], faults: [String]) {
        var seen: [UID: DiscoveredPeer] = [:]
        var faults: [String] = []
        for (_, teller, action) in link.told where teller == engine {
            guard case .browse(let id, let event) = action, id == browse else { continue }
            switch event {
            case .found(let peer):
                if seen.updateValue(peer, forKey: peer.peer.uid) != nil { faults.append("\(event)") }
            case .updated(let peer):
                let before = seen.updateValue(peer, forKey: peer.peer.uid)
                if before == nil || before == peer { faults.append("\(event)") }
            case .lost(let peer):
                if seen.removeValue(forKey: peer.uid) == nil { faults.append("\(event)") }
            }
        }
        return (seen, faults)
    }
}
