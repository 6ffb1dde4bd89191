package import MultipeerCore
package import MultipeerFraming
import MultipeerLink

/// The connections of one session, which of them are links, and the data of the links.
///
/// The owner of the engine calls it for everything that concerns only one link: what is sent, what is read, and what is
/// to be written to a socket. The engine decides when a link begins or ends.
package struct LinkTable: ~Copyable {
    var connections = ConnectionTable()
    /// The connections that are links, in the order in which they became links.
    private(set) var linked: [Connection] = []
    private var turns: ReassemblyTurns
    private let memory: ReceiveMemory

    init(memory: ReceiveMemory, messageCredit: UInt32) {
        self.memory = memory
        turns = ReassemblyTurns(messageCredit: messageCredit)
    }

    subscript(id: ConnectionID) -> Connection? { connections[id] }

    /// Returns the peer at the other end of this link; nil when the connection is not a link.
    package func peer(on id: ConnectionID) -> LinkedPeer? { connections[id]?.peer }

    /// Returns the connection that is the link to `uid`.
    package func link(to uid: UID) -> ConnectionID? { linked.first { $0.peer?.peer.uid == uid }?.id }

    /// Returns the peer at the other end of this link, and marks the connection: after the caller's operation on the link,
    /// it may have data to write.
    mutating func markedPeer(on id: ConnectionID) -> LinkedPeer? {
        guard let connection = connections[id] else { return nil }
        connections.markDue(connection)
        return connection.peer
    }

    /// The time at which the first link, turn or closing connection is due.
    var deadline: Moment? {
        var earliest = Moment.earlier(turns.deadline, connections.deadline)
        for connection in linked { earliest = .earlier(earliest, connection.peer?.deadline) }
        return earliest
    }

    mutating func add(_ connection: Connection, _ peer: LinkedPeer) {
        connection.peer = peer
        linked.append(connection)
        connections.markDue(connection)
    }

    /// Removes a link that has ended; its connection may stay until the rest is written.
    mutating func remove(_ connection: Connection, at now: Moment) {
        connection.peer = nil
        linked.removeAll { $0 === connection }
        changeTurn { [id = connection.id] in $0.remove(id, at: now) }
    }
}

// MARK: - Writing

extension LinkTable {
    /// Removes and returns the connections that may have data to write, each once.
    package mutating func takeDue() -> [ConnectionID] { connections.takeDue() }

    /// Moves them to the end of `list`, whose memory can be reused.
    package mutating func takeDue(into list: inout [ConnectionID]) { connections.takeDue(into: &list) }

    /// The links that have data to write, whether or not they were due.
    package var unwritten: [ConnectionID] {
        linked.lazy.filter { $0.peer?.link.wantsToSend == true }.map(\.id)
    }

    /// Returns whether to read from this connection, while `unsent` bytes wait to be written to it.
    package func wantsInput(_ id: ConnectionID, unsent: Int) -> Bool {
        connections.wantsInput(id, unsent: unsent)
    }

    /// Queues messages, each of which was checked against the peer's limit.
    package mutating func enqueue(_ messages: consuming [[UInt8]], on id: ConnectionID) {
        markedPeer(on: id)?.link.enqueue(messages)
    }

    /// Queues one message.
    package mutating func enqueue(_ message: consuming [UInt8], on id: ConnectionID) {
        markedPeer(on: id)?.link.enqueue(message)
    }

    /// Queues messages on the link that were accepted for UDP, which no longer works. Returns false when they are
    /// dropped, because the session leaves. [dgram.fallback]
    package mutating func divert(_ messages: consuming [[UInt8]], on id: ConnectionID) -> Bool {
        guard let peer = markedPeer(on: id), !peer.isLeaving else { return false }
        peer.link.enqueue(messages)
        return true
    }

    /// Requests a notification when the peer has received everything enqueued so far: `markReached`.
    package mutating func mark(_ number: UInt64, on id: ConnectionID) {
        markedPeer(on: id)?.link.mark(number)
    }

    /// Queues OPEN and returns the channel's number; nil without a link, and on one that the session leaves.
    package mutating func open(_ opening: ChannelOpening, on id: ConnectionID) -> UInt32? {
        guard let peer = markedPeer(on: id), !peer.isLeaving else { return nil }
        return peer.open(opening)
    }

    package mutating func write(_ bytes: consuming [UInt8], to channel: UInt32, on id: ConnectionID) {
        markedPeer(on: id)?.link.write(bytes, to: channel)
    }

    /// Sends BEGIN, before everything that is written: the answer to `resumes`.
    package mutating func begin(_ channel: UInt32, at offset: UInt64, on id: ConnectionID) {
        markedPeer(on: id)?.link.begin(channel, at: offset)
    }

    /// Sends FIN after everything that was written.
    package mutating func finish(_ channel: UInt32, digest: [UInt8]?, on id: ConnectionID) {
        markedPeer(on: id)?.link.finish(channel, digest: digest)
    }

    /// Sends RESET at once: what waits is dropped. The engine calls it, with the time of its turn.
    mutating func reset(
        _ channel: UInt32, _ code: CloseCode, on id: ConnectionID, at now: Moment
    ) {
        markedPeer(on: id)?.reset(channel, code, at: now)
    }

    /// Drops what waits on a channel of a session that leaves.
    mutating func drop(_ channel: UInt32, on id: ConnectionID, at now: Moment) {
        markedPeer(on: id)?.drop(channel, at: now)
    }
}

// MARK: - Reading

extension LinkTable {
    /// Handles the report of a reader of a peer's channel, which has taken data or stopped. Returns whether the channel
    /// has ended: no more events of it follow.
    package mutating func read(_ report: ReaderReport, of channel: UInt32, on id: ConnectionID) -> Bool {
        let spare = memory.spare(beyond: linked.lazy.map { $0.peer?.link.extraCredit ?? 0 })
        return markedPeer(on: id)?.read(report, of: channel, spare: spare) ?? true
    }

    /// Counts unreliable messages of this cost that the application has taken.
    package mutating func consumedDatagrams(_ cost: Int, on id: ConnectionID) {
        peer(on: id)?.datagrams.unread -= cost
    }

    /// The number of channel bytes received and not taken, of all links together.
    package var heldBytes: Int { held.reduce(0) { $0 + $1.bytes } }

    /// The number of bytes that each link holds.
    private var held: [(id: ConnectionID, bytes: Int)] {
        linked.compactMap { link in link.peer.map { (id: link.id, bytes: $0.link.heldBytes) } }
    }

    /// Collects the channel events of a link.
    mutating func collectChannels(of peer: LinkedPeer, at now: Moment, into outputs: inout [SessionOutput]) {
        let events = peer.takeChannelEvents()
        if events.isEmpty { return }
        outputs.append(.channels(peer.id, events))
        relieveMemory(&outputs)
        if peer.sayGoodbyeWhenDrained(at: now), let connection = connections[peer.id] {
            connections.markDue(connection)
        }
    }

    /// Stops the fullest channel of the link that holds most, while all links together hold too many unread channel
    /// bytes.
    private mutating func relieveMemory(_ outputs: inout [SessionOutput]) {
        while let id = memory.excess(held), let peer = markedPeer(on: id),
            let number = peer.link.stopFullest(.busy)  // [limit.memory]
        {
            if peer.forget(number) { outputs.append(.relieved(id, channel: number)) }
        }
    }
}

// MARK: - Messages beyond their window

extension LinkTable {
    /// Updates whether a link has a long message to reassemble, and decides which link may.
    mutating func giveTurn(to peer: LinkedPeer, at now: Moment) {
        guard let report = peer.reassemblyReport() else { return }
        changeTurn { $0.report(peer.id, report, at: now) }
    }

    /// Returns the link that has the turn, delivers nothing and makes others wait.
    mutating func overdueTurn(at now: Moment) -> ConnectionID? { turns.advance(to: now) }

    private mutating func changeTurn(_ change: (inout ReassemblyTurns) -> Void) {
        let before = turns.holder
        change(&turns)
        guard turns.holder != before else { return }
        for (id, mayReassemble) in [(before, false), (turns.holder, true)] {
            guard let id, let peer = markedPeer(on: id) else { continue }
            peer.link.hasTurn = mayReassemble
        }
    }
}
