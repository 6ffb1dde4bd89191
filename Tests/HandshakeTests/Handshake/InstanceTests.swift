import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("6.5 Another instance of a linked peer", .computing)
struct InstanceTests {
    /// Peer 0 linked with 1; 2 has the uid of 1.
    private func impostor(lower: Bool) throws -> SimulatedSessions {
        let (victim, real) = lower ? (0, 1) : (1, 0)
        let trio = try SimulatedSessions([.optional, .optional, .optional], twin: real, seed: 1)
        try trio.data(from: real, for: victim)
        try trio.connect(victim, to: real)
        try trio.connect(real, to: victim)
        trio.run(for: .seconds(10))
        #expect(trio.areLinked(victim, real))
        return trio
    }

    @Test(
        "while the old link answers, a new instance gets BUSY, and its attempt times out [stale.busy]",
        arguments: [true, false])
    func busy(_ isLower: Bool) throws {
        let trio = try impostor(lower: isLower)
        let (victim, real) = isLower ? (0, 1) : (1, 0)
        #expect(try trio.connect(victim, to: 2))
        try trio.connect(2, to: victim)
        trio.run(for: .seconds(40))
        #expect(trio.areLinked(victim, real), "a live peer is not evicted")
        #expect(trio.nodes[2].heard.contains(.busy))
        #expect(trio.nodes[2].links.isEmpty)
        #expect(trio.nodes[victim].failures(of: trio.nodes[2].uid) == [.timedOut(.refused(.busy))])
        #expect(trio.nodes.allSatisfy { $0.open.isEmpty })
        #expect(trio.complaints.isEmpty)
    }

    @Test("a new instance that the application refuses leaves the old link alone [stale.busy] [trust.once]")
    func rejected() throws {
        let trio = try impostor(lower: true)
        trio.nodes[0].trust = .no
        try trio.connect(0, to: 2)
        try trio.connect(2, to: 0)
        trio.run(for: .seconds(5))
        #expect(trio.areLinked(0, 1))
        #expect(trio.nodes[0].failures(of: trio.nodes[2].uid) == [.refused(.rejected)])
        trio.run(for: .seconds(60))
        let connection = try #require(trio.linkedConnection(0, 1))
        trio.kill(connection)
        trio.run(for: .seconds(1))
        try trio.connect(0, to: 1)
        try trio.connect(1, to: 0)
        trio.run(for: .seconds(5))
        #expect(!trio.areLinked(0, 1), "the application still refuses")
        #expect(trio.complaints.isEmpty)
    }

    @Test("cancelling the attempt to a new instance leaves the old link alone [link.cancel]")
    func cancelled() throws {
        let trio = try impostor(lower: true)
        try trio.connect(0, to: 2)
        trio.run(for: .seconds(3))
        trio.cancel(0, 2)
        #expect(trio.nodes[0].failures(of: trio.nodes[2].uid) == [.cancelled])
        trio.run(for: .seconds(60))
        #expect(trio.areLinked(0, 1))
    }

    @Test(
        "a peer that restarted without a goodbye is linked once the old link does not answer [stale.busy]",
        arguments: [0, 1])
    func restarted(_ victim: Int) throws {
        let pair = try SimulatedSessions(seed: 1)
        try pair.data(from: 1, for: 0)
        try pair.connect(0, to: 1)
        try pair.connect(1, to: 0)
        pair.run(for: .seconds(60))
        pair.restart(victim, isSilent: true)
        try pair.connect(victim, to: 1 - victim)
        try pair.connect(1 - victim, to: victim)
        pair.run(for: .seconds(5))
        #expect(pair.areLinked(0, 1), "\(pair.nodes.map(\.events))")
        #expect(pair.complaints.isEmpty)
    }

    @Test(
        "when the old link ends during the attempt to the new instance, the attempt goes on [stale.busy]",
        arguments: [0, 1])
    func oldLinkEnds(_ victim: Int) throws {
        let pair = try SimulatedSessions(seed: 1)
        try pair.data(from: 1, for: 0)
        try pair.connect(0, to: 1)
        try pair.connect(1, to: 0)
        pair.run(for: .seconds(60))
        pair.restart(victim, isSilent: true)
        let old = try #require(pair.connections.indices.last)
        try pair.data(from: victim, for: 1 - victim)
        try pair.connect(1 - victim, to: victim)
        pair.run(for: .seconds(4))
        pair.notice(old, pair.connections[old].nodes[0] == victim ? 1 : 0, after: .zero)
        pair.run(for: .seconds(1))
        try pair.connect(victim, to: 1 - victim)
        pair.run(for: .seconds(10))
        #expect(pair.areLinked(0, 1), "\(pair.nodes.map(\.events))")
        #expect(pair.complaints.isEmpty)
    }

    @Test(
        "a link that is an hour old is replaced, too, long after its attempt's deadline [stale.probe] [link.deadline]"
    )
    func anHourLater() throws {
        let pair = try SimulatedSessions(seed: 1)
        for one in [0, 1] { try pair.data(from: one, for: 1 - one) }
        for one in [0, 1] { try pair.connect(one, to: 1 - one) }
        pair.run(for: .seconds(3_600))
        let connection = try #require(pair.linkedConnection(0, 1))
        pair.silence(connection)
        pair.notice(connection, pair.connections[connection].nodes[0] == 1 ? 0 : 1, after: .zero)
        pair.run(for: .milliseconds(1))
        try pair.connect(1, to: 0)
        pair.run(for: .seconds(5))
        #expect(pair.areLinked(0, 1), "\(pair.nodes.map(\.events))")
        #expect(pair.nodes[0].failures(of: pair.nodes[1].uid).isEmpty)
        #expect(pair.complaints.isEmpty)
    }
}
