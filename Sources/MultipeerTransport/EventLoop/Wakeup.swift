import Synchronization

/// Whether a wake of one client is on its way, so that ten thousand wakes become one call.
package final class Wakeup: Sendable {
    private let isPending = Atomic(false)

    package init() {}

    /// Returns false when a wake is on its way already: it will see whatever happened before this call.
    func raise() -> Bool { !isPending.exchange(true, ordering: .acquiringAndReleasing) }

    /// Called before the client is, so that what happens from here on raises it again.
    func lower() { _ = isPending.exchange(false, ordering: .acquiringAndReleasing) }
}
