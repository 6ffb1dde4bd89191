import Foundation

/// The options of the command line.
struct Options: Sendable {
    enum Answer: String, Sendable { case yes, no, ask }

    var name = ProcessInfo.processInfo.hostName
    var service = "peer-session"
    var invites = false
    var answer = Answer.ask
    /// How long a simulated user waits before it answers.
    var after = Duration.zero
    /// The number of other persons to wait for; nil: runs until the input ends.
    var people: Int?
    var rounds = 1
    var within = Duration.seconds(60)

    static let usage = """
        usage: peer-session [--name NAME] [--service TYPE] [--invite] [--answer yes|no|ask] [--after SECONDS]
                            [--peers N [--rounds M] [--within SECONDS]]

        Finds other peers that run this program, and links with those that it invites or that invite it.
        Lines that you type are sent to all linked peers; y and n answer an invitation.

          --name NAME        the name that peers see; default: the name of this machine
          --service TYPE     the service type, 1 to 15 lower-case letters, digits and '-'; peers find only
                             peers of the same type; default: peer-session
          --invite           invite every peer that is found
          --answer ANSWER    how to answer invitations: yes, no or ask; default: ask
          --after SECONDS    wait this long before answering yes or no; default: 0
          --peers N          wait for N peers, exchange M messages with all of them, and exit
          --rounds M         the number of messages; default: 1
          --within SECONDS   give up after this time; default: 60

        Exit codes: 0 success, 1 not done in time, 2 invalid command line.
        """

    /// Parses arguments. Throws a description of what is wrong with them; returns nil if help is requested.
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
        guard let value else { throw Wrong(text: "unknown option or missing value: \(word)") }
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
        default: throw Wrong(text: "unknown option: \(word)")
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
