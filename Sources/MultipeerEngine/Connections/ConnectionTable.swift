package import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
package import MultipeerSecurity

/// What the owner of an engine is to do with a connection.
package enum ConnectionAction: Sendable {
    /// Open one. The owner then calls `secured` or `ended`. `accepting`: the certificate that the peer of a session
    /// has to present; nil for a plain connection, and for an invitation, which has no pin.
    indirect case dial(ConnectionID, Candidate, accepting: CertificatePin?)
    /// Write what `fill` still returns, close this side of the connection, and wait for the peer to close its own.
    case finish(ConnectionID)
    /// Close the connection at once.
    case drop(ConnectionID)
}

/// The connections of one engine, from the dial or the acceptance of each until it is released.
struct ConnectionTable: ~Copyable {
    private var connections = ConnectionMap<Connection>()
    /// Connections that only wait for the peer to close its side, in the order in which they began to.
    private(set) var finishing: [Connection] = []
    /// Connections that may have data to write.
    private var due: [ConnectionID] = []

    /// How long a connection that was closed waits for the other end to close its side. [close.linger]
    static let linger = Duration.seconds(1)
    /// The maximum number of connections that wait for the peer to close: a peer must not use up the descriptors of the process
    /// by letting us close many of them. [limit.closing]
    static let finishingLimit = 64
    /// The limit on replies that a peer does not read: beyond it, nothing more is read from the peer either. While the
    /// peer reads, however slowly, fewer bytes wait.
    static let unreadReplies = 524_288

    subscript(id: ConnectionID) -> Connection? { connections[id] }
    var isEmpty: Bool { connections.isEmpty }
    /// The connections in the order of their arrival.
    var ids: [ConnectionID] { connections.keys }

    mutating func add(_ id: ConnectionID) { connections[id] = Connection(id) }

    // MARK: pending writes

    mutating func markDue(_ connection: Connection) {
        guard !connection.isDue else { return }
        connection.isDue = true
        due.append(connection.id)
    }

    /// Removes and returns the connections that may have data to write, each once.
    mutating func takeDue() -> [ConnectionID] {
        var list: [ConnectionID] = []
        takeDue(into: &list)
        return list
    }

    /// Moves the connections that may have data to write to the end of `list`, each once.
    mutating func takeDue(into list: inout [ConnectionID]) {
        for id in due {
            connections[id]?.isDue = false
            list.append(id)
        }
        due.removeAll(keepingCapacity: true)
    }

    /// Returns whether to read from this connection, while `unsent` bytes wait to be written to it.
    func wantsInput(_ id: ConnectionID, unsent: Int) -> Bool {
        guard let connection = connections[id] else { return false }
        // Data received while we close is dropped, so it causes no replies.
        if connection.finishDeadline != nil { return true }
        return connection.frames.count + unsent <= ConnectionTable.unreadReplies  // [limit.unread]
    }

    // MARK: - Ends

    /// Sends the code when frames can be sent, writes what waits, and ends the connection. [close.linger]
    mutating func close(_ id: ConnectionID, _ code: CloseCode, at now: Moment) -> ConnectionAction? {
        guard let connection = connections[id], connection.finishDeadline == nil else { return nil }
        guard connection.phase == .open else { return drop(connection, at: now) }
        if code != .ok { Frame.close(code, reason: "").encode(into: &connection.frames) }  // [close.linger]
        return finish(connection, at: now)
    }

    /// Finishes a connection gracefully: closing at once would discard what the peer has not read yet. [close.answer]
    mutating func finish(_ connection: Connection, at now: Moment) -> ConnectionAction {
        connection.phase = .finishing(until: now + ConnectionTable.linger)
        finishing.append(connection)
        markDue(connection)
        return .finish(connection.id)
    }

    /// Drops a connection; returns nil when it was already released.
    mutating func drop(_ connection: Connection, at now: Moment) -> ConnectionAction? {
        guard connections.removeValue(forKey: connection.id) != nil else { return nil }
        finishing.removeAll { $0 === connection }
        connection.phase = .finishing(until: now)
        return .drop(connection.id)
    }

    /// Drops the oldest closing connection, if there are too many. [limit.closing]
    mutating func dropSurplus(at now: Moment) -> ConnectionAction? {
        guard finishing.count > ConnectionTable.finishingLimit, let oldest = finishing.first else {
            return nil
        }
        return drop(oldest, at: now)
    }

    /// Returns the connections whose peers have not closed their side in time.
    func overdue(at now: Moment) -> [Connection] {
        finishing.filter { connection in connection.finishDeadline.map { $0 <= now } ?? false }
    }

    /// The time at which the first closing connection is released.
    var deadline: Moment? { finishing.lazy.compactMap(\.finishDeadline).min() }
}
