package import MultipeerCore
package import MultipeerFraming
import MultipeerIntroduction
package import MultipeerLink
import MultipeerMesh

/// What the engine knows of the unreliable messages of one link.
///
/// ```
///            the peer's data has DATAGRAMS              a port
///   without ───────────────────────────────▶ opening ──────────▶ with a path
///      ▲                                         │
///      └──────────────── no port ────────────────┘
/// ```
struct LinkDatagrams {
    /// Nil while the link has none.
    var path: DatagramPath?
    /// The owner was asked for a port.
    var isOpening = false
    /// The peer's offer came before the port did.
    var early: DatagramOffer?
    /// The peer was told that this side takes no part, or will be.
    var hasDeclined = false
    /// The path's decisions are due to become outputs.
    var isDue = false
    /// What messages have cost that the application has not taken.
    var unread = 0
    var sent = 0
    var received = 0
    /// Messages that found too much unread.
    var overflowed = 0

    /// What one peer's unreliable messages may cost until the application takes them; what comes beyond is lost.
    /// [limit.datagrams]
    static let mostUnread = 1_048_576

    var deadline: Moment? { mutating get { path?.inPlace { $0.deadline } } }
}

extension DatagramPath {
    /// A call that only reads would copy the path out of its optional first.
    fileprivate mutating func inPlace<Result>(_ body: (inout DatagramPath) -> Result) -> Result {
        body(&self)
    }
}

// MARK: - What the owner has done

extension SessionEngine {
    /// The answer to `open`: the port at which this side receives, or nil, and unreliable messages take the link.
    package mutating func datagramPort(_ id: ConnectionID, _ port: UInt16?, at now: Moment) {
        self.now = now
        guard let peer = connections[id]?.peer, peer.datagrams.isOpening else { return }
        peer.datagrams.isOpening = false
        if let port, port != 0 {
            peer.datagrams.path = DatagramPath(
                isControlling: mesh.local.endpoint.uid < peer.peer.uid,
                isProtected: peer.isEncrypted, port: port, timing: configuration.datagramTiming)
            noteDatagrams(peer)
        }
        if let early = peer.datagrams.early.take() { receive(early, peer) }
    }

    /// The answer to `draw`. One that is 0, or in use on another link, is asked for again.
    package mutating func datagramAssociation(_ id: ConnectionID, _ number: UInt64, at now: Moment) {
        self.now = now
        guard let connection = connections[id], let peer = connection.peer,
            peer.datagrams.path != nil || peer.datagrams.hasDeclined
        else { return }
        guard number != 0, associations[number] == nil else {  // [dgram.offer]
            return outputs.append(.datagram(id, .draw))
        }
        var offer = DatagramOffer(association: number, port: 0)
        if peer.datagrams.path != nil {
            forgetAssociation(peer)
            associations[number] = peer
            offer = peer.datagrams.path?.announce(number, at: now) ?? offer
            noteDatagrams(peer)
        }
        peer.link.say(.datagram(offer))
        markDue(connection)
    }

    /// The channel has made so many flights; `isDone`: its handshake is complete.
    package mutating func datagramHandshake(
        of peer: LinkedPeer, flights: Int, isDone: Bool, at now: Moment
    ) {
        peer.datagrams.path?.handshakeMoved(flights: flights, at: now)
        if isDone { peer.datagrams.path?.established(at: now) }
        noteDatagrams(peer)
    }

    /// The channel failed, or could not be made: the link does not suffer.
    package mutating func datagramsFailed(of peer: LinkedPeer, at now: Moment) {
        peer.datagrams.path?.failed(at: now)
        noteDatagrams(peer)
    }

    /// UDP does not get through any more: messages that were accepted for it take the link. Returns false when they are
    /// given up, because the session leaves. [dgram.fallback]
    package mutating func divert(_ messages: consuming [[UInt8]], on id: ConnectionID) -> Bool {
        guard leaving == .staying, let connection = connections[id], let peer = connection.peer else {
            return false
        }
        peer.link.enqueue(messages)
        markDue(connection)
        return true
    }

    /// The application has taken unreliable messages of this cost.
    package mutating func consumedDatagrams(_ cost: Int, on id: ConnectionID) {
        connections[id]?.peer?.datagrams.unread -= cost
    }
}

// MARK: - Each datagram

extension SessionEngine {
    /// Whose datagram this is; nil when it is for nobody, and dropped without a word. [dgram.silent]
    package func admit(_ header: DatagramHeader) -> LinkedPeer? {
        guard let peer = associations[header.association],
            peer.datagrams.path?.inPlace({ $0.admits(header) }) == true
        else { return nil }
        return peer
    }

    /// Takes a content: what the channel read, or, on a plain link, what followed the header of a datagram.
    package mutating func receiveDatagram(
        _ content: Span<UInt8>, from peer: LinkedPeer, at now: Moment
    ) -> DatagramPath.Verdict {
        guard var verdict = peer.datagrams.path?.receive(content, at: now) else {
            return DatagramPath.Verdict.dropped
        }
        noteDatagrams(peer)
        guard verdict.isMessage else { return verdict }
        let cost = MessageCredit.cost(content.count - ContentHeader.byteCount)
        if peer.datagrams.unread + cost <= LinkDatagrams.mostUnread {  // [limit.datagrams]
            peer.datagrams.unread += cost
            peer.datagrams.received += 1
        } else {
            peer.datagrams.overflowed += 1
            verdict.isMessage = false
        }
        return verdict
    }

    /// Appends the content that carries a message; returns false when it does not go this way now. [dgram.fallback]
    package mutating func encodeDatagram(
        _ message: Span<UInt8>, to peer: LinkedPeer, into content: inout ByteBuffer
    ) -> Bool {
        let isEncoded = peer.datagrams.path?.inPlace { path in
            guard path.canCarry(message.count) else { return false }
            path.encode(message, into: &content)
            return true
        }
        guard isEncoded == true else { return false }
        peer.datagrams.sent += 1
        return true
    }
}

// MARK: - What links and paths say

extension SessionEngine {
    /// Offers datagrams on a new link, to a peer whose connection data speaks of them.
    mutating func openDatagrams(_ peer: LinkedPeer, _ data: ConnectionData) {
        guard configuration.takesDatagrams, data.flags.contains(.datagrams) else { return }  // [dgram.offer]
        peer.datagrams.isOpening = true
        outputs.append(.datagram(peer.id, .open))
    }

    /// The peer's DGRAM.
    mutating func receive(_ offer: DatagramOffer, _ peer: LinkedPeer) {
        if peer.datagrams.isOpening { return peer.datagrams.early = offer }
        guard peer.datagrams.path != nil else { return decline(offer, peer) }
        peer.datagrams.path?.receive(offer, at: now)
        noteDatagrams(peer)
    }

    /// Whoever wants none says so once, in answer to an offer: port 0.
    private mutating func decline(_ offer: DatagramOffer, _ peer: LinkedPeer) {
        guard offer.port != 0, !peer.datagrams.hasDeclined else { return }
        peer.datagrams.hasDeclined = true
        outputs.append(.datagram(peer.id, .draw))  // [dgram.offer]
    }

    mutating func advanceDatagrams(_ peer: LinkedPeer) {
        guard let deadline = peer.datagrams.deadline, deadline <= now else { return }
        peer.datagrams.path?.advance(to: now)
        noteDatagrams(peer)
    }

    /// The session leaves: what was accepted goes, and no more.
    mutating func finishDatagrams(_ peer: LinkedPeer) {
        guard peer.datagrams.path != nil else { return }
        collectDatagrams()
        outputs.append(.datagram(peer.id, .finish))
    }

    /// The link is over: nothing more is taken or said.
    mutating func closeDatagrams(_ peer: LinkedPeer) {
        forgetAssociation(peer)
        peer.datagrams.path = nil
        peer.datagrams.isOpening = false
    }

    private mutating func forgetAssociation(_ peer: LinkedPeer) {
        if let former = peer.datagrams.path?.association { associations[former] = nil }
    }

    /// What the path decided is collected once for everything that came together, so that a peer that asks without end
    /// fills no memory.
    private mutating func noteDatagrams(_ peer: LinkedPeer) {
        guard !peer.datagrams.isDue, peer.datagrams.path?.inPlace({ $0.hasActions }) == true
        else { return }
        peer.datagrams.isDue = true
        dueDatagrams.append(peer)
    }

    mutating func collectDatagrams() {
        if dueDatagrams.isEmpty { return }
        let due = dueDatagrams
        dueDatagrams.removeAll(keepingCapacity: true)
        for peer in due {
            peer.datagrams.isDue = false
            for action in peer.datagrams.path?.takeActions() ?? [] { carryOut(action, peer) }
        }
    }

    private mutating func carryOut(_ action: DatagramPath.Action, _ peer: LinkedPeer) {
        switch action {
        case .drawAssociation: order(.draw, peer)
        case .begin(let context):
            guard let path = peer.datagrams.path, let header = path.header, let port = path.remotePort else {
                return
            }
            order(
                .begin(
                    .init(
                        header: header, port: port, isClient: path.isControlling, keyContext: context)), peer)
        case .drop: order(.drop, peer)
        case .retransmit: order(.retransmit, peer)
        case .send(let content): order(.send(content), peer)
        case .up: if leaving == .staying { order(.up, peer) }
        case .down: order(.down, peer)
        }
    }

    private mutating func order(_ order: DatagramOrder, _ peer: LinkedPeer) {
        outputs.append(.datagram(peer.id, order))
    }
}
