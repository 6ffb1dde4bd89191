import MultipeerSimulation

@main
enum Simulate {
    static func main() {
        var count: UInt64 = 1
        var from: UInt64 = 0
        if CommandLine.arguments.count > 1 { count = UInt64(CommandLine.arguments[1]) ?? 1 }
        if CommandLine.arguments.count > 2 { from = UInt64(CommandLine.arguments[2]) ?? 0 }
        let isTracing = count == 1
        for seed in from..<(from + count) {
            for mode in Scenario.Mode.allCases {
                var listener: (@Sendable (String) -> Void)?
                if isTracing { listener = { line in print(line) } }
                let verdict = Trial.run(Scenario.drawn(seed, mode), tracing: listener)
                if let failure = verdict.failure { print(seed, mode, failure) }
                if isTracing { print(verdict) }
            }
        }
    }
}
