import SimulatedRoom

/// Prints the history of an evening: `simulate-room SEED`. For tests that compare processes, whose dictionaries and sets
/// each have an order of their own.
@main
struct SimulateRoom {
    static func main() async throws {
        let seed = CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
        let start = ContinuousClock.now
        let evening = try await Evening(seed: seed)
        for line in evening.history { print(line) }
        print("\(evening.steps) steps")
        if CommandLine.arguments.contains("--time") { print(ContinuousClock.now - start) }
    }
}
