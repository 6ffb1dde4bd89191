package import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh

// MARK: datagram input from the owner; the rest goes to `datagrams`

extension SessionEngine {
    /// Takes the result of `open`: the port at which this side receives, or nil, when unreliable messages use the
    /// link.
    package mutating func datagramPort(_ id: ConnectionID, _ port: UInt16?, at now: Moment) {
        self.now = now
        guard let peer = links.peer(on: id) else { return }
        let isControlling = mesh.local.endpoint.uid < peer.peer.uid
        datagrams.opened(peer, port, isControlling: isControlling, at: now, &outputs)
    }

    /// Takes the result of `draw`. When it is 0, or in use on another link, another one is requested.
    package mutating func datagramAssociation(_ id: ConnectionID, _ number: UInt64, at now: Moment) {
        self.now = now
        guard let peer = links.markedPeer(on: id), peer.datagrams.path != nil || peer.datagrams.hasDeclined
        else {
            return
        }
        guard let offer = datagrams.offer(number, to: peer, at: now) else {
            return outputs.append(.datagram(id, .draw))
        }
        peer.link.say(.datagram(offer))
    }
}
