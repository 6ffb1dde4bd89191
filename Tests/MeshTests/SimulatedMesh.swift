import MultipeerMesh
import Testing

@testable import MultipeerSimulation

/// Sessions of the simulation whose applications join each other's meshes, and do nothing else.
final class SimulatedMesh {
    let world: World
    private let scenario: Scenario
    var random: SeededRandom

    /// Peers whose ids are in any order; one more, with the highest, may lie.
    init(
        _ count: Int, cap: Int = 8, withByzantinePeer: Bool = false, isKeyed: Bool = true, seed: UInt64
    ) {
        var random = SeededRandom(~seed)
        let ranks = random.shuffled(Array(101...(100 + count)))
        var peers = ranks.map { Scenario.Peer(rank: $0) }
        if withByzantinePeer { peers.append(Scenario.Peer(role: .byzantine, rank: 1_000)) }
        if !isKeyed { for index in peers.indices { peers[index].preference = .none } }
        scenario = Scenario(seed: seed, mode: .liveness, cap: cap, conditions: .fair, peers: peers, end: 0)
        world = World(seed: seed, cap: cap)
        self.random = random
        world.applications.chats = false
        for (index, peer) in peers.enumerated() { world.add(peer, named: "p\(index)") }
        world.post(.look, after: 0)
    }

    deinit { world.dismantle() }

    /// The two applications exchange data for the mesh and connect.
    func join(_ one: Int, _ other: Int) {
        world.applications.join(one, other, joinsMesh: true, isAddressed: false)
    }

    func run(_ milliseconds: Int) { world.run(until: world.now + Int64(milliseconds) * 1_000_000) }

    /// Neither can dial the other.
    func separate(_ one: Int, _ other: Int) {
        world.network.reachability.setFirewall(one, other, .silent)
        world.network.reachability.setFirewall(other, one, .silent)
    }

    /// The connection of some link dies, and each end notices in its own time.
    func cutSomeLink() {
        let linked = world.nodes.flatMap { node in node.links.map { (node.index, $0.remote) } }
        guard !linked.isEmpty else { return }
        let (one, other) = random.pick(linked)
        world.observer.disturbance = world.now
        world.network.cut(one, other)
    }

    /// The connections that are links, by the two peers that they join.
    var links: [Set<Int>: Int] {
        var links: [Set<Int>: Int] = [:]
        for node in world.nodes {
            for socket in node.links { links[[node.index, socket.remote]] = socket.connection.number }
        }
        return links
    }

    /// Members of the largest mesh that any peer sees.
    var largest: Int { (world.nodes.map(\.mesh.component.count).max() ?? 0) + 1 }

    /// Checks the state at rest: every member has a link to every other that it can reach, all know the same, and none
    /// is one too many.
    func expectRest(_ location: SourceLocation = #_sourceLocation) {
        Quiescence(world, scenario).check()
        #expect(world.failure == nil, "seed \(scenario.seed)", sourceLocation: location)
    }
}
