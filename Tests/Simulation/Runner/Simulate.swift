import Foundation
import MultipeerSimulation

/// Runs seeds, or one scenario, and prints what failed and how to reproduce it.
@main
enum Simulate {
    static func main() async {
        do throws(Options.Misuse) {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if options.wantsHelp { return print(Options.help) }
            exit(await run(options))
        } catch {
            FileHandle.standardError.write(Data("simulate: \(error)\n\(Options.help)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ options: Options) async -> Int32 {
        if let file = options.file { return runScenario(file, options) }
        if options.seeds == 1, options.prints || options.isTracing { return show(options) }
        return await runSeeds(options)
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

    private static func runSeeds(_ options: Options) async -> Int32 {
        let began = ContinuousClock.now
        let batch: UInt64 = 50
        var next = options.from
        let end = options.from + options.seeds
        var total = Outcome()
        var done: UInt64 = 0
        await withTaskGroup(of: (Outcome, UInt64).self) { group in
            func addNext() {
                guard next < end else { return }
                let range = next..<min(end, next + batch)
                next = range.upperBound
                group.addTask { (Simulate.run(range, options), UInt64(range.count)) }
            }
            for _ in 0..<options.jobs { addNext() }
            for await (outcome, count) in group {
                done += count
                total.counts += outcome.counts
                total.hash ^= outcome.hash
                for one in outcome.failures.sorted(by: { $0.seed < $1.seed }) { report(one) }
                total.failures += outcome.failures
                if options.untilFailure, !total.failures.isEmpty { continue }
                addNext()
            }
        }
        let seconds = Double((ContinuousClock.now - began).components.seconds) + 0.001
        print(
            "\(done) seeds in \(Int(seconds)) s: \(total.counts), hash \(String(total.hash, radix: 16))"
        )
        guard let first = total.failures.min(by: { $0.seed < $1.seed }) else {
            print("clean seeds=\(done)")
            return 0
        }
        if options.shrinks {
            print("# \(first.failure)")
            print(Scenario.drawn(first.seed, first.mode).shrunk(breaking: first.failure.invariant))
        }
        print(
            "failed seed=\(first.seed) invariant=\(first.failure.invariant.number) mode=\(first.mode.rawValue)"
        )
        return 1
    }

    private static func report(_ one: (seed: UInt64, mode: Scenario.Mode, failure: InvariantViolation)) {
        print("seed \(one.seed) \(one.mode.rawValue): \(one.failure)")
        print("  again: swift run -c release simulate --seed \(one.seed) --mode \(one.mode.rawValue) --trace")
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
