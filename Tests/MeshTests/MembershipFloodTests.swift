import MultipeerCore
import MultipeerFraming
import MultipeerLink
import MultipeerMesh
import TestSupport
import Testing

@Suite("11 Flooding", .computing)
struct MembershipFloodTests {
    @Test("a new mesh link receives the own entry first, and then all others [mesh.flood]")
    func everything() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        try ann.hear(try entry(of: peer(2), 1, [peer(1)]), on: 2)
        try ann.hear(try entry(of: peer(9), 1, []), on: 2)
        try ann.hear(try entry(of: peer(4), 1, []), on: 2)
        _ = ann.take()
        ann.link(peer(3))
        let told = ann.take()
        #expect(told.told(on: 3) == [peer(1), peer(2), peer(4), peer(9)])
        #expect(told.told(on: 2) == [peer(1)])
    }

    @Test("new entries are forwarded to all other mesh links, and only new ones [mesh.flood]")
    func news() throws {
        var ann = try Member(1)
        for number in [2, 3, 4] { ann.link(peer(number)) }
        ann.link(peer(5), isMesh: false)
        _ = ann.take()
        let news = try entry(of: peer(9), 2, [])
        try ann.hear(news, on: 3)
        #expect(ann.take() == [.tell(connection(2), news), .tell(connection(4), news)])
        try ann.hear(news, on: 2)
        try ann.hear(try entry(of: peer(9), 1, []), on: 4)
        #expect(ann.take().isEmpty)
    }

    @Test(
        "hearsay about a new neighbour is sent to it, so that it can supersede that [mesh.flood] [mesh.own]")
    func correction() throws {
        var (ann, bob) = (try Member(1), try Member(2))
        ann.link(peer(3))
        try ann.hear(try entry(of: peer(2), 1_000, [peer(3)]), on: 3)
        ann.link(peer(2))
        bob.link(peer(1))
        for case .tell(connection(2), let entry) in ann.take() { try bob.hear(entry, on: 1) }
        #expect(bob.own?.sequence == 1_001)
        for case .tell(_, let entry) in bob.take() where entry.origin == bob.endpoint {
            try ann.hear(entry, on: 2)
        }
        #expect(ann.held(peer(2)) == bob.own)
        #expect(ann.take().told(on: 3).contains(peer(2)))
    }

    @Test("a link is sent 32 entries at once and then 15 each second, always the latest [mesh.rate-limit]")
    func sending() throws {
        var ann = try Member(1, cap: 16)
        for number in [2, 3] { ann.link(peer(number)) }
        _ = ann.wait(.seconds(10))
        var told = 0
        for round in 1...10 as ClosedRange<UInt32> {
            for number in 11...30 { try ann.hear(try entry(of: peer(number), round, []), on: 2) }
            told += ann.take().told(on: 3).count
        }
        #expect(told == 32)
        let rest = ann.wait(.seconds(1))
        #expect(rest.map(\.action).told(on: 3).count == 15)
        let last = ann.wait(.seconds(10)).map(\.action)
        #expect(last.told(on: 3).count == 5)
        for case .tell(_, let entry) in rest.map(\.action) + last { #expect(entry.sequence == 10) }
    }

    @Test("the own entry does not wait for others' [mesh.rate-limit]")
    func ownFirst() throws {
        var ann = try Member(1, cap: 16)
        for number in [2, 3] { ann.link(peer(number)) }
        for round in 1...3 as ClosedRange<UInt32> {
            for number in 11...30 { try ann.hear(try entry(of: peer(number), round, []), on: 2) }
            _ = ann.take()
        }
        ann.link(peer(4))
        #expect(ann.wait(.seconds(1)).map(\.action).told(on: 3).first == peer(1))
    }

    @Test("more than 256 entries at once, or 20 each second, are a flood [mesh.rate-limit]")
    func receiving() throws {
        var ann = try Member(1)
        ann.link(peer(2))
        let news = try entry(of: peer(9), 1, [])
        for _ in 0..<256 { try ann.hear(news, on: 2) }
        #expect(throws: Violation.tooManyEntries) { try ann.hear(news, on: 2) }
        #expect(Violation.tooManyEntries.closeCode == .flood)
        ann.now = ann.now + .seconds(1)
        for _ in 0..<20 { try ann.hear(news, on: 2) }
        #expect(throws: Violation.tooManyEntries) { try ann.hear(news, on: 2) }
    }
}
