import Foundation
import MultipeerSimulation
import TestSupport
import Testing

@Suite("11 Simulated meshes", .computing)
struct SeedTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Seeds")

    private static let files =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []

    @Test("seeds that once failed do not fail again", arguments: files)
    func stored(_ file: String) throws {
        let text = try String(contentsOf: SeedTests.folder.appending(path: file), encoding: .utf8)
        let verdict = ScenarioRun.run(try Scenario(text: text))
        #expect(verdict.failure == nil, "\(file)")
        #expect(verdict.counts.links > 0)
    }

    @Test("there are stored scenarios")
    func some() { #expect(SeedTests.files.count >= 4) }

    @Test("every invariant holds for random seeds", arguments: Scenario.Mode.allCases)
    func fresh(_ mode: Scenario.Mode) {
        var counts = RunStatistics()
        for seed in UInt64(7_000_000)..<7_000_004 {
            let verdict = ScenarioRun.run(Scenario.drawn(seed, mode))
            counts += verdict.counts
            #expect(
                verdict.failure == nil,
                "swift run -c release simulate --seed \(seed) --mode \(mode.rawValue) --trace")
        }
        #expect(counts.links > 30)
        #expect(counts.channels > 0 && counts.codes > 0 && counts.marks > 0)
    }

    @Test("a scenario survives a round trip through its text")
    func text() throws {
        for seed in UInt64(0)..<200 {
            for mode in Scenario.Mode.allCases {
                let scenario = Scenario.drawn(seed, mode)
                let read = try Scenario(text: scenario.description)
                #expect(read == scenario)
            }
        }
    }

    @Test(
        "a text that is not a scenario is refused, with the line",
        arguments: [
            "", "peer optional", "scenario 1 liveness cap 8 weather calm end 9\nat 1 join 0 1", "at noon",
        ])
    func unreadable(_ text: String) {
        #expect(throws: Scenario.ParseError.self) { try Scenario(text: text) }
    }
}
