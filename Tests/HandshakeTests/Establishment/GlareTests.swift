import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("6.1 Which peer dials", .computing)
struct GlareTests {
    @Test("whichever side begins first, up to 600 ms apart, there is one link on one connection [select.one]")
    func glare() throws {
        var connections = 0
        for seed in UInt64(0)..<1_000 {
            let pair = try SimulatedSessions(seed: seed)
            pair.latency = [1...5, 1...40, 100...300][Int(seed % 3)]
            for one in [0, 1] {
                try pair.data(from: one, for: 1 - one)
                pair.after(pair.dice.milliseconds(0...600)) { try pair.connect(one, to: 1 - one) }
            }
            pair.run(for: .seconds(8))
            #expect(pair.areLinked(0, 1) && pair.complaints.isEmpty, "seed \(seed): \(pair.complaints)")
            #expect(pair.nodes.allSatisfy { $0.open.isEmpty && $0.events.count == 1 }, "seed \(seed)")
            connections += pair.connections.count
        }
        #expect(connections > 1_200, "races were rare: \(connections) connections")
    }
}
