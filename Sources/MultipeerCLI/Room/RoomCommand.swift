import MultipeerCommandLine
import MultipeerEssentials

/// A line that the user has typed in a room.
package enum RoomCommand: Equatable, Sendable {
    case nothing
    /// A line to all.
    case say(String)
    /// A line to one peer: a name and a text. Names may contain spaces, so only the room can separate them.
    case whisper(String)
    case add(String)
    /// A path, with an optional name after it.
    case send(String)
    case accept(Int, into: String?)
    case decline(Int)
    /// A name, with optional digits or a no after it.
    case code(String)
    /// The answer to a question about trust.
    case trust(Bool)
    case who, data, help, quit
    case wrong(String)

    /// Two slashes or two at signs stand for a line that begins with one.
    package init(_ line: String) {
        var text = line
        while text.last?.isWhitespace == true { text.removeLast() }
        if text.isEmpty {
            self = .nothing
        } else if text.begins(with: "//") || text.begins(with: "@@") {
            self = .say(String(text.unicodeScalars.dropFirst()))
        } else if let words = text.rest(after: "@") {
            self = .whisper(String(words))
        } else if text.begins(with: "/") {
            let word = text.prefix { $0 != " " }
            self.init(command: String(word), String(text.dropFirst(word.count).drop { $0 == " " }))
        } else if text.utf8.count < 2_048,
            (try? ConnectionDataInput.read(ConnectionDataInput.decode(text))) != nil
        {
            // It contains a secret, which must not be sent to everyone.
            self = .add(text)
        } else {
            self = .say(text)
        }
    }

    private init(command typed: String, _ rest: String) {
        let command = RoomCommand.synonyms[typed] ?? typed
        switch (command, rest.isEmpty) {
        case ("/to", false): self = .whisper(rest)
        case ("/add", false): self = .add(rest)
        case ("/send", false): self = .send(rest)
        case ("/accept", false): self = RoomCommand.accept(rest)
        case ("/decline", false):
            self = Int(rest).map(RoomCommand.decline) ?? .wrong("/decline takes a number")
        case ("/code", false): self = .code(rest)
        case ("/trust", false) where ["yes", "no"].contains(rest): self = .trust(rest == "yes")
        case ("/peers", true): self = .who
        case ("/data", true): self = .data
        case ("/help", true): self = .help
        case ("/leave", true): self = .quit
        default:
            let form = RoomCommand.forms.first { $0.0.pieces(at: " ")[0] == command }?.0
            self = .wrong(form.map { "usage: \($0)" } ?? RoomCommand.unknown(command))
        }
    }

    private static func unknown(_ command: String) -> String {
        let text = "unknown command \(command.printable)"
        if let meant = Spelling.nearest(command, of: commands + synonyms.keys) {
            return "\(text); did you mean \(meant)?"
        }
        return "\(text); /help lists the commands, // sends a line with a slash"
    }

    private static func accept(_ rest: String) -> RoomCommand {
        let words = rest.pieces(at: " ", atMost: 2)
        guard let number = Int(words[0]) else { return .wrong("/accept takes a number") }
        return .accept(number, into: words.dropFirst().first.map(String.init))
    }

    /// Whether it makes no sense without another peer in the room.
    package var needsSomebody: Bool {
        switch self {
        case .say, .whisper, .send, .code: true
        default: false
        }
    }

    /// The input that a room accepts, and its effects.
    package static let forms = [
        ("text", "send to everyone"),
        ("/to NAME text", "send to NAME only; also: @NAME text"),
        ("/peers", "list the peers, and how each link is protected; also: /who"),
        ("/add DATA", "link with the peer whose connection data this is"),
        ("/data", "show your connection data again"),
        ("/send FILE [NAME]", "offer a file, or an http or https URL, to everyone or to NAME"),
        ("/accept N [DIR]", "save file N in DIR; default: the current directory"),
        ("/decline N", "decline file N"),
        ("/code NAME [DIGITS|no]", "show six digits for NAME; then type the ones that NAME sees"),
        ("/trust yes|no", "answer a question about trust"),
        ("/help", "show this help"),
        ("/leave", "leave; so do /quit, and Ctrl-D on an empty line"),
    ]

    /// Other words for a command.
    private static let synonyms = ["/who": "/peers", "/quit": "/leave"]

    private static let commands = forms.map(\.0).filter { $0.begins(with: "/") }.map {
        String($0.prefix { $0 != " " })
    }

    /// What Tab completes in a room.
    package static let completion = LineCompletion(
        commands: commands, commandsWithName: ["/to", "/code"], commandsWithPath: ["/send"])

    /// `width`: that of the lines.
    package static func manual(width: Int = Columns.standardWidth) -> String {
        Columns.lines(forms, width: width)
    }
}
