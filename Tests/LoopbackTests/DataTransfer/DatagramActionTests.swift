import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("10 Datagram actions of the engine", .computing)
struct DatagramActionTests {
    @Test("an end without datagrams declines once, however often it receives an offer [dgram.offer]")
    func declines() throws {
        let pair = try EnginePair(bobs: false)
        #expect(pair.ann.takeOrders().isEmpty, "bob's data does not speak of datagrams")
        let other = try EnginePair()
        try other.bob.engine.datagramPort(other.bob.id(), nil, at: other.bob.now)
        try other.ann.engine.datagramPort(other.ann.id(), 4_000, at: other.ann.now)
        _ = other.bob.takeOrders()
        for association in UInt64(1)...3 {
            try other.ann.engine.datagramAssociation(other.ann.id(), association, at: other.ann.now)
            other.settle()
            let drawn = other.bob.takeOrders().count { if case .draw = $0 { true } else { false } }
            #expect(drawn == (association == 1 ? 1 : 0))
            guard drawn > 0 else { continue }
            try other.bob.engine.datagramAssociation(other.bob.id(), 9, at: other.bob.now)
            other.settle()
        }
        #expect(!other.ann.takeOrders().contains { if case .begin = $0 { true } else { false } })
        #expect(other.ann.encode([1]) == nil)
    }

    @Test("a number that is 0 or in use is drawn again [dgram.offer]")
    func numbers() throws {
        let ann = try EnginePair().ann
        try ann.engine.datagramPort(ann.id(), 4_000, at: ann.now)
        #expect(ann.takeOrders().map(\.name) == ["open", "draw"])
        for (number, orders) in [(0, ["draw"]), (7, []), (7, ["draw"]), (8, [])] as [(UInt64, [String])] {
            try ann.engine.datagramAssociation(ann.id(), number, at: ann.now)
            #expect(ann.takeOrders().map(\.name) == orders)
        }
        #expect(ann.engine.datagrams.admit(DatagramHeader(.plain, association: 7)) == nil)
    }

    @Test("an offer that arrives before the port is known waits for it [dgram.restart]")
    func early() throws {
        let pair = try EnginePair()
        try pair.bob.engine.datagramPort(pair.bob.id(), 4_000, at: pair.bob.now)
        try pair.bob.engine.datagramAssociation(pair.bob.id(), 7, at: pair.bob.now)
        pair.settle()
        #expect(pair.ann.takeOrders().map(\.name) == ["open"])
        try pair.ann.engine.datagramPort(pair.ann.id(), 4_001, at: pair.ann.now)
        try pair.ann.engine.datagramAssociation(pair.ann.id(), 8, at: pair.ann.now)
        #expect(pair.ann.takeOrders().map(\.name) == ["draw", "begin"])
    }

    @Test("a peer's unread data is bounded, and there is room when it is read [limit.datagrams]")
    func unread() throws {
        let pair = try linked()
        let message = [UInt8](repeating: 1, count: Limits.datagramMessage)
        let most = 1_048_576 / MessageCredit.cost(message.count)
        for number in 0..<(most + 20) {
            #expect(pair.bob.receive(try #require(pair.ann.encode(message))) == (number < most))
        }
        try pair.bob.engine.links.consumedDatagrams(2 * MessageCredit.cost(message.count), on: pair.bob.id())
        for isTaken in [true, true, false] {
            #expect(pair.bob.receive(try #require(pair.ann.encode(message))) == isTaken)
        }
    }

    @Test("a session that leaves sends what is queued, and diverts no message to the path [dgram.fallback]")
    func leaves() throws {
        let (pair, other) = (try linked(), try linked())
        #expect(try pair.ann.engine.links.divert([[1]], on: pair.ann.id()))
        other.ann.engine.leave(within: .seconds(1), at: other.ann.now)
        #expect(other.ann.takeOrders().map(\.name) == ["finish"])
        #expect(try !other.ann.engine.links.divert([[1]], on: other.ann.id()))
    }

    @Test("nothing is accepted, sent or requested for a link that has ended [dgram.drop]")
    func over() throws {
        let pair = try linked()
        let header = DatagramHeader(.plain, association: 7)
        #expect(pair.ann.engine.datagrams.admit(header) === pair.ann.peer)
        let content = try #require(pair.bob.encode([1]))
        pair.ann.engine.abandon(at: pair.ann.now)
        #expect(pair.ann.engine.datagrams.admit(header) == nil)
        #expect(!pair.ann.receive(content))
        #expect(pair.ann.encode([1]) == nil)
        #expect(pair.ann.takeOrders().isEmpty)
    }

    @Test(
        "an idle link wakes each end twice for each of its PINGs, pings of the path included [live.ping] [dgram.path]"
    )
    func idle() throws {
        let pair = try linked()
        pair.idle(for: .seconds(30))
        let before = [pair.ann.wakeups, pair.bob.wakeups]
        pair.idle(for: .seconds(57))
        // One PING every 2.85 s: the time is up, and an answer; the PING, and an answer.
        #expect([pair.ann.wakeups - before[0], pair.bob.wakeups - before[1]] == [40, 40])
        for peer in [pair.ann.peer, pair.bob.peer] { #expect(peer?.link.statistics.roundTrip != nil) }
        #expect(pair.ann.encode([1]) != nil && pair.bob.encode([1]) != nil)
    }

    /// Returns two engines whose path is up.
    private func linked() throws -> EnginePair {
        let pair = try EnginePair()
        for (side, number) in [(pair.ann, UInt64(7)), (pair.bob, 8)] {
            try side.engine.datagramPort(side.id(), 4_000, at: side.now)
            try side.engine.datagramAssociation(side.id(), number, at: side.now)
        }
        pair.settle()
        for side in [pair.ann, pair.bob] { try #require(side.takeOrders().last?.name == "up") }
        return pair
    }
}

extension DatagramAction {
    fileprivate var name: String {
        switch self {
        case .open: "open"
        case .draw: "draw"
        case .begin: "begin"
        case .drop: "drop"
        case .retransmit: "retransmit"
        case .send: "send"
        case .up: "up"
        case .down: "down"
        case .finish: "finish"
        }
    }
}
