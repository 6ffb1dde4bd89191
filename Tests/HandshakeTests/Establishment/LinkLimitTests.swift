import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("15 Limits of links", .computing)
struct LinkLimitTests {
    /// Returns open data of the unknown peer with this number, and open data of ours for it to name.
    private func data(of number: UInt64, for stage: inout Stage) throws -> ConnectionData {
        _ = try stage.machine.connectionData(
            for: nil, candidates: [Stage.address(1)], token: stage.random.bytes(32), at: stage.now)
        let stranger = try Stage.local("stranger", high: 100 + number, instance: number, .optional)
        return try Stage.issue(stranger, for: nil, [Stage.address(3)], &stage.random, at: stage.now)
    }

    @Test("32 peers are expected, and a 33rd is refused until one is cancelled [limit.expected]")
    func awaited() throws {
        var stage = try Stage()
        for number in UInt64(0)..<32 { try stage.connect(data(of: number, for: &stage)) }
        let one = try data(of: 32, for: &stage)
        #expect(throws: LinkEstablishment.Refusal.tooManyExpectedPeers) {
            try stage.machine.connect(with: one, zones: [], at: stage.now)
        }
        stage.machine.cancel(UID(high: 100, low: 0), at: stage.now)
        #expect(stage.machine.takeActions().failures == [.cancelled])
        try stage.connect(one)
    }

    @Test(
        "seven peers link and the eighth is refused with FULL, at both ends [limit.links]",
        arguments: 0..<5)
    func eighth(_ seed: UInt64) throws {
        let crowd = try SimulatedSessions([EncryptionPreference](repeating: .optional, count: 9), seed: seed)
        // The hub has a lower uid than some and a higher one than others.
        let hub = 4
        for other in 0..<9 where other != hub {
            try crowd.connect(hub, to: other)
            try crowd.connect(other, to: hub)
        }
        crowd.run(for: .seconds(40))
        #expect(crowd.nodes[hub].links.count == 7 && crowd.complaints.isEmpty, "\(crowd.complaints)")
        let left = try #require((0..<9).first { $0 != hub && !crowd.areLinked(hub, $0) })
        let (here, there) = (crowd.nodes[hub].failures(of: crowd.nodes[left].uid), crowd.nodes[left].events)
        let isFull: [DisconnectReason] = [.refused(.full), .refusedByPeer(.full)]
        #expect(here.count == 1 && here.allSatisfy(isFull.contains), "\(here)")
        #expect(
            there.count == 1
                && crowd.nodes[left].failures(of: crowd.nodes[hub].uid).allSatisfy(isFull.contains),
            "\(there)")
    }

    @Test("SELECT without a free slot is answered with FULL [select.answer] [limit.links]")
    func controlled() throws {
        let trio = try SimulatedSessions([.optional, .optional, .optional], slots: 1, seed: 3)
        for other in [0, 1] {
            try trio.connect(2, to: other)
            try trio.connect(other, to: 2)
        }
        trio.run(for: .seconds(10))
        #expect(trio.nodes[2].links.count == 1 && trio.complaints.isEmpty)
        let left = trio.areLinked(0, 2) ? 1 : 0
        #expect(trio.nodes[left].events == [.failed(trio.nodes[2].uid, .refusedByPeer(.full))])
        #expect(trio.nodes[2].failures(of: trio.nodes[left].uid) == [.refused(.full)])
    }

    @Test("SELECT is not sent without a free slot [select.one] [limit.links]")
    func controlling() throws {
        let trio = try SimulatedSessions([.optional, .optional, .optional], slots: 1, seed: 3)
        for other in [1, 2] {
            try trio.connect(0, to: other)
            try trio.connect(other, to: 0)
        }
        trio.run(for: .seconds(10))
        #expect(trio.nodes[0].links.count == 1 && trio.complaints.isEmpty)
        let left = trio.areLinked(0, 1) ? 2 : 1
        #expect(trio.nodes[0].failures(of: trio.nodes[left].uid) == [.refused(.full)])
        #expect(trio.nodes[left].events == [.failed(trio.nodes[0].uid, .refusedByPeer(.full))])
    }

    @Test("connect is refused while all slots are taken, and allowed again when a link ended [limit.links]")
    func connect() throws {
        var stage = try Stage(slots: 1)
        try stage.connect()
        let link = try stage.link()
        let other = try data(of: 1, for: &stage)
        #expect(throws: LinkEstablishment.Refusal.full) {
            try stage.machine.connect(with: other, zones: [], at: stage.now)
        }
        stage.machine.linkEnded(link, of: stage.peer.endpoint.uid, mayResume: false, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty)
        try stage.connect(other)
    }

    @Test(
        "when the selected connection is lost before SELECTED, the next is selected, even for the last slot [select.next]"
    )
    func next() throws {
        var rescued = 0
        for seed in UInt64(0)..<60 {
            let pair = try SimulatedSessions(slots: 1, seed: seed)
            pair.latency = 150...300
            var kills = 0
            pair.listen = { [unowned pair] kind, _, connection in
                if kind == .select, kills == 0 {
                    kills += 1
                    pair.silence(connection)
                    for end in [0, 1] { pair.notice(connection, end, after: .milliseconds(500)) }
                }
            }
            try pair.data(from: 1, for: 0)
            try pair.connect(0, to: 1)
            try pair.connect(1, to: 0)
            pair.run(for: .seconds(12))
            #expect(kills == 1)
            #expect(pair.areLinked(0, 1), "seed \(seed): \(pair.nodes.map(\.events))")
            #expect(pair.nodes.allSatisfy { $0.failures(of: pair.nodes[0].uid).isEmpty })
            #expect(pair.complaints.isEmpty)
            rescued += pair.connections.count == 2 ? 1 : 0
        }
        #expect(rescued > 5, "the other candidate was there in \(rescued) cases")
    }

    @Test("a mesh of eight forms, every pair with one link")
    func eight() throws {
        let crowd = try SimulatedSessions(
            [.optional, .none, .optional, .optional, .none, .optional, .optional, .none], seed: 6)
        for one in 0..<8 {
            for other in 0..<8 where other != one {
                try crowd.data(from: other, for: one)
                crowd.after(crowd.dice.milliseconds(0...900)) { try crowd.connect(one, to: other) }
            }
        }
        crowd.run(for: .seconds(12))
        #expect(crowd.complaints.isEmpty)
        for one in 0..<8 {
            for other in 0..<8 where other != one {
                #expect(crowd.areLinked(one, other), "\(one) and \(other)")
            }
        }
    }
}
