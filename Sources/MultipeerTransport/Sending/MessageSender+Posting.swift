package import MultipeerCore
import MultipeerFraming
package import MultipeerMesh

// MARK: what senders that cannot wait call, on any thread

extension MessageSender {
    /// Queues one message, or throws: never waits. In order with everything else that is sent to this peer.
    ///
    /// An unreliable one goes over UDP when it fits there and UDP gets through; then it is dropped when the queue is full.
    /// `limit` is how much may be posted and waiting, including earlier messages.
    package func post(
        _ message: [UInt8], to uid: UID, delivery: Session.Delivery = .reliable, limit: Backlog = .standard,
        fromHandler: Bool = false
    ) throws(SendFault) {
        let sendQueue = try sendQueue(to: uid, for: message, fromHandler: fromHandler)
        if delivery == .unreliable, offerDatagram(message, to: uid) { return }
        switch sendQueue.post(message, limit: limit) {
        case .accepted: return
        case .full: throw .full
        case .closed(let reason): throw .ended(reason)
        }
    }

    /// Reserves the place of a message that is to be sent to all of several peers or to none.
    package func reserve(
        _ message: [UInt8], to uid: UID, delivery: Session.Delivery
    ) throws(SendFault) -> ReservedPlace {
        let sendQueue = try sendQueue(to: uid, for: message)
        if delivery == .unreliable, takesDatagram(message, uid) { return .datagram(uid) }
        switch sendQueue.reserve(message) {
        case .ticket(let ticket): return .link(sendQueue, ticket)
        case .full: throw .full
        case .closed(let reason): throw .ended(reason)
        }
    }

    package func commit(_ place: ReservedPlace, _ message: [UInt8]) {
        switch place {
        case .link(let sendQueue, let ticket): sendQueue.commit(ticket)
        case .datagram(let uid):
            if offerDatagram(message, to: uid) { return }
            // UDP has failed since: where the link has no room either, it is dropped, as it may be.
            _ = links[uid]?.post(message)
        }
    }

    package func giveUp(_ place: ReservedPlace) {
        if case .link(let sendQueue, let ticket) = place { sendQueue.giveUp(ticket) }
    }

    /// Returns false when the message has to be sent on the link.
    private func offerDatagram(_ message: [UInt8], to uid: UID) -> Bool {
        guard takesDatagram(message, uid), let sendQueue = datagrams[uid] else { return false }
        if case .closed = sendQueue.offer(message) { return false }
        return true
    }

    private func takesDatagram(_ message: [UInt8], _ uid: UID) -> Bool {
        message.count <= Limits.datagramMessage && datagrams[uid] != nil
    }
}

/// The reserved place of a message that is not committed yet.
package enum ReservedPlace: Sendable {
    case link(SendQueue<DisconnectReason>, UInt64)
    case datagram(UID)
}
