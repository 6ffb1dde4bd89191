import MultipeerCommandLine

/// The purpose of a peer that runs this tool, as in its advertisement, or the purpose of an invitation.
package enum PeerRole: Equatable, Sendable {
    /// To chat in a room with this name.
    case chat(room: String)
    /// To receive files.
    case receive
    /// To send these files; nil in an advertisement, which does not state them.
    case send(OfferedFiles?)
    /// To send a text of this many bytes.
    case text(Int)
    /// To exchange standard input and output.
    case link

    /// The default name of a room.
    package static let lobby = "lobby"
    /// In bytes.
    private static let longestContext = 2_048
    private static let key = "does"
    private static let room = "room"

    /// Its form in an advertisement.
    package var info: [String: String] {
        switch self {
        case .chat(let room): [PeerRole.key: "chat", PeerRole.room: room]
        case .receive: [PeerRole.key: "receive"]
        case .send, .text: [PeerRole.key: "send"]
        case .link: [PeerRole.key: "link"]
        }
    }

    /// Returns nil for any other purpose.
    package init?(info: [String: String]) {
        switch info[PeerRole.key] {
        case "chat": self = .chat(room: info[PeerRole.room] ?? PeerRole.lobby)
        case "receive": self = .receive
        case "send": self = .send(nil)
        case "link": self = .link
        default: return nil
        }
    }

    /// Its form in an invitation: a word, a space and a parameter. It has the first names of files, so that the other user knows
    /// what to agree to; a peer that impersonates another one a peer with a random id can read them, as the specification's chapter 19 says.
    package var context: [UInt8] {
        switch self {
        case .chat(let room): Array("chat \(room)".utf8)
        case .text(let size): Array("text \(size)".utf8)
        case .receive: Array("receive".utf8)
        case .send(let files): Array("send \(files?.text ?? "1 -")".utf8)
        case .link: Array("link".utf8)
        }
    }

    /// The same without what is in the files.
    var unnamed: PeerRole {
        if case .send = self { .send(nil) } else { self }
    }

    /// Returns nil for invitations with any other purpose.
    package init?(context: [UInt8]?) {
        guard let context, context.count <= PeerRole.longestContext,
            let text = String(validating: context, as: UTF8.self)
        else {
            return nil
        }
        let word = text.prefix { $0 != " " }
        let rest = String(text.dropFirst(word.count + 1))
        switch word {
        case "chat": self = .chat(room: rest)
        case "send":
            guard let files = OfferedFiles(rest) else { return nil }
            self = .send(files)
        case "text":
            guard let size = Int(rest), size > 0 else { return nil }
            self = .text(size)
        case "receive" where rest.isEmpty: self = .receive
        case "link" where rest.isEmpty: self = .link
        default: return nil
        }
    }

    /// Whether peers with these two purposes have something to do with each other.
    package func suits(_ other: PeerRole) -> Bool {
        switch (self, other) {
        case (.send, .receive), (.receive, .send), (.text, .receive), (.receive, .text), (.link, .link): true
        case (.chat(let room), .chat(let other)): room == other
        default: false
        }
    }

    /// The command for the other side, if it takes a one-time code.
    package var counterpart: String? {
        switch self {
        case .send, .text: "receive"
        case .receive: "send"
        case .link: "link"
        case .chat: nil
        }
    }

    /// What an inviter with this purpose wants, after "wants to".
    package var wish: String {
        switch self {
        case .chat: "chat"
        case .receive: "receive files"
        case .send(let files): files?.wish ?? "send files"
        case .text(let size): "send a text, \(HumanReadable.bytes(size))"
        case .link: "link, and exchange input and output"
        }
    }

    /// The command that has this purpose.
    package var command: String {
        switch self {
        case .chat: "chat"
        case .receive: "receive"
        case .send, .text: "send"
        case .link: "link"
        }
    }
}
