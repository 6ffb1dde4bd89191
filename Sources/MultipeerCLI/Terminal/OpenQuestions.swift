import MultipeerCommandLine
import MultipeerEssentials

/// Questions to the user of a room, the oldest first. A question that is withdrawn is removed: unauthenticated peers can
/// cause any number, one after the other, and an answer must not go to one that was withdrawn.
package final class OpenQuestions: Sendable {
    private let open = Locked<[Promise<Bool>]>([])

    package init() {}

    package var count: Int { open.withLock(\.count) }

    /// Asks with `show`, and returns the answer; no when the task is cancelled.
    package func ask(_ show: () -> Void) async -> Bool {
        let signal = Promise<Bool>()
        open.withLock { $0.append(signal) }
        show()
        return await signal.value(onCancel: {
            open.withLock { $0.removeAll { $0 === signal } }
            signal.send(false)
        })
    }

    /// Answers the oldest question; returns false when there is none.
    package func answer(_ isTrusted: Bool) -> Bool {
        let signal = open.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        signal?.send(isTrusted)
        return signal != nil
    }
}
