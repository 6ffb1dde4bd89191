import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh

/// The events of a session for its owner and its handler: collected in a turn and delivered in one batch. Lives on the loop.
final class EventDelivery {
    private let eventQueue: EventQueue<Session.Event>
    /// The keys of events about peers that were not taken yet.
    private var peerEventKeys = PeerEventKeys()
    private var pending = EventQueue<Session.Event>.Batch()
    /// Channels whose readers have to be notified.
    private var heard: [ChannelReceiveQueue] = []
    /// Whether something may be pending, and whether a channel was noted: `deliver` is called more often.
    private var hasNews = false
    private var hasHeard = false
    private var news: EventQueue<Session.Event>.Batch {
        _read { yield pending }
        _modify {
            hasNews = true
            yield &pending
        }
    }
    /// Messages that were queued for a peer when its link ended, and never reached the engine.
    private var untaken: [UID: DisconnectReason.Undelivered] = [:]
    /// Takes its own part of what arrives.
    private(set) weak var handler: (any SubprotocolHandler)?
    /// Messages with this mark are not the application's, not even when the handler is gone.
    private var handlerMark: UInt32?
    /// The session is disconnecting: its events end with this instance.
    private var endsWithInstance = false
    /// The markers that the owner receives with that.
    private var departureMarkers: [EventMarker] = []

    init(into eventQueue: EventQueue<Session.Event>) { self.eventQueue = eventQueue }

    /// Sets the handler; returns false when there is another already.
    func admit(_ handler: any SubprotocolHandler) -> Bool {
        if self.handler != nil { return false }
        self.handler = handler
        handlerMark = handler.mark
        return true
    }

    /// Delivers the events in one batch.
    func deliver() {
        deliverNews()
        if hasHeard {
            hasHeard = false
            for channel in heard { channel.tell() }
            heard.removeAll(keepingCapacity: true)
        }
    }

    private func deliverNews() {
        guard hasNews else { return }
        hasNews = false
        eventQueue.push(&pending)
    }

    func append(_ marker: EventMarker) { news.append(marker) }
}

// MARK: - Peers

extension EventDelivery {
    /// What the application took of the events that have a cost.
    enum Taken {
        case messages(ConnectionID)
        case unreliableMessages(ConnectionID)
        case events(UID)
    }

    /// Returns what this sum belongs to; nil if nothing is counted under its key.
    func taken(_ sum: CostTotals.Sum) -> Taken? {
        if let id = UInt32(exactly: sum.key) { return .messages(ConnectionID(rawValue: id)) }
        if let id = UInt32(exactly: ~sum.key) { return .unreliableMessages(ConnectionID(rawValue: id)) }
        return peerEventKeys.take(sum.cost, key: sum.key).map { .events($0) }
    }

    /// Notifies the application of an event of a peer, and counts it until it was taken. [limit.relink]
    func tell(_ event: Session.Event, of uid: UID, _ engine: inout SessionEngine) {
        // A handler is notified in another way, and there may never be a reader.
        if handlerMark != nil, !eventQueue.isRead { return keep(event, of: uid, &engine) }
        news.append(event, key: peerEventKeys.add(uid), cost: 1)
    }

    /// Keeps an event for a reader to come. A link that ends takes its events with it: of a peer, what remains is the end of the
    /// link that an earlier reader knows, if there was one, and the link that there is now. [limit.relink]
    private func keep(_ event: Session.Event, of uid: UID, _ engine: inout SessionEngine) {
        var event = event
        if case .peer(_, .notConnected(let reason)) = event, let key = peerEventKeys[uid] {
            let withdrawn = eventQueue.withdraw(key)
            _ = peerEventKeys.take(withdrawn.count, key: key)
            engine.eventsTaken(withdrawn.count, of: uid)
            if let first = withdrawn.first, case .peer(_, .connecting) = first {
                // For the reader to come, the peer is where it was; after a replaced link, `connected` is next.
                guard reason.isReplacement else { return engine.eventsTaken(1, of: uid) }
                event = first
            }
        }
        deliverNews()
        eventQueue.push(withdrawable: event, key: peerEventKeys.add(uid), cost: 1)
    }

    func tell(_ peer: PeerID, _ state: PeerState, _ engine: inout SessionEngine) {
        var state = state
        if case .notConnected(var reason) = state, let more = untaken.removeValue(forKey: peer.uid) {
            reason.undelivered += more
            state = .notConnected(reason)
        }
        tell(.peer(peer, state), of: peer.uid, &engine)
    }

    /// Reports the end of the link to a peer, with the messages that were queued and never reached the engine.
    func linkEnded(to peer: PeerID, _ reason: DisconnectReason, untaken messages: [[UInt8]]) {
        let more = DisconnectReason.Undelivered(
            messages: messages.count, bytes: messages.reduce(0) { $0 + $1.count })
        if more.messages > 0 { untaken[peer.uid] = more }
        var whole = reason
        whole.undelivered += more
        handler?.linkEnded(to: peer, whole)
    }
}

// MARK: - Messages and channels

extension EventDelivery {
    func add(
        _ messages: IncomingBatch, on id: ConnectionID, of peer: PeerID, _ engine: inout SessionEngine
    ) {
        let taken = news.append(
            messages, from: peer, .reliable, key: Int(id.rawValue), except: handlerMark)
        if taken.isEmpty { return }
        engine.consumed(taken.reduce(0) { $0 + $1.cost }, on: id)
        handler?.arrived(taken, from: peer)
    }

    /// Adds unreliable messages; those that the application takes are counted under another key.
    func add(unreliable messages: IncomingBatch, on id: ConnectionID, of peer: PeerID) {
        _ = news.append(messages, from: peer, .unreliable, key: ~Int(id.rawValue), except: nil)
    }

    /// Adds a channel that a peer opened, which costs credit until the application takes it. [channel.cost]
    func add(_ channel: Session.Event, cost: Int, on id: ConnectionID, _ engine: inout SessionEngine) {
        if let handler, handler.takes(channel) { return engine.consumed(cost, on: id) }
        news.append(channel, key: Int(id.rawValue), cost: cost)
    }

    /// Notes that the reader of this channel has to be notified.
    func note(_ channel: ChannelReceiveQueue) {
        if heard.last !== channel { heard.append(channel) }
        hasHeard = true
    }
}

// MARK: - Leaving

extension EventDelivery {
    /// Ends the events where the next instance begins, after `marker`: the session is disconnecting.
    func endWithInstance(_ marker: EventMarker?) {
        endsWithInstance = true
        if let marker { departureMarkers.append(marker) }
    }

    /// Begins the next instance.
    func beginInstance() {
        guard endsWithInstance else { return }
        for marker in departureMarkers { news.append(marker) }
        departureMarkers = []
        deliver()
        eventQueue.endIterators()
        endsWithInstance = false
    }

    /// Ends the events for good.
    func finish() {
        deliver()
        eventQueue.finish()
    }
}

extension EventQueue<Session.Event>.Batch {
    /// Appends messages, and returns those that begin with `mark` instead. The small ones share their memory; a long one is not
    /// kept with them.
    fileprivate mutating func append(
        _ messages: IncomingBatch, from peer: PeerID, _ delivery: Session.Delivery, key: Int,
        except mark: UInt32?
    ) -> [IncomingMessage] {
        if messages.isEmpty { return [] }
        let shared = MessageStorage(messages.chunk, from: peer, delivery)
        var (total, marked) = (0, [IncomingMessage]())
        reserve(messages.count)
        messages.forEachPlace { range, bytes, cost in
            if let mark {
                let message = IncomingMessage(bytes ?? messages.chunk, range, cost: cost)
                if message.begins(with: mark) { return marked.append(message) }
            }
            let storage = bytes.map { MessageStorage($0, from: peer, delivery) } ?? shared
            elements.append(.message(Session.Message(in: storage, range)))
            total += cost
        }
        costs.add(total, for: key)
        return marked
    }

    /// Makes room for more elements, in steps that keep the cost of appending linear.
    private mutating func reserve(_ count: Int) {
        let needed = elements.count + count
        if elements.capacity < needed { elements.reserveCapacity(Swift.max(needed, elements.count * 2)) }
    }
}
