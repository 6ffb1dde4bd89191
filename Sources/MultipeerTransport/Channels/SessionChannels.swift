import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh

/// The streams and files of a session's links: passes what their owners write to the engine, and what the engine receives to
/// their readers. Lives on the loop.
final class SessionChannels {
    private let events: EventDelivery
    private let readyList: ReadyList
    /// The directory of received files for which no other was named.
    private let folder = ResourceFolder()
    /// Bytes that a peer may send on one channel before they are taken.
    private let window: Int
    /// What was handed to the link in this turn.
    private var written: [(channel: ChannelSendQueue, pieces: Int, bytes: Int)] = []

    init(telling events: EventDelivery, _ readyList: ReadyList, window: Int) {
        self.events = events
        self.readyList = readyList
        self.window = window
    }

    /// Opens a local channel; returns nil while there is no link.
    func open(
        _ opening: ChannelOpening, _ connection: SocketConnection, _ link: SessionLink,
        _ engine: inout SessionEngine
    ) -> ChannelSendQueue? {
        guard let number = engine.links.open(opening, on: connection.id) else { return nil }
        let key = ChannelKey(link: connection.id, number: number)
        let channel = ChannelSendQueue(opening) { [readyList] in readyList.add(.writer(key)) }
        link.outgoing[key.number] = channel
        return channel
    }

    /// Takes what a writer has queued: pieces, and the end of them.
    func serveWriter(_ key: ChannelKey, _ link: SessionLink, _ engine: inout SessionEngine) {
        guard let channel = link.outgoing[key.number] else { return }
        let work = channel.take()
        if let code = work.abort {
            link.outgoing[key.number] = nil
            return engine.reset(key.number, code, on: key.link)
        }
        if let offset = work.begin { engine.links.begin(key.number, at: offset, on: key.link) }
        for piece in work.pieces { engine.links.write(piece, to: key.number, on: key.link) }
        if work.isFinished { engine.links.finish(key.number, digest: work.digest, on: key.link) }
    }

    /// Takes what a reader has consumed, or its stop.
    func serveReader(_ key: ChannelKey, _ link: SessionLink, _ engine: inout SessionEngine) {
        guard let channel = link.incoming[key.number] else { return }
        if engine.links.read(channel.take(), of: key.number, on: key.link) { link.incoming[key.number] = nil }
    }
}

// MARK: - The engine's actions

extension SessionChannels {
    func deliver(
        _ said: [ChannelEvent], on id: ConnectionID, _ link: SessionLink, _ engine: inout SessionEngine
    ) {
        // Consecutive pieces of one channel are delivered together.
        var (pieces, channel): ([[UInt8]], UInt32) = ([], 0)
        for event in said {
            if case .data(let number, let bytes) = event {
                if number != channel { deliver(&pieces, of: channel, link) }
                channel = number
                pieces.append(bytes)
            } else {
                deliver(&pieces, of: channel, link)
                deliver(event, on: id, link, &engine)
            }
        }
        deliver(&pieces, of: channel, link)
    }

    private func deliver(_ pieces: inout [[UInt8]], of number: UInt32, _ link: SessionLink) {
        if pieces.isEmpty { return }
        var taken: [[UInt8]] = []
        swap(&taken, &pieces)
        let count = taken.reduce(0) { $0 + $1.count }
        link.channelBytesReceived += count
        hear(number, link) { $0.deliver(taken, count: count) }
    }

    private func deliver(
        _ event: ChannelEvent, on id: ConnectionID, _ link: SessionLink, _ engine: inout SessionEngine
    ) {
        switch event {
        case .opened(let number, let opening, let cost): announce(number, opening, cost, id, link, &engine)
        case .data: break
        case .begins(let number, let offset): hear(number, link) { $0.begins(at: offset) }
        case .finished(let number, let digest):
            hear(number, link) { $0.end(.finished(digest: digest)) }
            // There may be no reader left.
            serveReader(ChannelKey(link: id, number: number), link, &engine)
        case .aborted(let number, let code):
            hear(number, link) { $0.fail(.reset(code)) }
            link.incoming[number] = nil
        case .began(let number): link.outgoing[number]?.begin()
        case .resumes(let number, let offer): link.outgoing[number]?.resumes(offer)
        case .wrote(let number, let pieces, let bytes):
            link.channelBytesSent += bytes
            link.outgoing[number].map { wrote($0, pieces: pieces, bytes: bytes) }
        case .ended(let number):
            guard link.outgoing[number]?.opening.kind == .stream else { return }
            link.outgoing.removeValue(forKey: number)?.settle(nil)
        case .stopped(let number, let code):
            link.outgoing.removeValue(forKey: number)?.settle(.stopped(code))
        case .completed(let number, let code):
            link.outgoing.removeValue(forKey: number)?.settle(code == .ok ? nil : .stopped(code))
        }
    }

    private func wrote(_ channel: ChannelSendQueue, pieces: Int, bytes: Int) {
        channel.wrote(bytes: bytes)
        if let last = written.indices.last, written[last].channel === channel {
            written[last].pieces += pieces
            written[last].bytes += bytes
        } else {
            written.append((channel, pieces, bytes))
        }
    }

    /// Makes the room of what was written available again, at the end of a turn: a writer that is woken for each piece costs more
    /// than the piece.
    func releaseWritten() {
        for entry in written { entry.channel.released(pieces: entry.pieces, bytes: entry.bytes) }
        written.removeAll(keepingCapacity: true)
    }

    private func announce(
        _ number: UInt32, _ opening: ChannelOpening, _ cost: Int, _ id: ConnectionID, _ link: SessionLink,
        _ engine: inout SessionEngine
    ) {
        let key = ChannelKey(link: id, number: number)
        let channel = ChannelReceiveQueue(opening, window: window) { [readyList] in
            readyList.add(.reader(key))
        }
        link.incoming[number] = channel
        let receiver = ChannelReceiver(from: link.peer, with: link.peerKey, channel)
        let event: Session.Event =
            opening.kind == .resource
            ? .resource(IncomingResource(receiver, folder: folder)) : .stream(IncomingStream(receiver))
        events.add(event, cost: cost, on: id, &engine)
    }

    private func hear(_ number: UInt32, _ link: SessionLink, _ change: (ChannelReceiveQueue) -> Void) {
        guard let channel = link.incoming[number] else { return }
        change(channel)
        events.note(channel)
    }

    /// The session holds too much unread data, and this channel was stopped for it.
    func relieved(_ number: UInt32, _ link: SessionLink) {
        guard let channel = link.incoming.removeValue(forKey: number) else { return }
        channel.fail(.stopped(.busy))
        events.note(channel)
    }
}

// MARK: - The end

extension SessionChannels {
    /// Ends the channels of a session that disconnects: finished ones are sent, the rest is dropped, and fails at the peer with
    /// the link: a RESET would say that its user gave it up. [close.goodbye]
    func finish(
        _ id: ConnectionID, _ link: SessionLink, _ reason: DisconnectReason, _ engine: inout SessionEngine
    ) {
        for (number, channel) in link.outgoing.sorted(by: { $0.key < $1.key }) {
            serveWriter(ChannelKey(link: id, number: number), link, &engine)
            guard !channel.isFinished else { continue }
            engine.drop(number, on: id)
            link.outgoing.removeValue(forKey: number)?.settle(.ended(reason))
        }
    }

    /// Fails the channels of a link that has ended: each waiting task is notified once. Received data can still be read.
    func fail(_ link: SessionLink, _ reason: DisconnectReason) {
        for (_, channel) in link.outgoing.sorted(by: { $0.key < $1.key }) { channel.settle(.ended(reason)) }
        for (_, channel) in link.incoming.sorted(by: { $0.key < $1.key }) {
            channel.end(.failed(.ended(reason)))
            events.note(channel)
        }
        link.outgoing = [:]
        link.incoming = [:]
    }
}

extension ChannelOpening {
    /// The validation error; nil when it can be sent.
    var validationError: String? {
        if !(1...Limits.channelName ~= name.utf8.count) {  // [channel.name]
            return "a name has 1 to 1,024 bytes, not \(name.utf8.count)"
        }
        let count = metadata?.count ?? 0
        return count > Limits.channelMetadata ? "metadata has at most 1,024 bytes, not \(count)" : nil
    }
}
