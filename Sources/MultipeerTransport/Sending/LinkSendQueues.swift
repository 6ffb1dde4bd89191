package import MultipeerCore
package import MultipeerMesh

/// The send queues of the linked peers, found by senders on any thread.
package final class LinkSendQueues: Sendable {
    private struct Entry {
        let uid: UID
        let sendQueue: SendQueue<DisconnectReason>
    }

    /// There are few, and each message looks one up: to compare them all takes less time than a hash.
    private let open = Locked<[Entry]>([])

    /// Returns the send queue to a linked peer; nil when there is no link.
    package subscript(uid: UID) -> SendQueue<DisconnectReason>? {
        open.withLock { entries in
            for entry in entries where entry.uid == uid { return entry.sendQueue }
            return nil
        }
    }

    func open(
        _ uid: UID, longestMessage: Int, waking wake: @escaping @Sendable () -> Void
    ) -> SendQueue<DisconnectReason> {
        let sendQueue = SendQueue<DisconnectReason>(
            longestMessage: longestMessage, resumesAtHalf: true, wake: wake)
        open.withLock { entries in
            entries.removeAll { $0.uid == uid }
            entries.append(Entry(uid: uid, sendQueue: sendQueue))
        }
        return sendQueue
    }

    /// Closes the queue, and returns what was accepted and not yet taken.
    func close(_ uid: UID, with reason: DisconnectReason) -> [[UInt8]] {
        let sendQueue = open.withLock { entries in
            entries.firstIndex { $0.uid == uid }.map { entries.remove(at: $0).sendQueue }
        }
        return sendQueue?.close(with: reason) ?? []
    }
}

/// Credit for consumed events, on its way back to the loop.
final class ConsumedCredit: Sendable {
    private struct State: Sendable {
        var totals = CostTotals()
        var wake: Wake?
    }

    private let state = Locked(State())

    func onChange(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = Wake(call: wake) } }

    func add(_ totals: CostTotals) {
        let wake = state.withLock { state in
            state.totals.add(totals)
            return state.wake
        }
        wake?.call()
    }

    func take() -> CostTotals {
        state.withLock { state in
            defer { state.totals = CostTotals() }
            return state.totals
        }
    }
}
