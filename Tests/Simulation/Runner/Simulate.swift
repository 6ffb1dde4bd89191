import Foundation
import MultipeerSimulation

/// Runs seeds, or one scenario, and prints what failed and how to reproduce it.
@main
enum Simulate {
    static func main() async {
        do throws(Options.Misuse) {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if options.wantsHelp { return print(Options.help) }
            exit(try await run(options))
        } catch {
            FileHandle.standardError.write(Data("simulate: \(error)\n\(Options.help)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ options: Options) async throws(Options.Misuse) -> Int32 {
        if !options.merged.isEmpty { return try merge(options) }
        if let file = options.file { return runScenario(file, options) }
        if options.seeds == 1, options.prints || options.isTracing { return show(options) }
        return try await runSeeds(options)
    }

    private static func merge(_ options: Options) throws(Options.Misuse) -> Int32 {
        var all = try SeedReport.read(options.merged[0])
        for file in options.merged.dropFirst() {
            let other = try SeedReport.read(file)
            do throws(Options.Misuse) {
                try all.merge(other)
            } catch {
                throw Options.Misuse("\(file): \(error)")
            }
        }
        if let missing = all.firstMissing { throw Options.Misuse("seed \(missing) is in no report") }
        try write(all, options)
        if options.report != "-" {
            for failure in all.failures { report(failure) }
            conclude(all)
        }
        return all.failures.isEmpty ? 0 : 1
    }

    private static func write(_ report: SeedReport, _ options: Options) throws(Options.Misuse) {
        guard let file = options.report else { return }
        do {
            try report.write(to: file)
        } catch {
            throw Options.Misuse("cannot write \(file): \(error.localizedDescription)")
        }
    }

    /// Prints the sums, and the verdict as the last line.
    private static func conclude(_ report: SeedReport) {
        print("\(report.count) seeds in \(Int(report.seconds)) s: \(report.statistics), hash \(report.hash)")
        print(report.verdict)
    }

    // MARK: one run

    private static func runScenario(_ file: String, _ options: Options) -> Int32 {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            print("simulate: cannot read \(file)")
            return 2
        }
        do throws(Scenario.ParseError) {
            let scenario = try Scenario(text: text)
            let verdict = trace(scenario, options)
            guard let failure = verdict.failure else {
                print("clean seeds=1")
                return 0
            }
            print(failure)
            shrink(scenario, failure, options)
            print(
                "failed seed=\(scenario.seed) invariant=\(failure.invariant.number) mode=\(scenario.mode.rawValue)"
            )
            return 1
        } catch {
            print("simulate: \(file): \(error)")
            return 2
        }
    }

    private static func show(_ options: Options) -> Int32 {
        var last = "clean seeds=1"
        for mode in options.modes {
            let scenario = Scenario.drawn(options.from, mode)
            if options.prints { print(scenario) }
            let verdict = trace(scenario, options)
            guard let failure = verdict.failure else { continue }
            print(failure)
            shrink(scenario, failure, options)
            last = "failed seed=\(options.from) invariant=\(failure.invariant.number) mode=\(mode.rawValue)"
        }
        print(last)
        return last.hasPrefix("clean") ? 0 : 1
    }

    private static func trace(_ scenario: Scenario, _ options: Options) -> ScenarioRun.Summary {
        var listener: (@Sendable (String) -> Void)?
        if options.isTracing { listener = { line in print(line) } }
        let verdict = ScenarioRun.run(scenario, tracing: listener)
        print("\(verdict.counts), hash \(String(verdict.hash, radix: 16))")
        return verdict
    }

    private static func shrink(_ scenario: Scenario, _ failure: InvariantViolation, _ options: Options) {
        guard options.shrinks, !options.isTracing else { return }
        let small = scenario.shrunk(breaking: failure.invariant)
        print("# \(failure.invariant.number) \(failure.invariant): \(failure.invariant.text)")
        print(small)
    }

    // MARK: many

    private struct Outcome: Sendable {
        var failures: [(seed: UInt64, mode: Scenario.Mode, failure: InvariantViolation)] = []
        var hash: UInt64 = 0
        var counts = RunStatistics()
    }

    private static func runSeeds(_ options: Options) async throws(Options.Misuse) -> Int32 {
        let isQuiet = options.report == "-"
        let began = ContinuousClock.now
        let batch: UInt64 = 50
        let range = options.range
        var next = range.lowerBound
        var total = Outcome()
        var done: UInt64 = 0
        await withTaskGroup(of: (Outcome, UInt64).self) { group in
            func addNext() {
                guard next < range.upperBound else { return }
                let part = next..<min(range.upperBound, next + min(batch, range.upperBound - next))
                next = part.upperBound
                group.addTask { (Simulate.run(part, options), UInt64(part.count)) }
            }
            for _ in 0..<options.jobs { addNext() }
            for await (outcome, count) in group {
                done += count
                total.counts += outcome.counts
                total.hash ^= outcome.hash
                let failures = outcome.failures.sorted { $0.seed < $1.seed }
                if !isQuiet { for one in failures { report(SeedReport.Failure(one)) } }
                total.failures += failures
                if options.untilFailure, !total.failures.isEmpty { continue }
                addNext()
            }
        }
        let failures = total.failures.sorted { ($0.seed, $0.mode.rawValue) < ($1.seed, $1.mode.rawValue) }
        let time = (ContinuousClock.now - began).components
        let summary = SeedReport(
            seeds: [.init(from: range.lowerBound, count: done)], modes: options.modes.map(\.rawValue),
            failures: failures.map { SeedReport.Failure($0) }, hash: String(total.hash, radix: 16),
            statistics: total.counts, seconds: Double(time.seconds) + Double(time.attoseconds) * 1e-18)
        if !isQuiet {
            if options.shrinks, let first = failures.first {
                print("# \(first.failure)")
                print(Scenario.drawn(first.seed, first.mode).shrunk(breaking: first.failure.invariant))
            }
            conclude(summary)
        }
        // A run that stopped early has not run the seeds that a report would name.
        if done == UInt64(range.count) { try write(summary, options) }
        return failures.isEmpty ? 0 : 1
    }

    private static func report(_ failure: SeedReport.Failure) {
        print("seed \(failure.seed) \(failure.mode): \(failure.text)")
        print("  again: swift run -c release simulate --seed \(failure.seed) --mode \(failure.mode) --trace")
    }

    private static func run(_ range: Range<UInt64>, _ options: Options) -> Outcome {
        var outcome = Outcome()
        for seed in range {
            for mode in options.modes {
                let verdict = ScenarioRun.run(Scenario.drawn(seed, mode))
                outcome.hash ^= verdict.hash
                outcome.counts += verdict.counts
                if let failure = verdict.failure { outcome.failures.append((seed, mode, failure)) }
            }
            if options.untilFailure, !outcome.failures.isEmpty { break }
        }
        return outcome
    }
}

extension SeedReport.Failure {
    init(_ one: (seed: UInt64, mode: Scenario.Mode, failure: InvariantViolation)) {
        self.init(
            seed: one.seed, mode: one.mode.rawValue, invariant: one.failure.invariant.number,
            text: "\(one.failure)")
    }
}
