package import MultipeerCore
import MultipeerFraming
package import MultipeerMesh
import Synchronization

/// The send queues to each linked peer, over the link and UDP; senders on any thread call it.
///
/// It stands here and not a layer above because generics are specialised within a module only: the same calls from another
/// module take five times as long.
package final class MessageSender: Sendable {
    package let links = LinkSendQueues()
    let datagrams = DatagramSendQueues()
    /// The mark of the session's handler, whose messages no one else may send; `noMark` if there has been none.
    private let handlerMark = Atomic<UInt64>(MessageSender.noMark)
    private static let noMark = UInt64.max

    /// Accepts messages with this mark only from the handler, from here on.
    func admit(mark: UInt32) { handlerMark.store(UInt64(mark), ordering: .relaxed) }
}

extension MessageSender {
    /// Queues one message; waits while the queue to that peer is full. `fromHandler`: it is the handler's, and may have its mark;
    /// so for `offer` and `post`.
    package func send(
        _ message: [UInt8], to uid: UID, fromHandler: Bool = false
    ) async throws(SendFault) {
        let sendQueue = try sendQueue(to: uid, for: message, fromHandler: fromHandler)
        switch sendQueue.offer(message) {
        case .accepted: return
        case .closed(let reason): throw .ended(reason)
        case .full: try await SendFault.translating { try await sendQueue.send(message) }
        }
    }

    /// Queues one message if there is room for it now.
    package func offer(
        _ message: [UInt8], to uid: UID, fromHandler: Bool = false
    ) throws(SendFault) -> Bool {
        switch try sendQueue(to: uid, for: message, fromHandler: fromHandler).offer(message) {
        case .accepted: return true
        case .full: return false
        case .closed(let reason): throw .ended(reason)
        }
    }

    /// Queues messages in order; waits whenever the queue to that peer is full.
    package func send(contentsOf messages: [[UInt8]], to uid: UID) async throws(SendFault) {
        let longest = messages.reduce(0) { max($0, $1.count) }
        let sendQueue = try sendQueue(to: uid, for: longest)
        for message in messages { try checkMark(of: message) }
        try await SendFault.translating { try await sendQueue.send(contentsOf: messages) }
    }

    /// Throws when a message cannot be sent to this peer.
    package func check(_ message: [UInt8], to uid: UID) throws(SendFault) {
        _ = try sendQueue(to: uid, for: message)
    }

    /// Queues one message. An unreliable one goes over UDP when it fits there and UDP gets through; otherwise it is sent on the
    /// link, for whose queue it waits like any other. [dgram.fallback]
    package func send(
        _ message: [UInt8], to uid: UID, delivery: Session.Delivery
    ) async throws(SendFault) {
        if delivery == .unreliable, message.count <= Limits.datagramMessage, let sendQueue = datagrams[uid] {
            try checkMark(of: message)
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

    func sendQueue(
        to uid: UID, for message: [UInt8], fromHandler: Bool = false
    ) throws(SendFault) -> SendQueue<DisconnectReason> {
        if !fromHandler { try checkMark(of: message) }
        return try sendQueue(to: uid, for: message.count)
    }

    /// Throws when a message of the application has the handler's mark: at the peer it would be taken for the handler's, on
    /// whichever way it arrives.
    private func checkMark(of message: [UInt8]) throws(SendFault) {
        guard let mark = UInt32(exactly: handlerMark.load(ordering: .relaxed)) else { return }
        if mark.begins(message.count, { message[$0] }) { throw .reserved }
    }

    private func sendQueue(to uid: UID, for count: Int) throws(SendFault) -> SendQueue<DisconnectReason> {
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
    /// The message has the handler's mark, and is the application's.
    case reserved

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
