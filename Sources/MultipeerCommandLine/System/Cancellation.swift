import MultipeerEssentials

/// Ends a wait for input from another thread.
package final class Cancellation: Sendable {
    /// The reading end of a pipe, which is at its end once the wait is cancelled; -1 if there is no descriptor left.
    let descriptor: Int32
    private let writer: Locked<Int32?>
    private let hasCome = Locked(false)

    package init() {
        guard let ends = Descriptors.pipe() else {
            descriptor = -1
            writer = Locked(nil)
            return
        }
        descriptor = ends.reading
        writer = Locked(ends.writing)
    }

    var isCancelled: Bool { hasCome.withLock(\.self) }

    deinit {
        cancel()
        if descriptor >= 0 { _ = close(descriptor) }
    }

    package func cancel() {
        hasCome.withLock { $0 = true }
        if let end = writer.withLock({ $0.take() }) { _ = close(end) }
    }
}
