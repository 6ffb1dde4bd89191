/// What somebody who runs this tool is there for, as the advertisement says it, and what an invitation is about.
package enum PeerRole: Equatable, Sendable {
    /// In a room of this name.
    case chat(room: String)
    /// To take files.
    case receive
    /// To send so many files; only in invitations.
    case send(files: Int)

    /// What the room is called unless somebody says otherwise.
    package static let lobby = "lobby"
    private static let key = "does"
    private static let room = "room"

    /// What an advertisement says of it.
    package var info: [String: String] {
        switch self {
        case .chat(let room): [PeerRole.key: "chat", PeerRole.room: room]
        case .receive: [PeerRole.key: "receive"]
        case .send: [:]
        }
    }

    /// Nil for those who are there for something else.
    package init?(info: [String: String]) {
        switch info[PeerRole.key] {
        case "chat": self = .chat(room: info[PeerRole.room] ?? PeerRole.lobby)
        case "receive": self = .receive
        default: return nil
        }
    }

    /// What an invitation says of it: a word, and behind a space what belongs to it. No names of files: whoever pretends to
    /// be the other side reads it.
    package var context: [UInt8] {
        switch self {
        case .chat(let room): Array("chat \(room)".utf8)
        case .receive: []
        case .send(let files): Array("send \(files)".utf8)
        }
    }

    /// Nil for invitations to something else.
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
        default: return nil
        }
    }
}
