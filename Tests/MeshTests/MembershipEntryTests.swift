import FuzzBodies
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import TestSupport
import Testing

@Suite("11 Entries of the mesh", .computing)
struct MembershipEntryTests {
    @Test("an entry that no honest member sends ends the link, and changes nothing [mesh.entry]")
    func flaws() throws {
        let (two, three, four) = (peer(2), peer(3), peer(4))
        let good = try MeshFixture.data(of: two).bytes
        let open = try MeshFixture.data(of: two, flags: []).bytes
        let addressed = try MeshFixture.data(of: two, for: three.uid).bytes
        let crowd = (3...34).map { peer($0) }
        let cases: [([Endpoint], [UInt8], EntryViolation)] = [
            ([four, three], good, .members), ([three, three], good, .members), ([two], good, .members),
            (crowd, good, .members), ([], [], flaw(.size(0))),
            ([], Array(good.dropLast()), flaw(.length(stated: good.count, actual: good.count - 1))),
            ([], try MeshFixture.data(of: three).bytes, .foreignData),
            ([], try MeshFixture.data(of: peer(2, 1)).bytes, .foreignData), ([], open, .foreignData),
            ([], addressed, .foreignData),
        ]
        for (members, blob, flaw) in cases {
            var ann = try Member(1)
            ann.link(two)
            let entry = Members(origin: two, sequence: 1, members: members, blob: blob)
            #expect(throws: Violation.badEntry(flaw)) { try ann.hear(entry, on: 2) }
            #expect(ann.held(two) == nil)
        }
        #expect(Violation.badEntry(.members).closeCode == .protocolError)
        var ann = try Member(1)
        ann.link(two)
        try ann.hear(try entry(of: two, 1, Array(crowd.prefix(31))), on: 2)
        #expect(ann.held(two)?.members.count == 31)
    }

    private func flaw(_ data: InvalidConnectionData) -> EntryViolation { .data("\(data)") }

    @Test("a link outside the mesh carries no entry and is in none [mesh.plain]")
    func direct() throws {
        var ann = try Member(1)
        ann.link(peer(2), isMesh: false)
        ann.link(peer(3))
        #expect(ann.own?.members == [peer(3)])
        #expect(ann.component == [peer(3)])
        #expect(ann.take().told(on: 2).isEmpty)
        let news = try entry(of: peer(2), 1, [])
        #expect(throws: Violation.outOfPlace(.members)) { try ann.hear(news, on: 2) }
        #expect(Violation.outOfPlace(.members).closeCode == .protocolError)
    }

    @Test("a higher sequence replaces an entry; an equal or lower one does not [mesh.newer]")
    func newer() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        let (four, five) = (try entry(of: peer(9), 4, [peer(2)]), try entry(of: peer(9), 5, []))
        try ann.hear(four, on: 2)
        try ann.hear(try entry(of: peer(9), 4, [peer(7)]), on: 2)
        #expect(ann.held(peer(9)) == four)
        try ann.hear(five, on: 2)
        try ann.hear(four, on: 2)
        #expect(ann.held(peer(9)) == five)
        try ann.hear(try entry(of: peer(9), .max, []), on: 2)
        try ann.hear(try entry(of: peer(9), 0, [peer(2)]), on: 2)
        #expect(ann.held(peer(9))?.sequence == .max)
    }

    @Test(
        "a neighbour's entry is accepted only over its own link, whatever was received before [mesh.first-hand]"
    )
    func firstHand() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        let hearsay = try entry(of: peer(3), 5, [peer(2)])
        try ann.hear(hearsay, on: 2)
        #expect(ann.held(peer(3)) == hearsay)
        ann.link(peer(3))
        let truth = try entry(of: peer(3), 1, [peer(1)])
        try ann.hear(truth, on: 3)
        try ann.hear(hearsay, on: 2)
        #expect(ann.held(peer(3)) == truth)
        // Once the link is gone, entries that came in between count, and newer ones.
        ann.unlink(3)
        #expect(ann.held(peer(3)) == hearsay)
        try ann.hear(try entry(of: peer(3), 5, []), on: 2)
        #expect(ann.held(peer(3)) == hearsay)
        let later = try entry(of: peer(3), 6, [peer(2)])
        try ann.hear(later, on: 2)
        #expect(ann.held(peer(3)) == later)
    }

    @Test("others' entries of a neighbour are kept, even if it has sent none itself [mesh.first-hand]")
    func hearsayOfSilent() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        ann.link(peer(3))
        let hearsay = try entry(of: peer(3), 5, [peer(2)])
        try ann.hear(hearsay, on: 2)
        #expect(ann.held(peer(3)) == nil)
        try ann.hear(try entry(of: peer(3), 4, []), on: 2)
        ann.unlink(3)
        #expect(ann.held(peer(3)) == hearsay)
        // Entries about a member that has said goodbye are not believed, now or later.
        ann.link(peer(4))
        try ann.hear(try entry(of: peer(4), 5, [peer(2)]), on: 2)
        ann.unlink(4, hasDeparted: true)
        #expect(ann.held(peer(4)) == nil)
        ann.link(peer(4), as: 5)
        ann.unlink(5)
        #expect(ann.held(peer(4)) == nil)
    }

    @Test(
        "the own entry's sequence begins with 1 and grows by 1 with every change of links or data [mesh.own]")
    func own() throws {
        var ann = try Member(1, isPublished: false)
        #expect(ann.own == nil)
        ann.membership.publish(try MeshFixture.data(of: ann.endpoint), at: ann.now)
        #expect(ann.own == (try entry(of: peer(1), 1, [])))
        ann.membership.publish(try MeshFixture.data(of: ann.endpoint), at: ann.now)
        #expect(ann.own?.sequence == 1)
        ann.link(peer(3))
        ann.link(peer(2))
        #expect(ann.own == (try entry(of: peer(1), 3, [peer(2), peer(3)])))
        ann.link(peer(4), isMesh: false)
        #expect(ann.own?.sequence == 3)
        ann.unlink(3)
        #expect(ann.own == (try entry(of: peer(1), 4, [peer(2)])))
        ann.membership.publish(try MeshFixture.data(of: ann.endpoint, variant: 1), at: ann.now)
        #expect(ann.own == (try entry(of: peer(1), 5, [peer(2)], variant: 1)))
    }

    @Test("a forged own entry is superseded, unless that would exhaust the numbers [mesh.own]")
    func ownComesBack() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        _ = ann.take()
        let right = try #require(ann.own)
        try ann.hear(right, on: 2)
        try ann.hear(try entry(of: peer(1), 1, []), on: 2)
        #expect(ann.own == right)
        #expect(ann.take().isEmpty)
        try ann.hear(try entry(of: peer(1), 2, []), on: 2)
        #expect(ann.own?.sequence == 3)
        #expect(ann.own?.members == [peer(2)])
        #expect(ann.take().told(on: 2) == [peer(1)])
        for sequence in [1 << 31, .max] as [UInt32] {
            try ann.hear(try entry(of: peer(1), sequence, []), on: 2)
            #expect(ann.own?.sequence == 3)
        }
        try ann.hear(try entry(of: peer(1), 1 << 31 - 1, []), on: 2)
        #expect(ann.own?.sequence == 0x8000_0000)
        ann.link(peer(3))
        #expect(ann.own?.sequence == 0x8000_0001)
    }

    @Test("an entry of another instance of the own peer is kept, but it is not dialled [mesh.same-uid]")
    func otherInstance() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        try ann.hear(try entry(of: peer(2), 1, [peer(1), peer(1, 1)]), on: 2)
        try ann.hear(try entry(of: peer(1, 1), 7, [peer(2)]), on: 2)
        #expect(ann.held(peer(1, 1))?.sequence == 7)
        #expect(ann.own?.sequence == 2)
        #expect(ann.component == [peer(1, 1), peer(2)])
        #expect(ann.wait(.seconds(60)).map(\.action).connects.isEmpty)
    }
}
