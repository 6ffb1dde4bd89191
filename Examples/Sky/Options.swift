import Foundation
import Multipeer

/// The options of the command line.
struct Options: Sendable {
    /// The role of the program.
    enum Part: Sendable {
        /// Scans for others until its input ends.
        case waits
        /// Waits for others, and has all of them scan.
        case engages
        /// The same, with that many worker processes.
        case engagesWorkers(Int)
    }

    var part = Part.waits
    var name = Options.machine
    var service: String?
    /// The extra milliseconds that the last of the workers, or this observatory when there are none, takes for each
    /// tile.
    var slowness = 0
    var plan = Plan()

    /// The name of this machine, if it is valid for a peer.
    private static var machine: String {
        let name = ProcessInfo.processInfo.hostName
        return isName(name) ? name : "sky"
    }

    /// The extra milliseconds of this process.
    var ownSlowness: Int {
        if case .engagesWorkers(1...) = part { 0 } else { slowness }
    }

    private static func isName(_ text: String) -> Bool { (try? PeerID(displayName: text)) != nil }

    static let usage = """
        usage: sky --workers N [options]   start N more processes on this machine, and share the work with them
               sky --peers N [options]     wait for N others on the network, and share the work with them
               sky [--slow MS]             scan tiles for others until standard input ends

        Generates a sky, cuts it into tiles and searches them for stars. There is an observatory in this process
        and in every other process that runs sky; each has at most four tiles at a time. A failed tile is retried
        in this process, before all others. The tiles of a lost process are given to the others.

          --tiles N          number of tiles; default: 96
          --size PIXELS      pixels per side of a tile, 16 to 1000; default: 256
          --seed N           seed of the sky: the same seed gives the same stars; default: 1
          --wait MS          exposure time of each tile, at most 60000; default: 100
          --fail N           let N tiles fail the first time; default: 0
          --kill N           kill a worker once N tiles are done; at most the number of tiles
          --slow MS          additional time per tile of the last worker, or without workers of this process;
                             default: 0
          --within SECONDS   give up after this time; default: 120
          --name NAME        the name that others see; default: the name of this machine
          --service TYPE     the service type, 1 to 15 lower-case letters, digits and '-'; processes find only
                             processes of the same type; default: sky

        Exit codes: 0 all tiles were scanned, 1 some were not, or not in time, 2 invalid command line.
        When interrupted, it also ends its workers.
        """

    /// Parses arguments. Throws a description of what is wrong with them; returns nil if help is requested.
    static func parse(_ arguments: [String]) throws(Wrong) -> Options? {
        var options = Options()
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if ["--help", "-h"].contains(word) { return nil }
            guard let value = rest.popFirst() else {
                throw Wrong(text: "unknown option or missing value: \(word)")
            }
            try options.take(word, value)
        }
        if let kill = options.plan.killsAfter {
            guard case .engagesWorkers(1...) = options.part else {
                throw Wrong(text: "--kill needs --workers")
            }
            guard kill <= options.plan.tiles else {
                throw Wrong(text: "--kill \(kill) is more than the number of tiles, \(options.plan.tiles)")
            }
        }
        return options
    }

    private mutating func take(_ word: String, _ value: String) throws(Wrong) {
        func number(_ range: ClosedRange<Int>) throws(Wrong) -> Int {
            guard let number = Int(value), range.contains(number) else {
                throw Wrong(text: "\(word) takes a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        switch word {
        case "--name":
            guard Options.isName(value) else { throw Wrong(text: "--name: \(InvalidPeerID.displayName)") }
            name = value
        case "--service":
            do {
                service = try ServiceType(value).name
            } catch {
                throw Wrong(text: "--service: \(error)")
            }
        case "--workers":
            plan.people = try number(0...7)
            part = .engagesWorkers(plan.people)
        case "--peers":
            plan.people = try number(0...7)
            part = .engages
        case "--tiles": plan.tiles = try number(1...100_000)
        case "--size": plan.size = try number(Tile.sides)
        case "--seed": plan.seed = UInt64(try number(0...Int.max))
        case "--wait": plan.exposure = try number(ScanTask.exposures)
        case "--fail": plan.failures = try number(0...100_000)
        case "--kill": plan.killsAfter = try number(1...100_000)
        case "--slow": slowness = try number(0...10_000)
        case "--within": plan.timeLimit = .seconds(try number(1...86_400))
        default: throw Wrong(text: "unknown option: \(word)")
        }
    }

    struct Wrong: Error { let text: String }
}
