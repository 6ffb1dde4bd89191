package import MultipeerCore
package import MultipeerMesh

/// The outlets of the linked peers, found by senders on any thread.
package final class Outlets: Sendable {
    private let open = Locked<[UID: Outlet<EndReason>]>([:])

    /// The outlet to a linked peer; nil when there is no link.
    package subscript(uid: UID) -> Outlet<EndReason>? { open.withLock { $0[uid] } }

    func open(
        _ uid: UID, longestMessage: Int, waking wake: @escaping @Sendable () -> Void
    ) -> Outlet<EndReason> {
        let outlet = Outlet<EndReason>(longestMessage: longestMessage, wake: wake)
        open.withLock { $0[uid] = outlet }
        return outlet
    }

    /// Answers what was accepted and is not taken yet.
    func close(_ uid: UID, with reason: EndReason) -> [[UInt8]] {
        let outlet = open.withLock { $0.removeValue(forKey: uid) }
        return outlet?.close(with: reason) ?? []
    }
}

/// What the reader of the events is done with, on its way back to the loop, so that credit can be returned.
final class Consumption: Sendable {
    private struct State: Sendable {
        var tally = Tally()
        var wake: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    func onChange(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    func add(_ tally: Tally) {
        let wake = state.withLock { state in
            state.tally.add(tally)
            return state.wake
        }
        wake?()
    }

    func take() -> Tally {
        state.withLock { state in
            defer { state.tally = Tally() }
            return state.tally
        }
    }
}
