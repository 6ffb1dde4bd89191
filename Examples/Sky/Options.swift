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
        /// The same with that many worker processes.
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
        usage: sky --workers N [WHAT]      starts N more processes on this machine, and scans with them
               sky --peers N [WHAT]        waits for N others on the network, and scans with them
               sky [--slow MS]             scans for others, until its standard input ends

        A sky is made up, cut into tiles, and searched for stars, four tiles at a time at each observatory: one in
        this process and one in each other that runs sky. What fails is repeated here, before all others. What a
        process had that is lost is given to the others.

          --tiles N          how many tiles (96)
          --size PIXELS      pixels a side, 16 to 1000 (256)
          --seed N           which sky (1): the same number is the same sky, and has the same stars
          --wait MS          how long each tile waits for its light, at most 60000 (100)
          --fail N           so many tiles fail the first time (0)
          --kill N           kill a worker once N tiles are done, which are not more than there are
          --slow MS          with workers the last of them, otherwise this process: so much longer for each tile (0)
          --within SECONDS   give up after so long (120)
          --name NAME        what others call this process (the name of this machine)
          --service TYPE     who finds whom: 1 to 15 lower-case letters, digits and '-' (sky)

        Exit codes: 0 every tile was scanned, 1 not all of them, or not in time, 2 wrong usage.
        Interrupted, it takes its workers with it.
        """

    /// Parses arguments. Throws what is wrong with them; returns nil when help is requested.
    static func parse(_ arguments: [String]) throws(Wrong) -> Options? {
        var options = Options()
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if ["--help", "-h"].contains(word) { return nil }
            guard let value = rest.popFirst() else {
                throw Wrong(text: "\(word) is unknown, or needs a value")
            }
            try options.take(word, value)
        }
        if let kill = options.plan.killsAfter {
            guard case .engagesWorkers(1...) = options.part else {
                throw Wrong(text: "--kill needs --workers")
            }
            guard kill <= options.plan.tiles else {
                throw Wrong(text: "--kill \(kill) is more than there are tiles: \(options.plan.tiles)")
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
        case "--within": plan.patience = .seconds(try number(1...86_400))
        default: throw Wrong(text: "\(word) is unknown")
        }
    }

    struct Wrong: Error { let text: String }
}
