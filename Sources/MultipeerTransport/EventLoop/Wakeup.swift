import Synchronization

/// Whether a wakeup of one client is pending, so that ten thousand wakes become one call.
package final class Wakeup: Sendable {
    private let isPending = Atomic(false)

    package init() {}

    /// Returns false when a wakeup is already pending: it will see everything that happened before this call.
    func raise() -> Bool { !isPending.exchange(true, ordering: .acquiringAndReleasing) }

    /// Clears it before the client is called, so that what happens from here on raises it again.
    func lower() { _ = isPending.exchange(false, ordering: .acquiringAndReleasing) }
}
