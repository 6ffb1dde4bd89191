import MultipeerSimulation

@main
enum Simulate {
    static func main() {
        let arguments = CommandLine.arguments
        let count = arguments.count > 1 ? UInt64(arguments[1]) ?? 1 : 1
        let from = arguments.count > 2 ? UInt64(arguments[2]) ?? 0 : 0
        for seed in from..<(from + count) {
            for mode in Scenario.Mode.allCases {
                let verdict = Trial.run(.drawn(seed, mode), tracing: count == 1 ? { print($0) } : nil)
                if let failure = verdict.failure { print(seed, mode, failure) }
                if count == 1 { print(verdict) }
            }
        }
    }
}
