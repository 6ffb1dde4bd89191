package import MultipeerCore
package import MultipeerTransport

// MARK: sending without waiting

// For APIs that are not asynchronous and translate to this one.
extension Session {
    /// Sends one message without ever waiting: it is accepted, or nothing of it was sent.
    ///
    /// It accepts what `send` would accept at once, and after that 64 MiB or 262,144 messages for each peer; they are sent in
    /// order with everything else for that peer, and count as undelivered in the link's disconnect reason when they are not sent.
    /// `waitUntilReceived` ignores those that wait. An unreliable message that would go over UDP is dropped when the UDP queue is full.
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
