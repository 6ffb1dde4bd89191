package import MultipeerCore
package import MultipeerFraming
import MultipeerLink

/// The connections of one session, which of them are links, and what the links carry.
///
/// The owner of the engine calls it for everything that only one link has to know of: what is sent, what is read, and
/// what is to be written to a socket. What begins or ends a link is the engine's to decide.
package struct LinkTable {
    var connections = ConnectionTable()
    /// Those that are links, in the order in which they became so.
    private(set) var linked: [Connection] = []
    private var turns = ReassemblyTurns()
    private let memory: ReceiveMemory

    init(memory: ReceiveMemory) { self.memory = memory }

    subscript(id: ConnectionID) -> Connection? { connections[id] }

    /// The peer at the other end of this link; nil when the connection is none.
    package func peer(on id: ConnectionID) -> LinkedPeer? { connections[id]?.peer }

    /// The connection that is the link to `uid`.
    package func link(to uid: UID) -> ConnectionID? { linked.first { $0.peer?.peer.uid == uid }?.id }

    /// Returns the peer at the other end of this link, and marks the connection: after what is done to the link, it may have
    /// something to write.
    mutating func markedPeer(on id: ConnectionID) -> LinkedPeer? {
        guard let connection = connections[id] else { return nil }
        connections.markDue(connection)
        return connection.peer
    }

    /// When the first link, turn or closing connection has something to do.
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

    /// The link is over; its connection may stay for what is still to be written.
    mutating func remove(_ connection: Connection, at now: Moment) {
        connection.peer = nil
        linked.removeAll { $0 === connection }
        changeTurn { [id = connection.id] in $0.remove(id, at: now) }
    }
}

// MARK: - What is written

extension LinkTable {
    /// The connections that may have something to write, each once.
    package mutating func takeDue() -> [ConnectionID] { connections.takeDue() }

    /// Whether to read from this connection, while so many bytes wait to be written to it.
    package func wantsInput(_ id: ConnectionID, unsent: Int) -> Bool {
        connections.wantsInput(id, unsent: unsent)
    }

    /// Queues messages, each of which was checked against the peer's limit.
    package mutating func enqueue(_ messages: consuming [[UInt8]], on id: ConnectionID) {
        markedPeer(on: id)?.link.enqueue(messages)
    }

    /// UDP does not get through any more: messages that were accepted for it take the link. Returns false when they are
    /// given up, because the session leaves. [dgram.fallback]
    package mutating func divert(_ messages: consuming [[UInt8]], on id: ConnectionID) -> Bool {
        guard let peer = markedPeer(on: id), !peer.isLeaving else { return false }
        peer.link.enqueue(messages)
        return true
    }

    /// Asks the peer to say when it has received everything that was enqueued so far: `markReached`.
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

    /// FIN, after everything that was written.
    package mutating func finish(_ channel: UInt32, digest: [UInt8]?, on id: ConnectionID) {
        markedPeer(on: id)?.link.finish(channel, digest: digest)
    }

    /// RESET, at once: what waits is dropped. The engine calls it, with the moment of its turn.
    mutating func reset(
        _ channel: UInt32, _ code: CloseCode, on id: ConnectionID, at now: Moment
    ) {
        markedPeer(on: id)?.reset(channel, code, at: now)
    }
}

// MARK: - What is read

extension LinkTable {
    /// A reader of a peer's channel has taken something, or gave up. Returns whether the channel is over: nothing about it
    /// comes any more.
    package mutating func read(_ report: ReaderReport, of channel: UInt32, on id: ConnectionID) -> Bool {
        markedPeer(on: id)?.read(report, of: channel) ?? true
    }

    /// The application has taken unreliable messages of this cost.
    package mutating func consumedDatagrams(_ cost: Int, on id: ConnectionID) {
        peer(on: id)?.datagrams.unread -= cost
    }

    /// Bytes of channels that have come and were not taken, of all links together.
    package var heldBytes: Int { held.reduce(0) { $0 + $1.bytes } }

    /// What each link holds.
    private var held: [(id: ConnectionID, bytes: Int)] {
        linked.compactMap { link in link.peer.map { (id: link.id, bytes: $0.link.heldBytes) } }
    }

    /// Takes what a link says of its channels.
    mutating func collectChannels(of peer: LinkedPeer, at now: Moment, into outputs: inout [SessionOutput]) {
        let events = peer.takeChannelEvents()
        if events.isEmpty { return }
        outputs.append(.channels(peer.id, events))
        relieveMemory(&outputs)
        if peer.sayGoodbyeWhenDrained(at: now), let connection = connections[peer.id] {
            connections.markDue(connection)
        }
    }

    /// While all links together hold too much unread of channels, the fullest channel of the link that holds most goes.
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
    /// Asks whether a link has a long message to reassemble, and decides which one may.
    mutating func giveTurn(to peer: LinkedPeer, at now: Moment) {
        guard let report = peer.reassemblyReport() else { return }
        changeTurn { $0.report(peer.id, report, at: now) }
    }

    /// The link that has the turn, brings nothing and makes others wait.
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
