import FuzzBodies
import MultipeerCore
import MultipeerMesh
import TestSupport
import Testing

@Suite("11 Members whose link was lost", .computing)
struct MembershipMissingTests {
    /// Returns member 1, which was linked to these, and has just lost the last of them, for more than 30 s.
    private func member(losing others: [Int]) throws -> Member {
        var ann = try Member(1)
        try ann.join(others)
        _ = ann.wait(.seconds(31))
        for other in others { ann.unlink(other, isLost: true) }
        return ann
    }

    @Test("the only other member is dialled for 600 s, again at once after a timeout [mesh.missed]")
    func missed() throws {
        var bob = try member(losing: [2])
        #expect(bob.component.isEmpty)
        for _ in 0..<19 {
            let dial = bob.take().filter { $0.isAboutDials }
            #expect(dial == [.connect(try MeshFixture.data(of: peer(2)), isFirst: false)])
            #expect(bob.wait(.seconds(30)).map(\.action).filter(\.isAboutDials).isEmpty)
            bob.failed(2, .timedOut)
        }
        #expect(bob.take().connects == [peer(2)])
        #expect(bob.held(peer(2)) != nil)
        let done = bob.wait(.seconds(60)).filter { $0.action.isAboutDials }
        #expect(done.map(\.action) == [.withdraw(peer(2).uid)] && done.map(\.after) == [.seconds(30)])
        #expect(bob.held(peer(2)) == nil && bob.membership.deadline == nil)
    }

    @Test("an attempt is hidden when its member leaves the component [mesh.unreported] [mesh.missed]")
    func hidden() throws {
        var ann = try Member(1)
        try ann.join([2, 3])
        _ = ann.wait(.seconds(31))
        ann.unlink(3, isLost: true)
        #expect(ann.take().first == [true])
        try ann.hear(try entry(of: peer(2), 2, [peer(1)]), on: 2)
        #expect(ann.take().filter(\.isAboutDials) == [.hide(peer(3).uid)])
        ann.failed(3, .timedOut)
        #expect(ann.take().first == [false])
        #expect(ann.wait(.seconds(29)).filter { $0.action.isAboutDials }.isEmpty)
    }

    @Test("a link that ended by a code, or a direct one, leaves no one to miss [mesh.missed]")
    func wanted() throws {
        for (isLost, isMesh) in [(false, true), (true, false)] {
            var ann = try Member(1)
            ann.link(peer(2), isMesh: isMesh)
            if isMesh { try ann.hear(try entry(of: peer(2), 1, [peer(1)]), on: 2) }
            _ = ann.wait(.seconds(31))
            ann.unlink(2, isLost: isLost)
            #expect(ann.wait(.seconds(100)).map(\.action).connects.isEmpty)
        }
    }

    @Test("one that departs, refuses, or three times does not know this session is gone [mesh.missed]")
    func refused() throws {
        var ann = try member(losing: [2])
        #expect(ann.take().connects == [peer(2)])
        for round in 1...3 {
            ann.failed(2, .unexpected)
            #expect(ann.take().connects.count == (round < 3 ? 1 : 0))
        }
        ann = try member(losing: [2])
        #expect(ann.take().connects == [peer(2)])
        ann.failed(2, .refused)
        #expect(ann.wait(.seconds(600)).map(\.action).connects.isEmpty)
        ann = try member(losing: [2])
        #expect(ann.take().connects == [peer(2)])
        ann.link(peer(2), as: 12)
        ann.unlink(12, hasDeparted: true)
        #expect(ann.wait(.seconds(600)).map(\.action).connects.isEmpty)
    }

    @Test("where there is no room the next attempt begins 10 s later [mesh.missed]")
    func full() throws {
        var ann = try member(losing: [2])
        #expect(ann.take().connects == [peer(2)])
        ann.failed(2, .full)
        let done = ann.wait(.seconds(30)).filter { $0.action.isAboutDials }
        #expect(done.map(\.after) == [.seconds(10)])
    }

    @Test("a link to a later instance takes the place of the missed one [mesh.missed]")
    func restarted() throws {
        var ann = try member(losing: [2, 3])
        #expect(ann.take().connects == [peer(2), peer(3)])
        ann.link(peer(2, 1), as: 12)
        ann.unlink(12)
        #expect(!ann.wait(.seconds(600)).map(\.action).connects.contains(peer(2)))
    }

    @Test("half of the places for attempts are kept for members [mesh.dial]")
    func crowd() throws {
        var ann = try Member(1, cap: 3)
        for other in 2...9 {
            ann.link(peer(other))
            try ann.hear(try entry(of: peer(other), 1, [peer(1)]), on: other)
            ann.now = ann.now + .seconds(31)
            ann.unlink(other, isLost: true)
        }
        #expect(ann.take().connects == (2...4).map { peer($0) })
        ann.failed(3, .timedOut)
        #expect(ann.take().connects == [peer(5)])
        ann.link(peer(10))
        try ann.hear(try entry(of: peer(10), 1, [peer(1), peer(11), peer(12)]), on: 10)
        for other in [11, 12] { try ann.hear(try entry(of: peer(other), 1, [peer(10)]), on: 10) }
        #expect(ann.take().connects == [peer(11), peer(12)])
    }

    @Test("when 32 entries are held, that of a missed member is the last one outside to go [mesh.entries]")
    func entries() throws {
        var ann = try member(losing: [2])
        ann.link(peer(3))
        try ann.hear(try entry(of: peer(3), 1, [peer(1)]), on: 3)
        for other in 10...38 { try ann.hear(try entry(of: peer(other), 1, []), on: 3) }
        for other in 39...60 { try ann.hear(try entry(of: peer(other), 1, []), on: 3) }
        #expect(ann.held(peer(2)) != nil && ann.membership.entries.count == 32)
    }
}

extension Membership.Action {
    fileprivate var isAboutDials: Bool { if case .tell = self { false } else { true } }
}
