import MultipeerCore
import MultipeerFraming
import MultipeerMesh
import TestSupport
import Testing

@Suite("11 Members of the mesh", .computing)
struct MembershipComponentTests {
    @Test("an endpoint that is reachable over pairs that list each other is in the mesh [mesh.component]")
    func pairs() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        #expect(ann.component == [peer(2)])
        try ann.hear(try entry(of: peer(2), 1, [peer(1), peer(3)]), on: 2)
        #expect(ann.component == [peer(2)])
        try ann.hear(try entry(of: peer(3), 1, [peer(4)]), on: 2)
        #expect(ann.component == [peer(2)])
        try ann.hear(try entry(of: peer(4), 1, [peer(3)]), on: 2)
        try ann.hear(try entry(of: peer(3), 2, [peer(2), peer(4)]), on: 2)
        #expect(ann.component == [peer(2), peer(3), peer(4)])
        try ann.hear(try entry(of: peer(2), 2, [peer(1)]), on: 2)
        #expect(ann.component == [peer(2)])
        ann.unlink(2)
        #expect(ann.component.isEmpty)
    }

    @Test("an entry outside the component is dropped after 60 s [mesh.component]")
    func unreachable() throws {
        var ann = try Member(1)
        try ann.join([2, 3])
        ann.unlink(3)
        try ann.hear(try entry(of: peer(2), 2, [peer(1)]), on: 2)
        _ = ann.wait(.milliseconds(59_999))
        #expect(ann.held(peer(3)) != nil)
        try ann.hear(try entry(of: peer(2), 3, [peer(1), peer(3)]), on: 2)
        try ann.hear(try entry(of: peer(2), 4, [peer(1)]), on: 2)
        _ = ann.wait(.milliseconds(59_999))
        #expect(ann.held(peer(3)) != nil)
        _ = ann.wait(.milliseconds(1))
        #expect(ann.held(peer(3)) == nil)
        #expect(ann.held(peer(2)) != nil)
    }

    @Test("of 32 entries, the one outside the component for the longest time is dropped [mesh.entries]")
    func room() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        try ann.hear(try entry(of: peer(2), 1, [peer(1)]), on: 2)
        for number in (11...40).reversed() {
            try ann.hear(try entry(of: peer(number), 1, []), on: 2)
            ann.now = ann.now + .milliseconds(1)
        }
        #expect(ann.membership.entries.count == 32)
        try ann.hear(try entry(of: peer(50), 1, []), on: 2)
        #expect(ann.membership.entries.count == 32)
        #expect(ann.held(peer(40)) == nil)
        #expect(ann.held(peer(50)) != nil)
    }

    /// Returns a member whose one neighbour claims links to 30 others, which claim the same.
    private func crowded() throws -> Member {
        var ann = try Member(1)
        let crowd = (11...40).map { peer($0) }
        ann.link(peer(2))
        try ann.hear(try entry(of: peer(2), 1, [peer(1)] + crowd), on: 2)
        for other in crowd { try ann.hear(try entry(of: other, 1, [peer(2)]), on: 2) }
        #expect(ann.membership.entries.count == 32)
        #expect(ann.component.count == 31)
        return ann
    }

    @Test("when all 32 are reachable, another one is ignored, even if it is reachable [mesh.entries]")
    func crowd() throws {
        var ann = try crowded()
        try ann.hear(try entry(of: peer(50), 1, [peer(11)]), on: 2)
        #expect(ann.held(peer(50)) == nil)
        #expect(ann.membership.entries.count == 32)
    }

    @Test("a neighbour's entry, and one that two neighbours list, always find a place [mesh.entries]")
    func place() throws {
        var ann = try crowded()
        ann.link(peer(3))
        #expect(ann.component.count == 31)
        #expect(ann.held(peer(40)) == nil)
        try ann.hear(try entry(of: peer(3), 1, [peer(1), peer(4), peer(5)]), on: 3)
        #expect(ann.held(peer(3)) != nil)
        try ann.hear(try entry(of: peer(5), 1, [peer(3), peer(4)]), on: 3)
        #expect(ann.held(peer(5)) == nil)
        ann.link(peer(4))
        try ann.hear(try entry(of: peer(4), 1, [peer(1), peer(3), peer(5)]), on: 4)
        try ann.hear(try entry(of: peer(5), 1, [peer(3), peer(4)]), on: 3)
        #expect(ann.held(peer(5)) != nil)
        #expect(ann.component.count == 31)
        #expect(ann.held(peer(38)) == nil)
    }

    @Test("entries of an endpoint that said it leaves are removed at once and do not return [mesh.departed]")
    func departed() throws {
        var ann = try Member(1)
        try ann.join([2, 3])
        _ = ann.take()
        ann.unlink(3, hasDeparted: true)
        #expect(ann.held(peer(3)) == nil)
        #expect(ann.component == [peer(2)])
        try ann.hear(try entry(of: peer(3), 5, [peer(2)]), on: 2)
        #expect(ann.component == [peer(2)])
        #expect(ann.take().connects.isEmpty)
        _ = ann.wait(.milliseconds(59_999))
        try ann.hear(try entry(of: peer(3), 5, [peer(2)]), on: 2)
        #expect(ann.held(peer(3)) == nil)
        try ann.hear(try entry(of: peer(3, 1), 1, []), on: 2)
        #expect(ann.held(peer(3, 1)) != nil)
        _ = ann.wait(.milliseconds(1))
        try ann.hear(try entry(of: peer(3), 5, []), on: 2)
        #expect(ann.held(peer(3)) != nil)
    }

    @Test("an endpoint that left and returns over a link is accepted again [mesh.departed]")
    func returned() throws {
        var ann = try Member(1)
        try ann.join([2, 3])
        ann.unlink(3, hasDeparted: true)
        ann.link(peer(3), as: 13)
        try ann.hear(try entry(of: peer(3), 9, [peer(1)]), on: 13)
        #expect(ann.held(peer(3))?.sequence == 9)
    }
}
