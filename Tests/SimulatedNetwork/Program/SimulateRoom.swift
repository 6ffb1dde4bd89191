import Foundation
import SimulatedRoom

/// `simulate-room SEED` prints the history of an evening: for tests that compare processes, whose dictionaries and sets each have an
/// order of their own. `simulate-room outages COUNT [FIRST]` has that many outages of the network, and exits with 1 if a room
/// is not whole again within five seconds after one.
@main
struct SimulateRoom {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == "outages" { return try await outages(words.dropFirst().compactMap { UInt64($0) }) }
        let seed = words.first.flatMap { UInt64($0) } ?? 1
        let start = ContinuousClock.now
        let evening = try await Evening(seed: seed)
        for line in evening.history { print(line) }
        print("\(evening.steps) steps")
        if words.contains("--time") { print(ContinuousClock.now - start) }
    }

    private static func outages(_ numbers: [UInt64]) async throws {
        let count = numbers.first ?? 1_000
        let first = numbers.dropFirst().first ?? 0
        var (failures, longest) = (0, Duration.zero)
        for seed in first..<first + count {
            let outage = Outage(seed: seed)
            let result = try await outage.run()
            if let time = result.time, time <= Outage.limit {
                longest = max(longest, time)
                continue
            }
            failures += 1
            let what =
                "\(outage.program), \(outage.peers) peers, \(outage.isOfOne ? "one is" : "all are") cut off"
            let end = result.time.map { "whole again after \($0)" } ?? "not whole again"
            print("seed \(seed): \(what) for \(outage.duration): \(end)")
            if count == 1 { for line in result.history { print(line) } }
        }
        print("\(count) outages, \(failures) too long; of the others the longest took \(longest)")
        // An error that leaves `main` would end the process by a trap, and lose what it has printed.
        if failures > 0 { exit(1) }
    }
}
