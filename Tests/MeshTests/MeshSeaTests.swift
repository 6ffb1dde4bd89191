import FuzzBodies
import MultipeerCore
import MultipeerFraming
import MultipeerMesh
import TestSupport
import Testing

@Suite("11 Meshes", .computing)
struct MeshSeaTests {
    /// At rest: everybody has a link to everybody it knows, all know the same, and nobody is one too many.
    private func expectRest(_ sea: MeshSea, walls: Int = 0, _ comment: Comment) throws {
        #expect(sea.violations.isEmpty, comment)
        for (endpoint, member) in sea.members {
            #expect(member.component.count < sea.cap, comment)
            let mesh = (member.component + [endpoint]).sorted(by: <)
            for other in member.component {
                let isWalled = sea.walls.contains([endpoint, other])
                #expect((sea.connection(endpoint, other) == sea.connection(other, endpoint)), comment)
                #expect((sea.connection(endpoint, other) != nil) != isWalled, comment)
                let view = try #require(sea.members[other])
                #expect((view.component + [other]).sorted(by: <) == mesh, comment)
                let entries = member.entries.filter { mesh.contains($0.origin) }
                #expect(entries == view.entries.filter { mesh.contains($0.origin) }, comment)
            }
        }
    }

    @Test(
        "whoever joins in whatever order, all find each other and know the same [mesh.dial] [mesh.flood]",
        arguments: [(3, 1), (6, 3), (8, 4)] as [(Int, UInt64)])
    func forming(_ count: Int, _ seed: UInt64) throws {
        var sea = MeshSea(seed: seed)
        let all = (1...count).map { peer($0) }.shuffled(using: &sea.random)
        for endpoint in all { try sea.add(endpoint) }
        for (one, other) in zip(all, all.dropFirst()) {
            sea.meet(one, other)
            sea.run(.milliseconds(Int.random(in: 0...300, using: &sea.random)))
        }
        sea.run(.seconds(10))
        for endpoint in all { #expect(sea.links(of: endpoint).count == count - 1) }
        #expect(sea.left.isEmpty)
        try expectRest(sea, "seed \(seed)")
    }

    @Test(
        "lost links are made again, wherever there is a way around [mesh.dial]",
        arguments: [1, 2, 3] as [UInt64])
    func healing(_ seed: UInt64) throws {
        var sea = MeshSea(seed: seed)
        let all = (1...6).map { peer($0) }
        for endpoint in all { try sea.add(endpoint) }
        for other in all.dropFirst() { sea.meet(all[0], other) }
        sea.run(.seconds(5))
        for _ in 0..<8 {
            let ids = sea.lanes.keys.sorted().filter { sea.lanes[$0]?.count == 2 }
            if let id = ids.randomElement(using: &sea.random) { sea.cut(id) }
            sea.run(.milliseconds(Int.random(in: 0...4_000, using: &sea.random)))
        }
        sea.run(.seconds(40))
        #expect(sea.left.isEmpty)
        try expectRest(sea, "seed \(seed)")
    }

    @Test(
        "when two members each let somebody in for the last seat, one of them goes [mesh.evict] [mesh.full]",
        arguments: [1, 2, 3, 4] as [UInt64])
    func race(_ seed: UInt64) throws {
        var sea = MeshSea(cap: 5, seed: seed)
        let all = (1...6).map { peer($0) }.shuffled(using: &sea.random)
        for endpoint in all { try sea.add(endpoint) }
        for other in all[1...3] { sea.meet(all[0], other) }
        sea.run(.seconds(5))
        sea.meet(all[1], all[4])
        sea.meet(all[2], all[5])
        sea.run(.seconds(30))
        #expect(sea.largest == 5, "seed \(seed)")
        try expectRest(sea, "seed \(seed)")
    }

    @Test(
        "two meshes that become one through two links at once keep as many as there is room for [mesh.evict]",
        arguments: [1, 2, 3] as [UInt64])
    func merge(_ seed: UInt64) throws {
        var sea = MeshSea(cap: 5, seed: seed)
        let all = (1...8).map { peer($0) }.shuffled(using: &sea.random)
        for endpoint in all { try sea.add(endpoint) }
        for other in all[1...2] { sea.meet(all[0], other) }
        for other in all[4...5] { sea.meet(all[3], other) }
        sea.meet(all[0], all[6])
        sea.meet(all[3], all[7])
        // Neither knows of its mesh's newest members yet.
        sea.meet(all[1], all[4])
        sea.run(.seconds(60))
        #expect(sea.largest == 5, "seed \(seed)")
        try expectRest(sea, "seed \(seed)")
    }

    @Test(
        "pairs that cannot reach each other stay apart, and the rest is whole [mesh.dismiss] [mesh.counted]",
        arguments: [1, 2, 4] as [UInt64])
    func walls(_ seed: UInt64) throws {
        var sea = MeshSea(cap: 5, seed: seed)
        let all = (1...6).map { peer($0) }.shuffled(using: &sea.random)
        sea.walls = [[all[4], all[5]]]
        for endpoint in all { try sea.add(endpoint) }
        for other in all[1...3] { sea.meet(all[0], other) }
        sea.run(.seconds(5))
        sea.meet(all[1], all[4])
        sea.meet(all[2], all[5])
        sea.run(.seconds(40))
        // The two never meet, so neither may see that they are too many: then the others do.
        // Two views may differ for a moment, and then one more goes.
        #expect((4...5).contains(sea.largest), "seed \(seed)")
        try expectRest(sea, "seed \(seed)")
    }
}

@Suite("11 A member that lies", .computing)
struct LyingMemberTests {
    /// Seven honest members and one that is not, all linked.
    private func mesh(_ seed: UInt64) throws -> MeshSea {
        var sea = MeshSea(seed: seed)
        let liar = peer(1_000)
        sea.liar = liar
        for number in 101...107 { try sea.add(peer(number)) }
        for number in 102...107 { sea.meet(peer(101), peer(number)) }
        sea.run(.seconds(5))
        for number in 101...107 { sea.meet(peer(number), liar) }
        try tell(&sea, of: liar, 1, (101...107).map { peer($0) })
        sea.run(.seconds(2))
        return sea
    }

    private func tell(_ sea: inout MeshSea, of origin: Endpoint, _ sequence: UInt32, _ members: [Endpoint])
        throws
    {
        let lie = try entry(of: origin, sequence, members.filter { $0 != origin })
        for id in sea.lanes.keys.sorted() { sea.say(lie, from: peer(1_000), on: id) }
    }

    private func expectWhole(_ sea: MeshSea) {
        #expect(sea.left.isEmpty)
        #expect(sea.violations.isEmpty)
        for number in 101...107 {
            for other in 101...107 where other != number {
                #expect(sea.connection(peer(number), peer(other)) != nil)
            }
        }
    }

    @Test("members that it invents evict nobody, however low their uids [mesh.counted]")
    func inventions() throws {
        var sea = try mesh(1)
        let invented = (1...24).map { peer($0) }
        try tell(&sea, of: peer(1_000), 2, (101...107).map { peer($0) } + invented)
        for other in invented { try tell(&sea, of: other, 1, invented + [peer(1_000)]) }
        sea.run(.seconds(30))
        let views = sea.members.values.map(\.component.count)
        #expect(views.allSatisfy { $0 > 8 })
        expectWhole(sea)
    }

    @Test(
        "what it says of honest members with the highest sequence changes nothing [mesh.first-hand] [mesh.own]"
    )
    func slander() throws {
        var sea = try mesh(2)
        for sequence in [.max, .max - 1, 0x7FFF_FFFF] as [UInt32] {
            for number in 101...107 { try tell(&sea, of: peer(number), sequence, []) }
            sea.run(.seconds(3))
        }
        expectWhole(sea)
        let all = (101...107).map { peer($0) } + [peer(1_000)]
        for (endpoint, member) in sea.members {
            #expect(member.component == all.filter { $0 != endpoint })
            for held in member.entries { #expect(held.members == all.filter { $0 != held.origin }) }
        }
    }

    @Test("as fast as it may, it makes no honest member break the pace [mesh.pace]")
    func chatter() throws {
        var sea = try mesh(3)
        for round in 2...121 as ClosedRange<UInt32> {
            let number = Int.random(in: 1...24, using: &sea.random)
            let (origin, list) = (
                [peer(number), peer(1_000), peer(number, 1)].randomElement(using: &sea.random), 101...107
            )
            try tell(&sea, of: origin ?? peer(1_000), round, list.map { peer($0) } + [peer(1_000)])
            sea.run(.milliseconds(50))
        }
        sea.run(.seconds(5))
        expectWhole(sea)
    }
}
