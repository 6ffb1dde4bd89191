package import MultipeerCore
package import MultipeerFraming
import MultipeerHandshake
package import MultipeerLink
import MultipeerMesh

/// The unreliable messages of a session's links: which links have a path, and under which association numbers this side
/// receives.
package struct DatagramPaths {
    /// Whether connection data announces that unreliable messages may use UDP.
    let isOffered: Bool
    let timing: DatagramPath.Timing
    /// The linked peer of each association number.
    private var associations: [UInt64: LinkedPeer] = [:]
    /// Peers whose paths have actions to take.
    private var due: [LinkedPeer] = []

    init(isOffered: Bool, timing: DatagramPath.Timing) {
        self.isOffered = isOffered
        self.timing = timing
    }
}

// MARK: - Input from channels

extension DatagramPaths {
    /// Notes how many flights the channel has made; `isDone`: its handshake is complete.
    package mutating func handshakeMoved(
        of peer: LinkedPeer, flights: Int, isDone: Bool, at now: Moment
    ) {
        peer.datagrams.path?.handshakeMoved(flights: flights, at: now)
        if isDone { peer.datagrams.path?.established(at: now) }
        note(peer)
    }

    /// Handles a channel that failed, or could not be made: the link is not affected.
    package mutating func failed(of peer: LinkedPeer, at now: Moment) {
        peer.datagrams.path?.failed(at: now)
        note(peer)
    }
}

// MARK: - Each datagram

extension DatagramPaths {
    /// Returns the peer of a datagram; nil when there is none, and the datagram is silently dropped. [dgram.drop]
    package func admit(_ header: DatagramHeader) -> LinkedPeer? {
        guard let peer = associations[header.association], peer.datagrams.admits(header) else { return nil }
        return peer
    }

    /// Returns whether a datagram with the header of an earlier one, which was this peer's, is still for it. It needs no look-up.
    package func admits(_ header: DatagramHeader, of peer: LinkedPeer) -> Bool {
        peer.datagrams.admits(header)
    }

    /// Handles a content: what the channel read, or, on a plain link, what followed the header of a datagram.
    package mutating func receive(
        _ content: Span<UInt8>, from peer: LinkedPeer, at now: Moment
    ) -> DatagramPath.Verdict {
        let (verdict, isDue) = peer.datagrams.receive(content, at: now)
        if isDue { due.append(peer) }
        return verdict
    }

    /// Appends the content that carries a message; returns false when the path cannot carry it now. [dgram.fallback]
    package func encode(
        _ message: Span<UInt8>, to peer: LinkedPeer, into content: inout ByteBuffer, at now: Moment
    ) -> Bool {
        peer.datagrams.encode(message, into: &content, at: now)
    }
}

// MARK: - Input from links and paths

extension DatagramPaths {
    /// Offers datagrams on a new link, to a peer whose connection data announces them.
    func open(_ peer: LinkedPeer, _ data: ConnectionData, _ outputs: inout [SessionOutput]) {
        guard isOffered, data.flags.contains(.datagrams) else { return }  // [dgram.offer]
        peer.datagrams.isOpening = true
        outputs.append(.datagram(peer.id, .open))
    }

    /// Takes the port for the link's datagrams, if there is one.
    mutating func opened(
        _ peer: LinkedPeer, _ port: UInt16?, isControlling: Bool, at now: Moment,
        _ outputs: inout [SessionOutput]
    ) {
        guard peer.datagrams.isOpening else { return }
        peer.datagrams.isOpening = false
        if let port, port != 0 {
            peer.datagrams.path = DatagramPath(
                isControlling: isControlling, isProtected: peer.isEncrypted, port: port, timing: timing)
            note(peer)
        }
        if let early = peer.datagrams.early.take() { receive(early, from: peer, at: now, &outputs) }
    }

    /// Takes the random number drawn for the link. Returns the offer to send to the peer; nil when another number has
    /// to be drawn, because this one is 0 or in use on another link.
    mutating func offer(_ number: UInt64, to peer: LinkedPeer, at now: Moment) -> DatagramOffer? {
        guard number != 0, associations[number] == nil else { return nil }  // [dgram.offer]
        guard peer.datagrams.path != nil else { return DatagramOffer(association: number, port: 0) }
        forgetAssociation(of: peer)
        associations[number] = peer
        defer { note(peer) }
        return peer.datagrams.path?.announce(number, at: now)
    }

    /// Handles the peer's DGRAM.
    mutating func receive(
        _ offer: DatagramOffer, from peer: LinkedPeer, at now: Moment, _ outputs: inout [SessionOutput]
    ) {
        if peer.datagrams.isOpening { return peer.datagrams.early = offer }
        guard peer.datagrams.path != nil else { return decline(offer, peer, &outputs) }
        peer.datagrams.path?.receive(offer, at: now)
        note(peer)
    }

    /// Declines an offer: a peer that accepts no datagrams states that once, in answer to an offer, with port 0.
    private func decline(_ offer: DatagramOffer, _ peer: LinkedPeer, _ outputs: inout [SessionOutput]) {
        guard offer.port != 0, !peer.datagrams.hasDeclined else { return }
        peer.datagrams.hasDeclined = true
        outputs.append(.datagram(peer.id, .draw))  // [dgram.offer]
    }

    mutating func advance(_ peer: LinkedPeer, to now: Moment) {
        guard let deadline = peer.datagrams.deadline, deadline <= now else { return }
        peer.datagrams.path?.advance(to: now)
        note(peer)
    }

    /// Pings now if a ping is due soon, because one is sent on a link.
    mutating func joinPing(_ peer: LinkedPeer, at now: Moment) {
        peer.datagrams.path?.joinPing(at: now)
        note(peer)
    }

    /// Finishes a path because the session leaves: accepted messages are sent, and no more are accepted.
    mutating func finish(_ peer: LinkedPeer, _ links: inout LinkTable, _ outputs: inout [SessionOutput]) {
        guard peer.datagrams.path != nil else { return }
        collect(&links, into: &outputs)
        outputs.append(.datagram(peer.id, .finish))
    }

    /// Closes the path of a link that has ended: nothing more is accepted or sent.
    mutating func close(_ peer: LinkedPeer) {
        forgetAssociation(of: peer)
        peer.datagrams.path = nil
        peer.datagrams.isOpening = false
    }

    private mutating func forgetAssociation(of peer: LinkedPeer) {
        if let former = peer.datagrams.path?.association { associations[former] = nil }
    }

    /// Notes that a path has actions, which are collected once per batch of input, so that a peer that keeps sending
    /// fills no memory.
    private mutating func note(_ peer: LinkedPeer) {
        if peer.datagrams.becomesDue() { due.append(peer) }
    }

    /// Whether nothing is to be collected.
    var isQuiet: Bool { due.isEmpty }

    mutating func collect(_ links: inout LinkTable, into outputs: inout [SessionOutput]) {
        if due.isEmpty { return }
        let noted = due
        due.removeAll(keepingCapacity: true)
        for peer in noted {
            peer.datagrams.isDue = false
            for action in peer.datagrams.path?.takeActions() ?? [] {
                if action == .withdraw {
                    links.markedPeer(on: peer.id)?.link.say(.datagram(.withdrawn))  // [dgram.rest]
                }
                guard let order = order(for: action, peer) else { continue }
                outputs.append(.datagram(peer.id, order))
            }
        }
    }

    private func order(for action: DatagramPath.Action, _ peer: LinkedPeer) -> DatagramAction? {
        switch action {
        case .drawAssociation: return .draw
        case .begin(let context):
            guard let path = peer.datagrams.path, let header = path.header, let port = path.remotePort else {
                return nil
            }
            return .begin(
                .init(header: header, port: port, isClient: path.isControlling, keyContext: context))
        case .drop: return .drop
        case .retransmit: return .retransmit
        case .send(let content): return .send(content)
        case .up: return peer.isLeaving ? nil : .up
        case .down: return .down
        case .withdraw: return nil
        }
    }
}
