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

        Links with everybody nearby who runs it. What is typed goes to everybody, except for these words:
        background ends all links, foreground begins again, quit ends the program.

          --name NAME        what others call you (the name of this machine); each name has an id that is kept
          --service TYPE     who finds whom: 1 to 15 lower-case letters, digits and '-' (collusion)
          --peers N          wait for N others, exchange a message and a file with each, and end
          --rounds M         do so M times, in the background in between (1)
          --within SECONDS   give up after so long (60)

        Exit codes: 0 done, 1 not done in time or no place for files or the id, 2 wrong usage.
        """

    /// Parses arguments. Throws what is wrong with them; returns nil when help is requested.
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
        guard let value else { throw Wrong(text: "\(word) is unknown, or needs a value") }
        switch word {
        case "--name": name = value
        case "--service": service = value
        case "--peers": people = try Options.number(value, of: word)
        case "--rounds": rounds = try Options.number(value, of: word)
        case "--within": within = .seconds(try Options.number(value, of: word))
        default: throw Wrong(text: "\(word) is unknown")
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
