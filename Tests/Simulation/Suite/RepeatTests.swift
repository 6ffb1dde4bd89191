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
        let said = try [1, 2, 3].map { _ in try simulate("--seed", "11", "--print") }
        let hashes = said.map { text in text.split(separator: "\n").filter { $0.contains("hash ") } }
        #expect(hashes[0].count == 2)
        #expect(Set(hashes).count == 1)
    }

    /// What the runner beside the tests prints.
    private func simulate(_ arguments: String...) throws -> String {
        let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let places = [folder, URL(filePath: own).deletingLastPathComponent()] + RepeatTests.builds
        let runner = try #require(
            places.map { $0.appending(path: "simulate") }.first {
                FileManager.default.isExecutableFile(atPath: $0.path)
            }, "the runner was not built")
        return try ToolProcess.run(runner.path, arguments).output
    }

    private static let builds = [
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: ".build/debug")
    ]
}
