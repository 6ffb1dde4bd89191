package import MultipeerCore
package import MultipeerMesh

/// The send queues of the linked peers, found by senders on any thread.
package final class LinkSendQueues: Sendable {
    private let open = Locked<[UID: SendQueue<DisconnectReason>]>([:])

    /// Returns the send queue to a linked peer; nil when there is no link.
    package subscript(uid: UID) -> SendQueue<DisconnectReason>? { open.withLock { $0[uid] } }

    func open(
        _ uid: UID, longestMessage: Int, waking wake: @escaping @Sendable () -> Void
    ) -> SendQueue<DisconnectReason> {
        let sendQueue = SendQueue<DisconnectReason>(longestMessage: longestMessage, wake: wake)
        open.withLock { $0[uid] = sendQueue }
        return sendQueue
    }

    /// Closes the queue, and returns what was accepted and not yet taken.
    func close(_ uid: UID, with reason: DisconnectReason) -> [[UInt8]] {
        let sendQueue = open.withLock { $0.removeValue(forKey: uid) }
        return sendQueue?.close(with: reason) ?? []
    }
}

/// Credit for consumed events, on its way back to the loop.
final class ConsumedCredit: Sendable {
    private struct State: Sendable {
        var totals = CostTotals()
        var wake: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    func onChange(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    func add(_ totals: CostTotals) {
        let wake = state.withLock { state in
            state.totals.add(totals)
            return state.wake
        }
        wake?()
    }

    func take() -> CostTotals {
        state.withLock { state in
            defer { state.totals = CostTotals() }
            return state.totals
        }
    }
}
