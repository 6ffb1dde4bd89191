package import MultipeerCore
import MultipeerFraming
package import MultipeerMesh

// MARK: what senders that cannot wait call, on any thread

extension SendQueues {
    /// Queues one message, or throws: never waits. In order with everything else that is sent to this peer.
    ///
    /// An unreliable one goes over UDP when it fits there and UDP gets through; then it is dropped when the queue is full.
    /// `limit` is how much may wait like that, with what was posted before.
    package func post(
        _ message: [UInt8], to uid: UID, delivery: Delivery = .reliable, limit: Backlog = .standard
    ) throws(SendFault) {
        let outlet = try outlet(to: uid, for: message.count)
        if delivery == .unreliable, offerDatagram(message, to: uid) { return }
        switch outlet.post(message, limit: limit) {
        case .accepted: return
        case .full: throw .full
        case .closed(let reason): throw .ended(reason)
        }
    }

    /// Keeps the place of a message that shall go to several peers or to nobody.
    package func reserve(
        _ message: [UInt8], to uid: UID, delivery: Delivery
    ) throws(SendFault) -> ReservedPlace {
        let outlet = try outlet(to: uid, for: message.count)
        if delivery == .unreliable, takesDatagram(message, uid) { return .datagram(uid) }
        switch outlet.reserve(message) {
        case .ticket(let ticket): return .link(outlet, ticket)
        case .full: throw .full
        case .closed(let reason): throw .ended(reason)
        }
    }

    package func commit(_ place: ReservedPlace, _ message: [UInt8]) {
        switch place {
        case .link(let outlet, let ticket): outlet.commit(ticket)
        case .datagram(let uid):
            if offerDatagram(message, to: uid) { return }
            // UDP broke down since: where the link has no room either, it is dropped, as it may be.
            _ = links[uid]?.post(message)
        }
    }

    package func giveUp(_ place: ReservedPlace) {
        if case .link(let outlet, let ticket) = place { outlet.giveUp(ticket) }
    }

    /// False when the message has to take the link.
    private func offerDatagram(_ message: [UInt8], to uid: UID) -> Bool {
        guard takesDatagram(message, uid), let outlet = datagrams[uid] else { return false }
        if case .closed = outlet.offer(message) { return false }
        return true
    }

    private func takesDatagram(_ message: [UInt8], _ uid: UID) -> Bool {
        message.count <= Limits.datagramMessage && datagrams[uid] != nil
    }
}

/// Where a message would go that is not committed yet.
package enum ReservedPlace: Sendable {
    case link(Outlet<EndReason>, UInt64)
    case datagram(UID)
}
