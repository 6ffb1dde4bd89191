import MultipeerSimulation

/// What the command line asks for.
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
    var wantsHelp = false

    static let help = """
        Runs sessions in virtual time, each from a seed, and checks what must hold.

        usage: simulate [options]
          --seeds N        so many seeds (1000)
          --from N         the first of them (0)
          --seed N         this one alone
          --mode MODE      safety, liveness or both (both)
          --jobs N         at a time (2)
          --until-failure  stop at the first seed that fails
          --no-shrink      do not look for a smaller scenario that fails
          --trace          print what happens (with --seed or --scenario)
          --print          print the scenario (with --seed)
          --scenario FILE  run the scenario of a file
          --help

        The last line is `clean seeds=N` or `failed seed=N invariant=I mode=M`.
        Exit codes: 0 clean, 1 something failed, 2 wrong usage.
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
                guard let name = rest.popFirst() else { throw Misuse("--mode wants a mode") }
                guard name != "both" else { continue }
                guard let mode = Scenario.Mode(rawValue: name) else { throw Misuse("no such mode: \(name)") }
                modes = [mode]
            case "--trace": isTracing = true
            case "--print": prints = true
            case "--until-failure": untilFailure = true
            case "--no-shrink": shrinks = false
            case "--scenario":
                guard let name = rest.popFirst() else { throw Misuse("--scenario wants a file") }
                file = name
            default: throw Misuse("unknown option \(word)")
            }
        }
    }

    private static func number(_ rest: inout ArraySlice<String>, _ option: String) throws(Misuse) -> UInt64 {
        guard let text = rest.popFirst(), let number = UInt64(text) else {
            throw Misuse("\(option) wants a number")
        }
        return number
    }

    struct Misuse: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}
