package import MultipeerCore
package import MultipeerTransport

// MARK: sending without waiting

// For APIs that are not asynchronous and translate to this one.
extension Session {
    /// Sends one message without ever waiting: either it is accepted, or no part of it is sent.
    ///
    /// Beyond what `send` would accept at once, up to 64 MiB or 262,144 messages are queued for each peer. They are sent in order
    /// with everything else for that peer; those that cannot be sent count as undelivered in the link's disconnect reason.
    /// `waitUntilReceived` ignores queued messages. An unreliable message that would be sent over UDP is dropped if the UDP queue
    /// is full.
    ///
    /// Throws `notConnected` when the peer is not linked, `tooLarge` when the message is longer than the peer accepts, `ended`
    /// when the link has just ended, and `full` when the queue is full.
    package func post(
        _ message: [UInt8], to peer: PeerID, delivery: Delivery
    ) throws(MultipeerError) {
        do throws(SendFault) {
            try driver.queues.post(message, to: peer.uid, delivery: delivery)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    /// Sends one message to all of several peers, or throws for the first that does not accept it: then nothing was sent to any
    /// of them. A peer that is named twice receives it twice.
    package func post(
        _ message: [UInt8], to peers: [PeerID], delivery: Delivery
    ) throws(MultipeerError) {
        if peers.count == 1 { return try post(message, to: peers[0], delivery: delivery) }
        var places: [ReservedPlace] = []
        for peer in peers {
            do throws(SendFault) {
                places.append(try driver.queues.reserve(message, to: peer.uid, delivery: delivery))
            } catch {
                for place in places { driver.queues.giveUp(place) }
                throw MultipeerError(error, to: peer)
            }
        }
        for place in places { driver.queues.commit(place, message) }
    }
}
