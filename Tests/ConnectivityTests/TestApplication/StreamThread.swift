import Foundation

/// A thread that runs a run loop, as an application has for its streams.
///
/// Unchecked: the run loop is set before anybody can have the object, and is used as Foundation allows from everywhere.
final class StreamThread: @unchecked Sendable {
    static let shared = StreamThread()

    let runLoop: RunLoop

    private init() {
        let handOver = HandOver()
        Thread.detachNewThread {
            let own = RunLoop.current
            own.add(Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in }, forMode: .default)
            handOver.give(own)
            while true { _ = own.run(mode: .default, before: .distantFuture) }
        }
        runLoop = handOver.take()
    }

    /// Unchecked: the condition guards the only field.
    private final class HandOver: @unchecked Sendable {
        private let condition = NSCondition()
        private var runLoop: RunLoop?

        func give(_ runLoop: RunLoop) {
            condition.withLock {
                self.runLoop = runLoop
                condition.signal()
            }
        }

        func take() -> RunLoop {
            condition.withLock {
                while true {
                    if let runLoop { return runLoop }
                    condition.wait()
                }
            }
        }
    }
}
