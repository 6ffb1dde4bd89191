package import MultipeerCore
import MultipeerFraming
package import MultipeerMesh

/// What waits to be sent to each linked peer, by either way; senders on any thread call it.
///
/// It stands here and not a layer above because generics are specialised within a module only: the same calls from another
/// module take five times as long.
package final class SendQueues: Sendable {
    package let links = Outlets()
    let datagrams = DatagramOutlets()
}

extension SendQueues {
    /// Queues one message; waits while the queue to that peer is full.
    package func send(_ message: [UInt8], to uid: UID) async throws(SendFault) {
        let outlet = try outlet(to: uid, for: message.count)
        switch outlet.offer(message) {
        case .accepted: return
        case .closed(let reason): throw .ended(reason)
        case .full: try await SendFault.translating { try await outlet.send(message) }
        }
    }

    /// Queues one message if there is room for it now.
    package func offer(_ message: [UInt8], to uid: UID) throws(SendFault) -> Bool {
        switch try outlet(to: uid, for: message.count).offer(message) {
        case .accepted: return true
        case .full: return false
        case .closed(let reason): throw .ended(reason)
        }
    }

    /// Queues messages in order; waits whenever the queue to that peer is full.
    package func send(contentsOf messages: [[UInt8]], to uid: UID) async throws(SendFault) {
        let longest = messages.reduce(0) { max($0, $1.count) }
        let outlet = try outlet(to: uid, for: longest)
        try await SendFault.translating { try await outlet.send(contentsOf: messages) }
    }

    /// Throws when a message of so many bytes cannot be sent to this peer.
    package func check(_ count: Int, to uid: UID) throws(SendFault) {
        _ = try outlet(to: uid, for: count)
    }

    /// Queues one message. An unreliable one goes over UDP when it fits there and UDP gets through; else it takes the
    /// link, whose queue it waits for like any other. [dgram.fallback]
    package func send(
        _ message: [UInt8], to uid: UID, delivery: Delivery
    ) async throws(SendFault) {
        if delivery == .unreliable, message.count <= Limits.datagramMessage, let outlet = datagrams[uid] {
            do {
                try await outlet.send(message)
                return
            } catch is PathDown {
                // It takes the link.
            } catch {
                throw .cancelled
            }
        }
        try await send(message, to: uid)
    }

    func outlet(to uid: UID, for count: Int) throws(SendFault) -> Outlet<EndReason> {
        guard let outlet = links[uid] else { throw .notLinked }
        guard count <= outlet.longestMessage else {
            throw .tooLong(count, limit: outlet.longestMessage)  // [msg.local-limit]
        }
        return outlet
    }
}

/// Why a message was not queued. Nothing of it was sent.
package enum SendFault: Error, Equatable, Sendable {
    case notLinked
    case tooLong(Int, limit: Int)
    case ended(EndReason)
    case cancelled
    /// So much waits for this peer that no more may.
    case full

    fileprivate static func translating(_ body: () async throws -> Void) async throws(SendFault) {
        do {
            try await body()
        } catch let reason as EndReason {
            throw .ended(reason)
        } catch {
            throw .cancelled
        }
    }
}
