import Foundation

/// One run loop in one mode, where a stream's delegate is called: it can be rung from any thread.
///
/// A timer that is never due keeps the loop from returning for want of anything to do; moving its date wakes the loop,
/// which a block handed to `RunLoop.perform` does not on Linux. The loop returns from `run(mode:before:)` behind a call,
/// as it does behind an event of Foundation's streams and does not behind a timer.
///
/// Unchecked: the loop and the timer are set once, and both lock by themselves what is called here from other threads.
final class StreamBell: @unchecked Sendable {
    let runLoop: RunLoop
    let mode: RunLoop.Mode
    private let timer: Timer

    /// `strike` is called on the loop's thread, some time behind each `ring`, and answers whether it has called anybody.
    init(_ runLoop: RunLoop, _ mode: RunLoop.Mode, strike: @escaping @Sendable () -> Bool) {
        self.runLoop = runLoop
        self.mode = mode
        timer = Timer(fire: .distantFuture, interval: StreamBell.never, repeats: true) { _ in
            if strike() { RunLoop.current._stop() }
        }
        runLoop.add(timer, forMode: mode)
    }

    /// The run loop keeps the timer.
    deinit { timer.invalidate() }

    private static let never: TimeInterval = 1e10

    func ring() { timer.fireDate = .distantPast }

    /// For good.
    func silence() { timer.invalidate() }
}
