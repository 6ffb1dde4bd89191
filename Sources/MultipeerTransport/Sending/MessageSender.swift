package import MultipeerCore
import MultipeerFraming
package import MultipeerMesh

/// The send queues to each linked peer, over the link and UDP; senders on any thread call it.
///
/// It stands here and not a layer above because generics are specialised within a module only: the same calls from another
/// module take five times as long.
package final class MessageSender: Sendable {
    package let links = LinkSendQueues()
    let datagrams = DatagramSendQueues()
}

extension MessageSender {
    /// Queues one message; waits while the queue to that peer is full.
    package func send(_ message: [UInt8], to uid: UID) async throws(SendFault) {
        let sendQueue = try sendQueue(to: uid, for: message.count)
        switch sendQueue.offer(message) {
        case .accepted: return
        case .closed(let reason): throw .ended(reason)
        case .full: try await SendFault.translating { try await sendQueue.send(message) }
        }
    }

    /// Queues one message if there is room for it now.
    package func offer(_ message: [UInt8], to uid: UID) throws(SendFault) -> Bool {
        switch try sendQueue(to: uid, for: message.count).offer(message) {
        case .accepted: return true
        case .full: return false
        case .closed(let reason): throw .ended(reason)
        }
    }

    /// Queues messages in order; waits whenever the queue to that peer is full.
    package func send(contentsOf messages: [[UInt8]], to uid: UID) async throws(SendFault) {
        let longest = messages.reduce(0) { max($0, $1.count) }
        let sendQueue = try sendQueue(to: uid, for: longest)
        try await SendFault.translating { try await sendQueue.send(contentsOf: messages) }
    }

    /// Throws when a message of `count` bytes cannot be sent to this peer.
    package func check(_ count: Int, to uid: UID) throws(SendFault) {
        _ = try sendQueue(to: uid, for: count)
    }

    /// Queues one message. An unreliable one goes over UDP when it fits there and UDP gets through; otherwise it is sent on the
    /// link, for whose queue it waits like any other. [dgram.fallback]
    package func send(
        _ message: [UInt8], to uid: UID, delivery: Session.Delivery
    ) async throws(SendFault) {
        if delivery == .unreliable, message.count <= Limits.datagramMessage, let sendQueue = datagrams[uid] {
            do {
                try await sendQueue.send(message)
                return
            } catch is PathDown {
                // It is sent on the link.
            } catch {
                throw .cancelled
            }
        }
        try await send(message, to: uid)
    }

    func sendQueue(to uid: UID, for count: Int) throws(SendFault) -> SendQueue<DisconnectReason> {
        guard let sendQueue = links[uid] else { throw .notLinked }
        guard count <= sendQueue.longestMessage else {
            throw .tooLong(count, limit: sendQueue.longestMessage)  // [msg.local-limit]
        }
        return sendQueue
    }
}

/// Why a message was not queued. Nothing of it was sent.
package enum SendFault: Error, Equatable, Sendable {
    case notLinked
    case tooLong(Int, limit: Int)
    case ended(DisconnectReason)
    case cancelled
    /// The queue to this peer is full.
    case full

    fileprivate static func translating(_ body: () async throws -> Void) async throws(SendFault) {
        do {
            try await body()
        } catch let reason as DisconnectReason {
            throw .ended(reason)
        } catch {
            throw .cancelled
        }
    }
}
