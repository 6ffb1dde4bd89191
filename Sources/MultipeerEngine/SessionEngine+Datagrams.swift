package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh

// MARK: what the owner has done about datagrams; the rest it tells `datagrams`

extension SessionEngine {
    /// The answer to `open`: the port at which this side receives, or nil, and unreliable messages take the link.
    package mutating func datagramPort(_ id: ConnectionID, _ port: UInt16?, at now: Moment) {
        self.now = now
        guard let peer = connections[id]?.peer else { return }
        let isControlling = mesh.local.endpoint.uid < peer.peer.uid
        datagrams.opened(peer, port, isControlling: isControlling, at: now, &outputs)
    }

    /// The answer to `draw`. One that is 0, or in use on another link, is asked for again.
    package mutating func datagramAssociation(_ id: ConnectionID, _ number: UInt64, at now: Moment) {
        self.now = now
        guard let connection = connections[id], let peer = connection.peer,
            peer.datagrams.path != nil || peer.datagrams.hasDeclined
        else { return }
        guard let offer = datagrams.offer(number, to: peer, at: now) else {
            return outputs.append(.datagram(id, .draw))
        }
        peer.link.say(.datagram(offer))
        markDue(connection)
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
