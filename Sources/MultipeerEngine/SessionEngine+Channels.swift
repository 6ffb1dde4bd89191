package import MultipeerCore
package import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh

// MARK: channels of ours

extension SessionEngine {
    /// Queues OPEN and returns the channel's number; nil without a link.
    package mutating func open(_ opening: ChannelOpening, on id: ConnectionID) -> UInt32? {
        guard leaving == .staying, let connection = connections[id], let peer = connection.peer else {
            return nil
        }
        let number = peer.link.open(opening)
        peer.outgoing[number] = opening.kind
        markDue(connection)
        return number
    }

    package mutating func write(_ bytes: consuming [UInt8], to channel: UInt32, on id: ConnectionID) {
        guard let connection = connections[id] else { return }
        connection.peer?.link.write(bytes, to: channel)
        markDue(connection)
    }

    /// FIN, after everything that was written.
    package mutating func finish(_ channel: UInt32, digest: [UInt8]?, on id: ConnectionID) {
        guard let connection = connections[id] else { return }
        connection.peer?.link.finish(channel, digest: digest)
        markDue(connection)
    }

    /// RESET, at once: what waits is dropped.
    package mutating func reset(_ channel: UInt32, _ code: CloseCode, on id: ConnectionID) {
        guard let connection = connections[id], let peer = connection.peer else { return }
        peer.outgoing[channel] = nil
        peer.link.reset(channel, code)
        markDue(connection)
        sayGoodbye(connection, peer)
    }
}

// MARK: - Channels of the peer

/// What a reader of a peer's channel has done since it was last asked.
package struct ReaderReport: Equatable, Sendable {
    /// Bytes it has taken.
    package var consumed: Int
    /// It takes no more, for this reason.
    package var stop: CloseCode?
    /// What became of a resource.
    package var done: CloseCode?
    /// Nothing of what has come is left to take.
    package var isDrained: Bool

    package init(consumed: Int = 0, stop: CloseCode? = nil, done: CloseCode? = nil, isDrained: Bool = false) {
        self.consumed = consumed
        self.stop = stop
        self.done = done
        self.isDrained = isDrained
    }
}

extension SessionEngine {
    /// A reader has taken something, or gave up. Returns whether the channel is over: nothing about it comes any more.
    package mutating func read(_ report: ReaderReport, of channel: UInt32, on id: ConnectionID) -> Bool {
        guard let connection = connections[id], let peer = connection.peer,
            let place = peer.incoming[channel]
        else { return true }
        markDue(connection)
        if let code = report.stop, !place.isFinished {
            peer.incoming[channel] = nil
            peer.link.stop(channel, code)  // [channel.stop]
            return true
        }
        if report.consumed > 0 { peer.link.consumed(report.consumed, of: channel) }
        if place.kind == .resource {
            guard let code = report.done ?? report.stop else { return false }
            peer.link.done(channel, code)  // [resource.done]
        } else {
            guard place.isFinished, report.isDrained else { return false }
        }
        peer.incoming[channel] = nil
        return true
    }
}

// MARK: - What links say of channels

extension SessionEngine {
    mutating func collectChannels(_ connection: Connection, _ peer: LinkedPeer) {
        let events = peer.link.takeChannelEvents()
        if events.isEmpty { return }
        for event in events { note(event, peer) }
        outputs.append(.channels(connection.id, events))
        relieveMemory()
        sayGoodbye(connection, peer)
    }

    private func note(_ event: ChannelEvent, _ peer: LinkedPeer) {
        switch event {
        case .opened(let number, let opening, cost: _):
            peer.incoming[number] = LinkedPeer.Incoming(kind: opening.kind)
        case .finished(let number, digest: _): peer.incoming[number]?.isFinished = true
        case .aborted(let number, _): peer.incoming[number] = nil
        case .ended(let number): if peer.outgoing[number] == .stream { peer.outgoing[number] = nil }
        case .stopped(let number, _), .completed(let number, _): peer.outgoing[number] = nil
        case .data, .began, .wrote: break
        }
        switch event {
        case .opened, .data, .finished, .aborted, .stopped, .completed: peer.hasHeardOfChannels = true
        case .began, .wrote, .ended: break
        }
    }

    /// Once the channels that were finished are over, a link that is left goes when its messages have gone.
    mutating func sayGoodbye(_ connection: Connection, _ peer: LinkedPeer) {
        guard peer.isLeaving, peer.outgoing.isEmpty else { return }
        peer.link.closeWhenDrained(.goodbye, at: now)  // [close.goodbye]
        markDue(connection)
    }

    /// While all links together hold too much unread of channels, the fullest channel of the link that holds most goes.
    private mutating func relieveMemory() {
        let memory = ReceiveMemory(limit: configuration.memory)
        while let id = memory.excess(held), let connection = connections[id],
            let peer = connection.peer, let number = peer.link.stopFullest(.busy)  // [limit.memory]
        {
            markDue(connection)
            if peer.incoming.removeValue(forKey: number) != nil {
                outputs.append(.relieved(id, channel: number))
            }
        }
    }

    /// Bytes of channels that have come and were not taken, of all links together.
    package var heldBytes: Int { held.reduce(0) { $0 + $1.bytes } }

    /// What each link holds.
    private var held: [(id: ConnectionID, bytes: Int)] {
        links.compactMap { link in link.peer.map { (id: link.id, bytes: $0.link.heldBytes) } }
    }
}

// MARK: - Messages beyond their window

extension SessionEngine {
    /// Asks whether a link has a long message to reassemble, and decides which one may.
    mutating func giveTurn(_ connection: Connection, _ peer: LinkedPeer) {
        let report = peer.link.reassembly
        guard report.wants || peer.wantsTurn else { return }
        peer.wantsTurn = report.wants
        changeTurn { [id = connection.id, now] in $0.report(id, report, at: now) }
    }

    /// Ends a link that has the turn, brings nothing and makes others wait.
    mutating func advanceTurns() {
        guard let id = turns.advance(to: now), let connection = connections[id], let peer = connection.peer
        else { return }
        peer.link.close(.flow, reason: "nothing came of a long message", at: now)  // [limit.turn]
        collect(connection, peer)
    }

    mutating func changeTurn(_ change: (inout ReassemblyTurns) -> Void) {
        let before = turns.holder
        change(&turns)
        guard turns.holder != before else { return }
        for (id, mayReassemble) in [(before, false), (turns.holder, true)] {
            guard let id, let connection = connections[id], let peer = connection.peer else { continue }
            peer.link.hasTurn = mayReassemble
            markDue(connection)
        }
    }
}
