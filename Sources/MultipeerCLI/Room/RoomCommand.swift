import MultipeerCommandLine

/// What somebody has typed in a room.
package enum RoomCommand: Equatable, Sendable {
    case nothing
    /// A line to all.
    case say(String)
    /// A line to one: a name and what is said. Names may have spaces in them, so only the room can tell them apart.
    case whisper(String)
    case add(String)
    /// A path, perhaps with a name behind it.
    case send(String)
    case accept(Int, into: String?)
    case decline(Int)
    /// A name, perhaps with yes or no behind it.
    case code(String)
    /// The answer to a question of --trust ask.
    case trust(Bool)
    case who, data, help, quit
    case wrong(String)

    /// Two slashes, or two ats, are a line that begins with one.
    package init(_ line: String) {
        var text = line
        while text.last?.isWhitespace == true { text.removeLast() }
        if text.isEmpty {
            self = .nothing
        } else if text.hasPrefix("//") || text.hasPrefix("@@") {
            self = .say(String(text.dropFirst()))
        } else if text.hasPrefix("@") {
            self = .whisper(String(text.dropFirst()))
        } else if text.hasPrefix("/") {
            let word = text.prefix { $0 != " " }
            self.init(command: String(word), String(text.dropFirst(word.count).drop { $0 == " " }))
        } else if text.utf8.count < 2_048,
            (try? ConnectionDataInput.read(ConnectionDataInput.decode(text))) != nil
        {
            // It holds a secret: nobody wants to say that to all.
            self = .add(text)
        } else {
            self = .say(text)
        }
    }

    private init(command: String, _ rest: String) {
        switch (command, rest.isEmpty) {
        case ("/to", false): self = .whisper(rest)
        case ("/add", false): self = .add(rest)
        case ("/send", false): self = .send(rest)
        case ("/accept", false): self = RoomCommand.accept(rest)
        case ("/decline", false):
            self = Int(rest).map(RoomCommand.decline) ?? .wrong("/decline takes a number")
        case ("/code", false): self = .code(rest)
        case ("/trust", false) where ["yes", "no"].contains(rest): self = .trust(rest == "yes")
        case ("/who", true): self = .who
        case ("/data", true): self = .data
        case ("/help", true): self = .help
        case ("/quit", true): self = .quit
        default:
            let form = RoomCommand.forms.first { $0.0.split(separator: " ")[0] == command }?.0
            self = .wrong(
                form.map { "that is '\($0)'" }
                    ?? "there is no \(command.printable); /help shows what there is, // says a line with a slash"
            )
        }
    }

    private static func accept(_ rest: String) -> RoomCommand {
        let words = rest.split(separator: " ", maxSplits: 1)
        guard let number = Int(words[0]) else { return .wrong("/accept takes a number") }
        return .accept(number, into: words.dropFirst().first.map(String.init))
    }

    /// Whether it is of no use while nobody is there.
    package var needsSomebody: Bool {
        switch self {
        case .say, .whisper, .send, .code: true
        default: false
        }
    }

    /// What can be typed, and what it does.
    package static let forms = [
        ("text", "say it to all"),
        ("/to NAME text", "say it to one alone; @NAME text does the same"),
        ("/who", "who is here, and what protects the link to each"),
        ("/add DATA", "link with somebody whose connection data came meanwhile"),
        ("/data", "show the own connection data again"),
        ("/send FILE [NAME]", "offer a file, or an http or https address, to all or to one"),
        ("/accept N [DIR]", "take the file number N into DIR; default: the current directory"),
        ("/decline N", "do not take it"),
        ("/code NAME [yes|no]", "compare six digits with one; then say whether they were the same"),
        ("/trust yes|no", "answer the question that --trust ask asks"),
        ("/help", "show this text"),
        ("/quit", "leave; the end of the input does the same"),
    ]

    package static var manual: String { Columns.lines(forms) }
}
