import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("6 Chaos", .computing)
struct ChaosTests {
    /// Two sessions that connect each other, again and again if they insist, and a network in which connections die for ten
    /// seconds.
    private func storm(_ seed: UInt64, insists: Bool) throws -> SimulatedSessions {
        let pair = try SimulatedSessions(seed: seed)
        pair.latency = [1...5, 1...60, 50...400][Int(seed % 3)]
        for one in [0, 1] {
            pair.nodes[one].insists = insists
            pair.after(pair.dice.milliseconds(0...2_000)) { try pair.connect(one, to: 1 - one) }
        }
        for _ in 0..<Int.random(in: 5...60, using: &pair.dice) {
            pair.after(pair.dice.milliseconds(0...10_000)) {
                guard
                    let connection = pair.connections.indices.filter({ !pair.connections[$0].isDead })
                        .randomElement(
                            using: &pair.dice)
                else { return }
                pair.kill(connection, noticedWithin: 3_000)
            }
        }
        pair.run(for: .seconds(10))
        return pair
    }

    @Test(
        "random losses: no end ever has two links, each connect one outcome, and calm brings one link [select.one] [select.next] [stale.supersede] [stale.probe]"
    )
    func deaths() throws {
        for seed in UInt64(0)..<300 {
            let pair = try storm(seed, insists: true)
            pair.run(for: .seconds(30))
            #expect(pair.areLinked(0, 1) && pair.complaints.isEmpty, "seed \(seed): \(pair.complaints)")
            #expect(pair.nodes.allSatisfy { $0.open.isEmpty }, "seed \(seed)")
        }
    }

    @Test(
        "one connect each, with random losses, leaves both ends linked or neither [select.one] [link.deadline]"
    )
    func agreement() throws {
        var linked = 0
        for seed in UInt64(2_000)..<2_100 {
            let pair = try storm(seed, insists: false)
            pair.run(for: .seconds(45))
            let isLinked = pair.areLinked(0, 1)
            linked += isLinked ? 1 : 0
            #expect(isLinked || pair.nodes.allSatisfy { $0.links.isEmpty }, "seed \(seed)")
            #expect(pair.nodes.allSatisfy { $0.open.isEmpty } && pair.complaints.isEmpty, "seed \(seed)")
        }
        #expect((1..<100).contains(linked))
    }

    @Test("a peer that restarts in the middle is linked again, and no end ever has two links [stale.busy]")
    func restarts() throws {
        for seed in UInt64(0)..<200 {
            let pair = try SimulatedSessions(seed: seed)
            pair.latency = [1...5, 5...80][Int(seed % 2)]
            try pair.data(from: 1, for: 0)
            try pair.connect(0, to: 1)
            try pair.connect(1, to: 0)
            let isSilent = pair.dice.hits(oneIn: 2)
            let victim = seed % 4 < 2 ? 0 : 1
            pair.after(pair.dice.milliseconds(0...5_000)) {
                pair.restart(victim, isSilent: isSilent)
                pair.nodes[0].insists = true
                pair.nodes[1].insists = true
                try pair.connect(victim, to: 1 - victim)
                try pair.connect(1 - victim, to: victim)
            }
            pair.run(for: .seconds(60))
            #expect(pair.complaints.isEmpty, "seed \(seed): \(pair.complaints)")
            #expect(pair.areLinked(0, 1), "seed \(seed): \(pair.nodes.map(\.events))")
            #expect(pair.nodes.allSatisfy { $0.open.isEmpty }, "seed \(seed)")
        }
    }

    @Test("one connect each, while frames are lost, ends in exactly one link or failure [state.outcome]")
    func oneOutcome() throws {
        for seed in UInt64(1_000)..<1_100 {
            let pair = try SimulatedSessions(seed: seed)
            for one in [0, 1] {
                pair.after(pair.dice.milliseconds(0...2_000)) {
                    try pair.connect(one, to: 1 - one, within: .seconds(8))
                }
            }
            pair.interfere = { [unowned pair] frame, _ in pair.dice.hits(oneIn: 4) ? nil : frame }
            pair.run(for: .seconds(60))
            for (index, node) in pair.nodes.enumerated() {
                let failures = node.failures(of: pair.nodes[1 - index].uid).count
                let links = node.events.count { if case .linked = $0 { true } else { false } }
                let resumed = node.events.count { if case .resumed = $0 { true } else { false } }
                #expect(failures + links == 1 + resumed && node.open.isEmpty, "seed \(seed): \(node.events)")
            }
            #expect(pair.complaints.isEmpty, "seed \(seed): \(pair.complaints)")
        }
    }
}
