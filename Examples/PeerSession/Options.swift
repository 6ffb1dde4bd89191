import Foundation

/// The options of the command line.
struct Options: Sendable {
    enum Answer: String, Sendable { case yes, no, ask }

    var name = ProcessInfo.processInfo.hostName
    var service = "peer-session"
    var invites = false
    var answer = Answer.ask
    /// How long a simulated user thinks.
    var after = Duration.zero
    /// The number of other persons to wait for; nil: runs until the input ends.
    var people: Int?
    var rounds = 1
    var within = Duration.seconds(60)

    static let usage = """
        usage: peer-session [--name NAME] [--service TYPE] [--invite] [--answer yes|no|ask] [--after SECONDS]
                            [--peers N [--rounds M] [--within SECONDS]]

        Finds others that run it, and links with those whom it invites or who invite it.

          --name NAME        what others call you (the name of this machine)
          --service TYPE     who finds whom: 1 to 15 lower-case letters, digits and '-' (peer-session)
          --invite           invite whoever is found
          --answer ANSWER    what to say to who invites you (ask: y or n is typed; everything else goes to everybody)
          --after SECONDS    how long to wait with a yes or no (0)
          --peers N          wait for N others, say M rounds to everybody, hear theirs, and end
          --rounds M         how many (1)
          --within SECONDS   give up after so long (60)

        Exit codes: 0 done, 1 not done in time, 2 wrong usage.
        """

    /// Parses arguments. Throws what is wrong with them; returns nil when help is requested.
    static func parse(_ arguments: [String]) throws(Wrong) -> Options? {
        var options = Options()
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": return nil
            case "--invite": options.invites = true
            default: try options.take(word, rest.popFirst())
            }
        }
        return options
    }

    private mutating func take(_ word: String, _ value: String?) throws(Wrong) {
        guard let value else { throw Wrong(text: "\(word) is unknown, or needs a value") }
        switch word {
        case "--name": name = value
        case "--service": service = value
        case "--answer":
            guard let known = Answer(rawValue: value) else {
                throw Wrong(text: "--answer takes yes, no or ask")
            }
            answer = known
        case "--after": after = .seconds(try Options.number(value, of: word))
        case "--peers": people = Int(try Options.number(value, of: word))
        case "--rounds": rounds = Int(try Options.number(value, of: word))
        case "--within": within = .seconds(try Options.number(value, of: word))
        default: throw Wrong(text: "\(word) is unknown")
        }
    }

    private static func number(_ value: String, of word: String) throws(Wrong) -> Double {
        guard let number = Double(value), (0...86_400).contains(number) else {
            throw Wrong(text: "\(word) takes a number from 0 to 86400")
        }
        return number
    }

    struct Wrong: Error { let text: String }
}
