import Foundation
import MultipeerSimulation
import TestSupport
import Testing

@Suite("11 Runs that repeat", .computing)
struct RepeatTests {
    @Test("one seed gives one run, repeated in one process")
    func twice() {
        for seed in UInt64(0)..<2 {
            let scenario = Scenario.drawn(seed, .liveness)
            #expect(ScenarioRun.run(scenario).hash == ScenarioRun.run(scenario).hash, "seed \(seed)")
        }
    }

    @Test("one seed gives one run, in processes that hash their dictionaries in different orders")
    func elsewhere() throws {
        let said = try [1, 2, 3].map { _ in try SimulateProgram.run(["--seed", "11", "--print"]).output }
        let hashes = said.map { text in text.split(separator: "\n").filter { $0.contains("hash ") } }
        #expect(hashes[0].count == 2)
        #expect(Set(hashes).count == 1)
    }
}
