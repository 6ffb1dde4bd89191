import MultipeerEssentials

/// Ends a wait for input from another thread.
package final class Cancellation: Sendable {
    /// The reading end of a pipe, which is at its end once the wait is cancelled; -1 if there is no descriptor left.
    let descriptor: Int32
    private let writer: Locked<Int32?>

    package init() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            descriptor = -1
            writer = Locked(nil)
            return
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        descriptor = ends[0]
        writer = Locked(ends[1])
    }

    deinit {
        cancel()
        if descriptor >= 0 { _ = close(descriptor) }
    }

    package func cancel() {
        if let end = writer.withLock({ $0.take() }) { _ = close(end) }
    }
}
