import Multipeer
import MultipeerTransport
import TestSupport
import Testing

@Suite("11 Meshes over loopback", .inTurns)
struct MeshTests {
    @Test(
        "eight that join in a chain are all linked with each other, and a ninth is refused with FULL [mesh.dial]"
    )
    func chain() async throws {
        let members = try Member.several(9)
        let eight = Array(members.prefix(8))
        await eight.joinInAChain()
        try await eight.areAllLinked()
        let fared = await eight[3].join(members[8])
        #expect(fared.0.error?.reason?.code == .full)
        #expect(fared.1.error?.reason?.code == .full)
        for other in eight.dropFirst() {
            try await eight[0].session.send([7], to: other.peer)
            try await within { await other.until { !$0.messages.isEmpty } }
        }
        for member in eight {
            for other in eight where other.peer != member.peer {
                #expect(await member.heard[other.peer] == [.connecting, .connected])
            }
        }
        await members.end()
    }

    @Test("a member that leaves is gone for all, once, and is not dialled again [mesh.departed]")
    func leaves() async throws {
        let members = try Member.several(4)
        await members.joinInAChain()
        try await members.areAllLinked()
        await members[1].session.disconnect()
        let left = members[1].peer
        for member in [members[0], members[2], members[3]] {
            try await within { await member.until { !$0.ends(of: left).isEmpty } }
        }
        // What would come of a search comes before what is sent now.
        for (one, other) in [(0, 2), (2, 3), (3, 0)] {
            try await members[one].session.send([1], to: members[other].peer)
            try await within { await members[other].until { !$0.messages.isEmpty } }
            let reasons = await members[other].ends(of: left)
            #expect(reasons.map(\.code) == [.goodbye])
            #expect(await members[other].heard[left]?.count == 3)
        }
        await members.end()
    }

    @Test("a member that left returns as a new instance, to all others [mesh.dial]")
    func comesBack() async throws {
        let members = try Member.several(3)
        await members.joinInAChain()
        try await members.areAllLinked()
        await members[0].session.disconnect()
        let peer = members[0].peer
        for member in members.dropFirst() {
            try await within { await member.until { !$0.ends(of: peer).isEmpty } }
        }
        _ = await members[0].join(members[2])
        try await members.areAllLinked()
        await members.end()
    }

    @Test("two meshes merge when there is room, and otherwise stay apart [mesh.full]", arguments: [4, 5])
    func merging(_ first: Int) async throws {
        let members = try Member.several(first + 4)
        let (one, other) = (Array(members.prefix(first)), Array(members.suffix(4)))
        await one.joinInAChain()
        await other.joinInAChain()
        try await one.areAllLinked()
        try await other.areAllLinked()
        let fared = await one[0].join(other[0])
        if first == 4 {
            #expect(fared.0.isLinked && fared.1.isLinked)
            try await members.areAllLinked()
        } else {
            #expect(fared.0.error?.reason?.code == .full)
            #expect(fared.1.error?.reason?.code == .full)
            #expect(await one[0].session.connectedPeers.count == 4)
        }
        await members.end()
    }

    @Test("sixteen are one mesh when all of them allow it [mesh.full]")
    func sixteen() async throws {
        let members = try Member.several(16, .loopback(timeLimit: .seconds(60)).with { $0.maximumPeers = 16 })
        await members.joinInAChain()
        try await members.areAllLinked()
        await members.end()
    }

    @Test("a star has one centre, and its points do not learn of each other [mesh.star]")
    func star() async throws {
        let centre = try Member("centre", .loopback().with { $0.topology = .star })
        let points = try Member.several(3)
        await #expect(throws: MultipeerError.self) { try await centre.session.connectionData(mesh: true) }
        let data = try await centre.session.connectionData()
        for point in points {
            let theirs = try await point.session.connectionData(mesh: true)
            async let first = centre.session.trying(theirs)
            async let second = point.session.trying(data)
            let fared = await (first, second)
            #expect(fared.0.isLinked && fared.1.isLinked)
        }
        #expect(await centre.session.connectedPeers.count == 3)
        for point in points {
            try await centre.session.send([1], to: point.peer)
            try await within { await point.until { !$0.messages.isEmpty } }
            #expect(await Set(point.heard.keys) == [centre.peer])
        }
        await ([centre] + points).end()
    }

    @Test("direct links introduce no peers [mesh.link]")
    func direct() async throws {
        let members = try Member.several(3)
        for (one, other) in [(0, 1), (1, 2)] {
            let (mine, theirs) = (
                try await members[one].session.connectionData(),
                try await members[other].session.connectionData(mesh: true)
            )
            async let first = members[one].session.trying(theirs)
            async let second = members[other].session.trying(mine)
            let fared = await (first, second)
            #expect(fared.0.isLinked && fared.1.isLinked)
        }
        try await members[1].session.send([1], to: members[0].peer)
        try await within { await members[0].until { !$0.messages.isEmpty } }
        #expect(await Set(members[0].heard.keys) == [members[1].peer])
        await members.end()
    }

    @Test(
        "members that never encrypt are a mesh, too; a plain link with a peer that could encrypt is none [mesh.plain]"
    )
    func plain() async throws {
        let members = try Member.several(3, .loopback(.none))
        await members.joinInAChain()
        try await members.areAllLinked()
        let mixed = try Member("mixed", .loopback(.optional))
        let fared = await mixed.join(members[0])
        #expect(fared.0.isLinked && fared.1.isLinked)
        try await members[0].session.send([1], to: mixed.peer)
        try await within { await mixed.until { !$0.messages.isEmpty } }
        #expect(await Set(mixed.heard.keys) == [members[0].peer])
        await (members + [mixed]).end()
    }
}
