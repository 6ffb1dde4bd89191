package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
package import MultipeerSecurity

/// What the owner of an engine does with a connection.
package enum ConnectionAction: Sendable {
    /// Open one. The owner answers with `secured` or `ended`. `accepting`: the key that the peer of a session has to show;
    /// nil for a plain connection, and for an invitation, where any key will do.
    indirect case dial(ConnectionID, Candidate, accepting: Fingerprint?)
    /// Write what `fill` still gives, end this side of the connection, and wait for the peer to end its own.
    case finish(ConnectionID)
    /// Give the connection back to the system at once.
    case drop(ConnectionID)
}

/// The connections of one engine, from the dial or the acceptance of each until it is given back.
struct ConnectionTable {
    private var connections: [ConnectionID: Connection] = [:]
    /// Those that only wait for the peer to end its side, in the order in which they began to.
    private(set) var finishing: [Connection] = []
    /// Those that may have something to write.
    private var due: [ConnectionID] = []

    /// How long a connection that was closed waits for the other end to close its side. [close.linger]
    static let linger = Duration.seconds(1)
    /// Replies to a peer that does not read them: with more than this waiting, nothing more is read from it either. More
    /// than ever waits while the peer reads, however slowly.
    static let unreadReplies = 524_288

    subscript(id: ConnectionID) -> Connection? { connections[id] }
    var isEmpty: Bool { connections.isEmpty }
    /// In the order in which they came.
    var ids: [ConnectionID] { connections.keys.sorted() }

    mutating func add(_ id: ConnectionID) { connections[id] = Connection(id) }

    // MARK: what is to be written

    mutating func markDue(_ connection: Connection) {
        guard !connection.isDue else { return }
        connection.isDue = true
        due.append(connection.id)
    }

    /// The connections that may have something to write, each once.
    mutating func takeDue() -> [ConnectionID] {
        if due.isEmpty { return [] }
        defer { due = [] }
        for id in due { connections[id]?.isDue = false }
        return due
    }

    /// Whether to read from this connection, while so many bytes wait to be written to it.
    func wantsInput(_ id: ConnectionID, unsent: Int) -> Bool {
        guard let connection = connections[id] else { return false }
        // What comes while we close is dropped, so it makes no replies.
        if connection.finishDeadline != nil { return true }
        return connection.frames.count + unsent <= ConnectionTable.unreadReplies  // [limit.unread]
    }

    // MARK: - Ends

    /// Tells the code when frames can be told, writes what waits, and ends the connection. [close.linger]
    mutating func close(_ id: ConnectionID, _ code: CloseCode, at now: Moment) -> ConnectionAction? {
        guard let connection = connections[id], connection.finishDeadline == nil else { return nil }
        guard connection.phase == .open else { return drop(connection, at: now) }
        if code != .ok { Frame.close(code, reason: "").encode(into: &connection.frames) }  // [close.linger]
        return finish(connection, at: now)
    }

    /// Closing at once would take back what the peer has not read yet.
    mutating func finish(_ connection: Connection, at now: Moment) -> ConnectionAction {
        connection.phase = .finishing(until: now + ConnectionTable.linger)
        finishing.append(connection)
        markDue(connection)
        return .finish(connection.id)
    }

    /// Nil when the connection was given back before.
    mutating func drop(_ connection: Connection, at now: Moment) -> ConnectionAction? {
        guard connections.removeValue(forKey: connection.id) != nil else { return nil }
        finishing.removeAll { $0 === connection }
        connection.phase = .finishing(until: now)
        return .drop(connection.id)
    }

    /// Those whose peers had their time to end their side.
    func overdue(at now: Moment) -> [Connection] {
        finishing.filter { connection in connection.finishDeadline.map { $0 <= now } ?? false }
    }

    /// When the first of those that close is given back.
    var deadline: Moment? { finishing.lazy.compactMap(\.finishDeadline).min() }
}
