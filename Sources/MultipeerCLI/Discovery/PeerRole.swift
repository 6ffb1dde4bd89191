/// The purpose of a peer that runs this tool, as in its advertisement, or the purpose of an invitation.
package enum PeerRole: Equatable, Sendable {
    /// To chat in a room with this name.
    case chat(room: String)
    /// To receive files.
    case receive
    /// To send this number of files; nil in an advertisement, which does not state it.
    case send(files: Int?)
    /// To exchange standard input and output.
    case link

    /// The default name of a room.
    package static let lobby = "lobby"
    private static let key = "does"
    private static let room = "room"

    /// Its form in an advertisement.
    package var info: [String: String] {
        switch self {
        case .chat(let room): [PeerRole.key: "chat", PeerRole.room: room]
        case .receive: [PeerRole.key: "receive"]
        case .send: [PeerRole.key: "send"]
        case .link: [PeerRole.key: "link"]
        }
    }

    /// Returns nil for any other purpose.
    package init?(info: [String: String]) {
        switch info[PeerRole.key] {
        case "chat": self = .chat(room: info[PeerRole.room] ?? PeerRole.lobby)
        case "receive": self = .receive
        case "send": self = .send(files: nil)
        case "link": self = .link
        default: return nil
        }
    }

    /// Its form in an invitation: a word, a space and a parameter. It has no file names, since anyone who impersonates the other
    /// side can read it.
    package var context: [UInt8] {
        switch self {
        case .chat(let room): Array("chat \(room)".utf8)
        case .receive: Array("receive".utf8)
        case .send(let files): Array("send \(files ?? 1)".utf8)
        case .link: Array("link".utf8)
        }
    }

    /// Returns nil for invitations with any other purpose.
    package init?(context: [UInt8]?) {
        guard let context, context.count <= 512, let text = String(validating: context, as: UTF8.self) else {
            return nil
        }
        let word = text.prefix { $0 != " " }
        let rest = String(text.dropFirst(word.count + 1))
        switch word {
        case "chat": self = .chat(room: rest)
        case "send":
            guard let count = Int(rest), count > 0 else { return nil }
            self = .send(files: count)
        case "receive" where rest.isEmpty: self = .receive
        case "link" where rest.isEmpty: self = .link
        default: return nil
        }
    }

    /// Whether peers with these two purposes have something to do with each other.
    package func suits(_ other: PeerRole) -> Bool {
        switch (self, other) {
        case (.send, .receive), (.receive, .send), (.link, .link): true
        case (.chat(let room), .chat(let other)): room == other
        default: false
        }
    }

    /// The command for the other side, if it takes a one-time code.
    package var counterpart: String? {
        switch self {
        case .send: "receive"
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
        case .send(let files): files.map { $0 == 1 ? "send a file" : "send \($0) files" } ?? "send files"
        case .link: "link, and exchange input and output"
        }
    }

    /// The command that has this purpose.
    package var command: String {
        switch self {
        case .chat: "chat"
        case .receive: "receive"
        case .send: "send"
        case .link: "link"
        }
    }
}
