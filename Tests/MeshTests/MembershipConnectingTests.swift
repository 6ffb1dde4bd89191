import FuzzBodies
import MultipeerCore
import MultipeerMesh
import TestSupport
import Testing

@Suite("11 Dialling members", .computing)
struct MembershipConnectingTests {
    /// Returns member 1, linked to 2, which has links to these others.
    private func member(among others: [Int], cap: Int = 8, seed: UInt64 = 1) throws -> Member {
        var ann = try Member(1, cap: cap, seed: seed)
        ann.link(peer(2))
        try ann.hear(try entry(of: peer(2), 1, [peer(1)] + others.map { peer($0) }), on: 2)
        for other in others { try ann.hear(try entry(of: peer(other), 1, [peer(2)]), on: 2) }
        return ann
    }

    @Test("members without a link are dialled with the data of their entry, once [mesh.dial]")
    func connect() throws {
        var ann = try member(among: [3, 4])
        let (three, four) = (try MeshFixture.data(of: peer(3)), try MeshFixture.data(of: peer(4)))
        let connects = ann.take().filter { if case .connect = $0 { true } else { false } }
        #expect(connects == [.connect(three, isFirst: true), .connect(four, isFirst: true)])
        #expect(ann.wait(.seconds(29)).map(\.action).connects.isEmpty)
    }

    @Test("a peer with any link is not dialled [mesh.dial]")
    func anyLink() throws {
        var ann = try member(among: [3, 4, 5])
        ann.link(peer(3), isMesh: false)
        ann.link(peer(4))
        #expect(ann.take().connects == [peer(5)])
    }

    @Test("a link that replaces another at once causes no dial [mesh.dial]")
    func superseded() throws {
        var ann = try Member(1)
        try ann.join([2, 3])
        _ = ann.wait(.seconds(60))
        ann.unlink(3)
        ann.link(peer(3), as: 13)
        #expect(ann.take().connects.isEmpty)
    }

    @Test("at most twice the cap are dialled at once, and then the one that waited longest [mesh.dial]")
    func crowd() throws {
        var ann = try member(among: Array(3...9), cap: 3)
        #expect(ann.take().connects == (3...8).map { peer($0) })
        ann.failed(5)
        #expect(ann.take().connects == [peer(9)])
        ann.failed(4)
        #expect(ann.wait(.seconds(3)).map(\.action).connects.count == 1)
    }

    @Test("after a failure it pauses for 1 s, then 2 s, ± 50 % [mesh.retry] [mesh.unreported]")
    func pauses() throws {
        var pauses: [[Duration]] = [[], [], [], [], []]
        for seed in 0..<40 as Range<UInt64> {
            var ann = try member(among: [3], seed: seed)
            #expect(ann.take().first == [true])
            for attempt in pauses.indices {
                ann.failed(3)
                let next = ann.wait(.seconds(6))
                #expect(next.map(\.action).first == [false])
                pauses[attempt] += next.map(\.after)
            }
        }
        for (attempt, seconds) in [1, 2, 2, 2, 2].enumerated() {
            let range = pauses[attempt]
            #expect(
                range.allSatisfy {
                    $0 >= .milliseconds(500 * seconds) && $0 <= .milliseconds(1_500 * seconds)
                })
        }
    }

    @Test("an attempt that can never succeed is not repeated with the same data [mesh.dial]")
    func hopeless() throws {
        var ann = try member(among: [3])
        _ = ann.take()
        ann.failed(3, isHopeless: true)
        #expect(ann.wait(.seconds(600)).map(\.action).connects.isEmpty)
        try ann.hear(try entry(of: peer(3), 2, [peer(2)], variant: 1), on: 2)
        #expect(ann.take().connects == [peer(3)])
    }

    @Test("newer data replaces an attempt that has lasted 5 s [mesh.dial]")
    func freshData() throws {
        var ann = try member(among: [3])
        _ = ann.take()
        _ = ann.wait(.seconds(2))
        try ann.hear(try entry(of: peer(3), 2, [peer(2)], variant: 1), on: 2)
        let done = ann.wait(.seconds(10)).filter { !$0.action.isTold }
        #expect(
            done.map(\.action) == [.connect(try MeshFixture.data(of: peer(3), variant: 1), isFirst: false)])
        #expect(done.map(\.after) == [.seconds(3)])
    }

    @Test("the new instance of a peer is dialled instead of the old one, linked or not [mesh.dial]")
    func restarted() throws {
        var ann = try member(among: [3])
        #expect(ann.take().connects == [peer(3)])
        try ann.hear(try entry(of: peer(2), 2, [peer(1), peer(3), peer(3, 1)]), on: 2)
        try ann.hear(try entry(of: peer(3, 1), 1, [peer(2)]), on: 2)
        let next = ann.take()
        #expect(next.connects == [peer(3, 1)])
        #expect(!next.contains(.withdraw(peer(3).uid)))
        ann.link(peer(3, 1))
        #expect(ann.wait(.seconds(60)).map(\.action).connects.isEmpty)
    }

    @Test("an attempt that a link to another instance replaced is repeated [mesh.dial]")
    func linkedToTheOtherInstance() throws {
        var ann = try member(among: [3])
        _ = ann.take()
        try ann.hear(try entry(of: peer(2), 2, [peer(1), peer(3), peer(3, 1)]), on: 2)
        try ann.hear(try entry(of: peer(3, 1), 1, [peer(2)]), on: 2)
        #expect(ann.take().connects == [peer(3, 1)])
        // Made with data of the application, which were used instead.
        ann.link(peer(3))
        let next = ann.wait(.seconds(6)).filter { !$0.action.isTold }
        #expect(next.map(\.action).connects == [peer(3, 1)])
        #expect(next.allSatisfy { $0.after >= .milliseconds(500) && $0.after <= .milliseconds(1_500) })
    }

    @Test("a lost peer is dialled again at once, and later if its links do not last [mesh.dial]")
    func lost() throws {
        var ann = try member(among: [3])
        ann.link(peer(3))
        try ann.hear(try entry(of: peer(3), 2, [peer(1), peer(2)]), on: 3)
        _ = ann.wait(.seconds(30))
        ann.unlink(3)
        #expect(ann.take().first == [true])
        var waits: [Duration] = []
        for number in 21...24 {
            ann.link(peer(3), as: number)
            ann.unlink(number)
            waits += ann.wait(.seconds(6)).filter { if case .connect = $0.action { true } else { false } }
                .map(
                    \.after)
        }
        #expect(waits.count == 4)
        #expect(waits.allSatisfy { $0 >= .milliseconds(500) && $0 <= .milliseconds(1_500) })
    }

    @Test("an attempt to a peer that is no longer in the mesh is withdrawn [mesh.withdraw]")
    func withdraw() throws {
        var ann = try member(among: [3, 4])
        _ = ann.take()
        try ann.hear(try entry(of: peer(2), 2, [peer(1), peer(4)]), on: 2)
        #expect(ann.take().filter { !$0.isTold } == [.withdraw(peer(3).uid)])
        try ann.hear(try entry(of: peer(2), 3, [peer(1), peer(3), peer(4)]), on: 2)
        #expect(ann.take().connects.isEmpty)
        #expect(ann.wait(.seconds(2)).map(\.action).first == [true])
    }

    @Test("a pause is not withdrawn, for no attempt is in progress [mesh.withdraw]")
    func pausing() throws {
        var ann = try member(among: [3])
        _ = ann.take()
        ann.failed(3)
        try ann.hear(try entry(of: peer(2), 2, [peer(1)]), on: 2)
        #expect(ann.wait(.seconds(5)).map(\.action).filter { !$0.isTold }.isEmpty)
    }
}

extension Membership.Action {
    fileprivate var isTold: Bool { if case .tell = self { true } else { false } }
}
