import MultipeerMesh
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("11 Meshes", .computing)
struct SimulatedMeshTests {
    @Test(
        "in whatever order peers join, all find each other and have the same entries [mesh.dial] [mesh.flood]",
        arguments: [(3, 1), (6, 3), (8, 4)] as [(Int, UInt64)])
    func forming(_ count: Int, _ seed: UInt64) {
        let mesh = SimulatedMesh(count, seed: seed)
        for other in 1..<count {
            mesh.join(other - 1, other)
            mesh.run(mesh.random.uniform(0...300))
        }
        mesh.run(12_000)
        #expect(mesh.links.count == count * (count - 1) / 2)
        #expect(mesh.world.observer.counts.evictions == 0)
        mesh.expectRest()
    }

    @Test(
        "lost links are made again, wherever there is another path [mesh.dial]",
        arguments: [1, 2, 3] as [UInt64])
    func healing(_ seed: UInt64) {
        let mesh = SimulatedMesh(6, seed: seed)
        for other in 1..<6 { mesh.join(0, other) }
        mesh.run(5_000)
        let before = mesh.links
        for _ in 0..<8 {
            mesh.cutSomeLink()
            mesh.run(mesh.random.uniform(0...4_000))
        }
        mesh.run(40_000)
        #expect(mesh.links.count == 15 && mesh.links != before)
        #expect(mesh.world.observer.counts.evictions == 0)
        mesh.expectRest()
    }

    @Test(
        "members that were cut off are in one mesh again 5 s after the network heals, without a call [mesh.missed]",
        arguments: [1, 5, 9, 12, 15, 60, 300], [2, 4])
    func outage(_ seconds: Int, _ count: Int) {
        for seed in 1...3 as ClosedRange<UInt64> {
            let mesh = SimulatedMesh(count, seed: seed)
            for other in 1..<count { mesh.join(0, other) }
            mesh.run(5_000)
            #expect(mesh.links.count == count * (count - 1) / 2)
            mesh.world.network.unreachableAfter = [nil, 1_000_000, 3_060_000_000][Int(seed) - 1]
            // One from the others, or all from all.
            for near in seed == 1 ? 0...0 : 0...(count - 1) {
                mesh.world.observer.excuse(near)
                mesh.world.network.split(
                    1 << UInt32(near), isOneSided: false, for: Int64(seconds) * 1_000_000_000)
            }
            mesh.run(seconds * 1_000 + 5_000)
            #expect(mesh.links.count == count * (count - 1) / 2, "seed \(seed)")
            mesh.expectRest()
        }
    }

    @Test("a member that is gone for good is dialled at most every other second, for 10 min [mesh.missed]")
    func gone() {
        let mesh = SimulatedMesh(3, seed: 1)
        for other in 1...2 { mesh.join(0, other) }
        mesh.run(31_000)
        mesh.world.crash(mesh.world.nodes[2], isSilent: true)
        mesh.run(15_000)
        let before = mesh.world.network.connections.count
        mesh.run(600_000)
        let dials = mesh.world.network.connections.count - before
        #expect((400...700).contains(dials))
        mesh.run(600_000)
        #expect(mesh.world.network.connections.count - before - dials <= 2)
        #expect(mesh.links.count == 1)
        mesh.expectRest()
    }

    @Test("when two members each admit a peer for the last slot, one of them leaves [mesh.evict] [mesh.full]")
    func race() {
        var evictions = 0
        for seed in 1...12 as ClosedRange<UInt64> {
            let mesh = SimulatedMesh(6, cap: 5, seed: seed)
            for other in 1...3 { mesh.join(0, other) }
            mesh.run(5_000)
            mesh.join(1, 4)
            mesh.join(2, 5)
            mesh.run(40_000)
            #expect(mesh.largest == 5, "seed \(seed)")
            mesh.expectRest()
            evictions += mesh.world.observer.counts.evictions
        }
        #expect(evictions > 0)
    }

    @Test(
        "a member whose slots other links have taken is met by the FULL that it sends [mesh.counted]",
        arguments: 1...6 as ClosedRange<UInt64>)
    func direct(_ seed: UInt64) {
        let mesh = SimulatedMesh(5, cap: 3, seed: seed)
        mesh.join(0, 1)
        mesh.world.applications.join(0, 2, joinsMesh: false, isAddressed: true)
        mesh.run(5_000)
        mesh.join(1, 3)
        mesh.run(5_000)
        let links = mesh.links
        #expect(Set(links.keys) == [[0, 1], [0, 2], [1, 3]])
        #expect(mesh.world.nodes[0].application.heard[mesh.world.nodes[3].uid] == nil, "not dialled")
        // Peer 3 has a free slot, and its mesh has no room.
        mesh.join(3, 4)
        mesh.run(20_000)
        #expect(mesh.links == links)
    }

    @Test("two meshes that merge through two links at once keep as many as there is room for [mesh.evict]")
    func merge() {
        var evictions = 0
        for seed in 1...12 as ClosedRange<UInt64> {
            let mesh = SimulatedMesh(6, cap: 5, seed: seed)
            mesh.join(0, 1)
            mesh.join(2, 3)
            mesh.run(5_000)
            // Neither mesh knows of its newest member when the two meet, or one refuses the other.
            mesh.join(0, 4)
            mesh.join(2, 5)
            mesh.join(0, 3)
            mesh.join(1, 2)
            mesh.run(40_000)
            if mesh.world.observer.counts.evictions > 0 { #expect(mesh.largest == 5, "seed \(seed)") }
            mesh.expectRest()
            evictions += mesh.world.observer.counts.evictions
        }
        #expect(evictions > 0)
    }

    @Test(
        "pairs that cannot reach each other stay apart, and all others are linked [mesh.dismiss] [mesh.counted]",
        arguments: [1, 2, 4] as [UInt64])
    func walls(_ seed: UInt64) {
        let mesh = SimulatedMesh(6, cap: 5, seed: seed)
        mesh.separate(4, 5)
        for other in 1...3 { mesh.join(0, other) }
        mesh.run(5_000)
        mesh.join(1, 4)
        mesh.join(2, 5)
        mesh.run(40_000)
        // The two never meet, so neither may see that they are too many: then the others do.
        // Two views may differ for a moment, and then one more goes.
        #expect((4...5).contains(mesh.largest), "seed \(seed)")
        #expect(mesh.links[[4, 5]] == nil)
        mesh.expectRest()
    }
}

@Suite("11 A dishonest member", .computing)
struct LyingMemberTests {
    /// Four honest members and one that is not, all linked.
    private func mesh(_ seed: UInt64, isKeyed: Bool = true) -> SimulatedMesh {
        let mesh = SimulatedMesh(4, withByzantinePeer: true, isKeyed: isKeyed, seed: seed)
        for other in 1...4 { mesh.join(0, other) }
        mesh.run(8_000)
        #expect(mesh.links.count == 10)
        return mesh
    }

    private func lie(_ mesh: SimulatedMesh, _ lie: ByzantinePeer.Behaviour, for milliseconds: Int) {
        let end = mesh.world.now + Int64(milliseconds) * 1_000_000
        mesh.world.byzantinePeers.beginLying(mesh.world.nodes[4], lie, until: end)
        mesh.run(milliseconds)
    }

    /// The links of before are the links of now: no honest member lost one, or left.
    private func expectWhole(_ mesh: SimulatedMesh, _ before: [Set<Int>: Int]) {
        #expect(mesh.world.failure == nil)
        #expect(mesh.world.observer.counts.evictions == 0)
        for (pair, connection) in before where !pair.contains(4) { #expect(mesh.links[pair] == connection) }
    }

    @Test("members that it invents evict no honest one, however low their uids [mesh.counted]")
    func inventions() {
        let mesh = mesh(1)
        let before = mesh.links
        lie(mesh, .inventions, for: 20_000)
        let views = mesh.world.nodes.filter(\.isHonest).map(\.mesh.component.count)
        #expect(views.allSatisfy { $0 > 8 }, "the lie is believed as far as it may be: \(views)")
        expectWhole(mesh, before)
    }

    @Test("entries of honest members that it changes end its links, and no other [mesh.signature]")
    func forgery() {
        let mesh = mesh(2)
        let before = mesh.links
        lie(mesh, .slander, for: 1_500)
        expectWhole(mesh, before)
        for (pair, connection) in before where pair.contains(4) { #expect(mesh.links[pair] != connection) }
        let honest = Set(mesh.world.nodes.filter(\.isHonest).map(\.endpoint))
        for node in mesh.world.nodes where node.isHonest {
            for held in node.mesh.entries where honest.contains(held.origin) {
                #expect(honest.subtracting([held.origin]).isSubset(of: held.members))
            }
        }
    }

    @Test("entries of honest members with a key of its own change nothing [mesh.one-key]")
    func impostor() {
        let mesh = mesh(4)
        let before = mesh.links
        lie(mesh, .impostor, for: 9_000)
        expectWhole(mesh, before)
        #expect(mesh.links == before)
    }

    @Test(
        "without keys, its entries of honest members with the highest sequence change nothing [mesh.first-hand] [mesh.own]"
    )
    func slander() {
        let mesh = mesh(2, isKeyed: false)
        let before = mesh.links
        lie(mesh, .slander, for: 9_000)
        mesh.run(2_000)
        expectWhole(mesh, before)
        let all = mesh.world.nodes.map(\.endpoint).sorted(by: <)
        for node in mesh.world.nodes where node.isHonest {
            #expect(node.mesh.component == all.filter { $0 != node.endpoint })
            for held in node.mesh.entries where held.origin != mesh.world.nodes[4].endpoint {
                #expect(held.members == all.filter { $0 != held.origin })
            }
        }
    }

    @Test("sending as fast as allowed, it makes no honest member exceed the pace [mesh.rate-limit]")
    func chatter() {
        let mesh = mesh(3)
        let before = (mesh.links, mesh.world.observer.counts.entries)
        lie(mesh, .everything, for: 6_000)
        mesh.run(2_000)
        #expect(
            mesh.world.observer.counts.entries - before.1 > 500, "the honest were given something to pass on")
        expectWhole(mesh, before.0)
    }
}
