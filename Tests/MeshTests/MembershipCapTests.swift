import FuzzBodies
import MultipeerCore
import MultipeerMesh
import TestSupport
import Testing

@Suite("11 The cap", .computing)
struct MembershipCapTests {
    @Test("two meshes are merged only if together they are within the cap [mesh.full]")
    func admission() throws {
        var ann = try Member(1, cap: 4)
        try ann.join([2])
        #expect(ann.membership.admits(peer(3), listing: []))
        #expect(ann.membership.admits(peer(3), listing: [peer(4)]))
        #expect(!ann.membership.admits(peer(3), listing: [peer(4), peer(5)]))
        #expect(ann.membership.admits(peer(3), listing: [peer(1), peer(2), peer(4)]))
        #expect(ann.membership.admits(peer(3), listing: [peer(2, 1), peer(4)]))
        #expect(ann.membership.admits(peer(2, 1), listing: [peer(3), peer(4)]))
        // 2 is in the mesh already, and lists the same as we: no member is added.
        #expect(ann.membership.admits(peer(2), listing: (1...9).map { peer($0) }))
        #expect(!ann.membership.admits(peer(2), listing: (3...9).map { peer($0) }))
        #expect(!(try Member(1, cap: 2)).membership.admits(peer(3), listing: [peer(2)]))
    }

    @Test(
        "members that only one other vouches for take no place, and HELLO does not list them [mesh.full] [hello.members]"
    )
    func invented() throws {
        var ann = try Member(1, cap: 8)
        ann.link(peer(2))
        try ann.hear(try entry(of: peer(2), 1, ([1] + Array(20...26)).map { peer($0) }), on: 2)
        for ghost in 20...26 { try ann.hear(try entry(of: peer(ghost), 1, [peer(2)]), on: 2) }
        #expect(ann.membership.component.count == 8)
        #expect(ann.membership.admits(peer(3), listing: []))
        #expect(ann.membership.introducer(of: peer(20)) == peer(2).uid)
        // One that was met counts, and so do those that a second member lists first-hand.
        ann.membership.met(peer(20), at: ann.now)
        #expect(ann.membership.introducer(of: peer(20)) == nil)
        ann.link(peer(3))
        try ann.hear(try entry(of: peer(3), 1, ([1] + Array(20...23)).map { peer($0) }), on: 3)
        for ghost in 21...23 { try ann.hear(try entry(of: peer(ghost), 2, [peer(2), peer(3)]), on: 2) }
        #expect(ann.membership.admits(peer(4), listing: []))
        #expect(!ann.membership.admits(peer(4), listing: [peer(5)]))
        #expect(ann.membership.admits(peer(26), listing: [peer(1), peer(5), peer(6)]))
    }

    /// A mesh of 1...8 or so that took in one more: this member has links to `links`, and receives entries of the rest.
    private func crowded(_ number: Int, _ links: [Int], all: ClosedRange<Int>, seed: UInt64 = 1) throws
        -> Member
    {
        var member = try Member(number, seed: seed)
        for other in links {
            member.link(peer(other))
            let list = all.filter { $0 != other && ($0 != number || links.contains(other)) }
            try member.hear(try entry(of: peer(other), 1, list.map { peer($0) }), on: other)
        }
        for other in all where other != number && !links.contains(other) {
            let list = all.filter { $0 != other && $0 != number }.map { peer($0) }
            try member.hear(try entry(of: peer(other), 1, list), on: links[0])
        }
        _ = member.take()
        return member
    }

    @Test("a member that ranks beyond the cap for 1 s to 2 s leaves, and no other does [mesh.evict]")
    func eviction() throws {
        var holds: Set<Int64> = []
        for seed in 0..<20 as Range<UInt64> {
            var last = try crowded(9, Array(2...8), all: 1...9, seed: seed)
            #expect(last.component.count == 8)
            let done = last.wait(.seconds(30)).filter { $0.action == .leave }
            #expect(done.count == 1)
            let after = try #require(done.first?.after)
            #expect(after >= .seconds(1) && after <= .seconds(2))
            holds.insert(after.wholeNanoseconds)
            #expect(last.membership.deadline == nil)
        }
        #expect(holds.count > 10)
        for number in 1...8 {
            var other = try crowded(number, Array((1...9).filter { $0 != number }.suffix(7)), all: 1...9)
            #expect(!other.wait(.seconds(9)).contains { $0.action == .leave })
        }
    }

    @Test("a member that is within the cap again before its hold is over stays [mesh.evict]")
    func room() throws {
        var last = try crowded(9, Array(2...8), all: 1...9)
        _ = last.wait(.milliseconds(900))
        last.unlink(8, hasDeparted: true)
        #expect(last.component.count == 7)
        #expect(!last.wait(.seconds(60)).contains { $0.action == .leave })
    }

    @Test("if the surplus member stays for 10 s, the member with the fewest pairs leaves [mesh.backstop]")
    func backstop() throws {
        // 3 has a link to 2 only; 4 and 5 will not go.
        var member = try Member(3, cap: 4)
        for other in [1, 2, 4, 5] where other == 2 { member.link(peer(other)) }
        try member.hear(try entry(of: peer(2), 1, [1, 3, 4, 5].map { peer($0) }), on: 2)
        for other in [1, 4, 5] {
            let list = [1, 2, 4, 5].filter { $0 != other }.map { peer($0) }
            try member.hear(try entry(of: peer(other), 1, list), on: 2)
            member.met(peer(other))
        }
        let left = member.wait(.seconds(30)).first { $0.action == .leave }
        let after = try #require(left?.after)
        #expect(after >= .seconds(11) && after <= .seconds(12))
    }

    @Test("after 12 s the links to a surplus member that did not leave are ended [mesh.dismiss]")
    func dismissal() throws {
        // 5 and 6 cannot reach each other, so neither sees that there are too many; 6 has the fewest pairs.
        var member = try Member(1, cap: 5)
        let lists = [2: [1, 3, 4, 5], 3: [1, 2, 4, 5], 4: [1, 2, 3, 5], 5: [2, 3, 4], 6: [1]]
        for (other, list) in lists.sorted(by: { $0.key < $1.key }) {
            if other != 5 { member.link(peer(other)) }
            let news = try entry(of: peer(other), 1, list.map { peer($0) })
            try member.hear(news, on: other == 5 ? 2 : other)
        }
        let done = member.wait(.seconds(20)).filter { done in
            done.action == .dismiss(connection(6)) || done.action == .leave
        }
        #expect(done.map(\.action) == [.dismiss(connection(6))])
        #expect(done.map(\.after) == [.seconds(12)])
        member.unlink(6)
        #expect(member.held(peer(6)) == nil)
        // Entries about it in between are believed in the end: two members that ended their link wrongly link again.
        try member.hear(try entry(of: peer(6), 9, [peer(2)]), on: 2)
        _ = member.wait(.milliseconds(4_999))
        #expect(member.held(peer(6)) == nil)
        _ = member.wait(.milliseconds(1))
        #expect(member.held(peer(6)) != nil)
    }

    @Test("a member that was suspended while there were too many restarts its times [mesh.suspended]")
    func slept() throws {
        var member = try Member(1, cap: 5)
        let lists = [2: [1, 3, 4, 5], 3: [1, 2, 4, 5], 4: [1, 2, 3, 5], 5: [2, 3, 4], 6: [1]]
        for (other, list) in lists.sorted(by: { $0.key < $1.key }) {
            if other != 5 { member.link(peer(other)) }
            let news = try entry(of: peer(other), 1, list.map { peer($0) })
            try member.hear(news, on: other == 5 ? 2 : other)
        }
        #expect(!member.wait(.seconds(1)).contains { $0.action == .dismiss(connection(6)) })
        // The clock jumps over all that the others did meanwhile.
        member.now = member.now + .seconds(12)
        let done = member.wait(.seconds(20)).filter { $0.action == .dismiss(connection(6)) }
        #expect(done.map(\.after) == [.seconds(12)])
    }

    @Test(
        "a member that only one other lists does not count; one that was met or is vouched for does [mesh.counted]"
    )
    func counted() throws {
        var ann = try Member(20, cap: 4)
        let invented = (1...9).map { peer($0) }
        try ann.join([21, 22])
        try ann.hear(try entry(of: peer(22), 2, [peer(20), peer(21)] + invented), on: 22)
        for other in invented { try ann.hear(try entry(of: other, 1, [peer(22)]), on: 22) }
        #expect(ann.component.count == 11)
        #expect(!ann.wait(.seconds(60)).contains { $0.action == .leave })
        var other = ann
        ann.met(peer(1))
        ann.met(peer(2))
        #expect(!ann.wait(.milliseconds(999)).contains { $0.action == .leave })
        ann.now = ann.now + .seconds(60)
        #expect(!ann.wait(.seconds(60)).contains { $0.action == .leave })
        for number in 1...4 { ann.met(peer(number)) }
        #expect(ann.wait(.seconds(2)).contains { $0.action == .leave })
        let list = [peer(20), peer(22)] + invented.prefix(4)
        try other.hear(try entry(of: peer(21), 2, list), on: 21)
        for number in 1...4 {
            try other.hear(try entry(of: peer(number), 2, [peer(21), peer(22)]), on: 22)
        }
        #expect(other.wait(.seconds(2)).contains { $0.action == .leave })
    }

    @Test("two instances of one peer count as one member [mesh.counted]")
    func instances() throws {
        var ann = try Member(9, cap: 3)
        try ann.join([1, 2])
        let list = [peer(9), peer(2), peer(1, 1), peer(2, 1)]
        try ann.hear(try entry(of: peer(1), 2, list), on: 1)
        for other in [peer(1, 1), peer(2, 1)] {
            try ann.hear(try entry(of: other, 1, [peer(1)]), on: 1)
            ann.met(other)
        }
        #expect(ann.component.count == 4)
        #expect(!ann.wait(.seconds(60)).contains { $0.action == .leave })
    }
}
