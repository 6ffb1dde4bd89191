import Foundation

/// The options of the command line.
struct Options: Sendable {
    var name = ProcessInfo.processInfo.hostName
    var service = "collusion"
    /// The number of other devices to wait for; nil: runs until the input ends.
    var people: Int?
    var rounds = 1
    var within = Duration.seconds(60)

    static let usage = """
        usage: collusion [--name NAME] [--service TYPE] [--peers N [--rounds M] [--within SECONDS]]

        Links with all nearby devices that run this program. Lines that you type are sent to all of them,
        except for these commands: background disconnects, foreground connects again, quit exits.

          --name NAME        the name that others see, each with its own stored id; default: the name of
                             this machine
          --service TYPE     the service type, 1 to 15 lower-case letters, digits and '-'; devices find only
                             devices of the same type; default: collusion
          --peers N          wait for N devices, exchange a message and a file with each, and exit
          --rounds M         do so M times, and go to the background in between; default: 1
          --within SECONDS   give up after this time; default: 60

        Exit codes: 0 success, 1 not done in time, or no space for files or the id, 2 invalid command line.
        """

    /// Parses arguments. Throws a description of what is wrong with them; returns nil if help is requested.
    static func parse(_ arguments: [String]) throws(Wrong) -> Options? {
        var options = Options()
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if ["--help", "-h"].contains(word) { return nil }
            try options.take(word, rest.popFirst())
        }
        return options
    }

    private mutating func take(_ word: String, _ value: String?) throws(Wrong) {
        guard let value else { throw Wrong(text: "unknown option or missing value: \(word)") }
        switch word {
        case "--name": name = value
        case "--service": service = value
        case "--peers": people = try Options.number(value, of: word)
        case "--rounds": rounds = try Options.number(value, of: word)
        case "--within": within = .seconds(try Options.number(value, of: word))
        default: throw Wrong(text: "unknown option: \(word)")
        }
    }

    private static func number(_ value: String, of word: String) throws(Wrong) -> Int {
        guard let number = Int(value), (1...86_400).contains(number) else {
            throw Wrong(text: "\(word) takes a number from 1 to 86400")
        }
        return number
    }

    struct Wrong: Error { let text: String }
}
