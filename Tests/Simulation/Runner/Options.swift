import MultipeerSimulation

/// The options of the command line.
struct Options {
    var seeds: UInt64 = 1_000
    var from: UInt64 = 0
    var modes = Scenario.Mode.allCases
    var jobs = 2
    var isTracing = false
    var untilFailure = false
    var shrinks = true
    var prints = false
    var file: String?
    /// From 1 to `shards`.
    var shard: UInt64 = 1
    var shards: UInt64 = 1
    /// Where the report goes; nil for none, - for standard output.
    var report: String?
    var merged: [String] = []
    var wantsHelp = false

    static let help = """
        Runs sessions in virtual time, each run derived from a seed, and checks invariants.

        usage: simulate [options]
          --seeds N        number of seeds; default: 1000
          --from N         first seed; default: 0
          --seed N         run only this seed
          --mode MODE      safety, liveness or both; default: both
          --jobs N         number of parallel runs; default: 2
          --until-failure  stop at the first seed that fails
          --no-shrink      do not search for a smaller scenario that fails
          --trace          print the events (with --seed or --scenario)
          --print          print the scenario (with --seed)
          --scenario FILE  run the scenario in FILE
          --shard I/N      run the part I, from 1, of N parts of the seeds
          --json FILE      also write a report to FILE, or with - only the report to
                           standard output
          --merge FILE...  join the reports of several parts instead of running seeds
          --help           show this help

        The last line is `clean seeds=N` or `failed seed=N invariant=I mode=M`.
        Exit codes: 0 all clean, 1 a run failed, 2 invalid command line.
        """

    init(_ arguments: [String]) throws(Misuse) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": wantsHelp = true
            case "--seeds": seeds = try Options.number(&rest, word)
            case "--from": from = try Options.number(&rest, word)
            case "--seed":
                from = try Options.number(&rest, word)
                seeds = 1
            case "--jobs": jobs = max(1, Int(clamping: try Options.number(&rest, word)))
            case "--mode":
                guard let name = rest.popFirst() else { throw Misuse("--mode needs a mode") }
                guard name != "both" else { continue }
                guard let mode = Scenario.Mode(rawValue: name) else { throw Misuse("unknown mode: \(name)") }
                modes = [mode]
            case "--trace": isTracing = true
            case "--print": prints = true
            case "--until-failure": untilFailure = true
            case "--no-shrink": shrinks = false
            case "--shard": (shard, shards) = try Options.shard(&rest)
            case "--json":
                guard let name = rest.popFirst() else { throw Misuse("--json needs a file") }
                report = name
            case "--merge":
                while let name = rest.first, !name.hasPrefix("--") { merged.append(rest.removeFirst()) }
                if merged.isEmpty { throw Misuse("--merge needs files") }
            case "--scenario":
                guard let name = rest.popFirst() else { throw Misuse("--scenario needs a file") }
                file = name
            default: throw Misuse("unknown option \(word)")
            }
        }
        guard seeds <= UInt64.max - from else { throw Misuse("there are no seeds above \(UInt64.max)") }
        guard seeds >= shards else { throw Misuse("there are fewer seeds than parts") }
    }

    private static func shard(_ rest: inout ArraySlice<String>) throws(Misuse) -> (UInt64, UInt64) {
        let parts = (rest.popFirst() ?? "").split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = UInt64(parts[0]), let count = UInt64(parts[1]),
            index >= 1, index <= count
        else { throw Misuse("--shard needs a part and the number of parts, such as 1/4") }
        return (index, count)
    }

    /// The seeds of this part: as many as of any other, or one more.
    var range: Range<UInt64> {
        let (share, more) = seeds.quotientAndRemainder(dividingBy: shards)
        let start = from + share * (shard - 1) + min(shard - 1, more)
        return start..<start + share + (shard <= more ? 1 : 0)
    }

    private static func number(_ rest: inout ArraySlice<String>, _ option: String) throws(Misuse) -> UInt64 {
        guard let text = rest.popFirst(), let number = UInt64(text) else {
            throw Misuse("\(option) needs a number")
        }
        return number
    }

    struct Misuse: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}
