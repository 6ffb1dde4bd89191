import Foundation
import MultipeerTransport

/// One run loop in one mode, where a stream's delegate is called: it can be woken from any thread.
///
/// A timer that is due only when a wakeup is pending keeps the loop from returning for lack of sources; setting its date wakes
/// the loop, which a block passed to `RunLoop.perform` does not on Linux. After a call the loop returns from `run(mode:before:)`,
/// as it does after an event of Foundation's streams, and does not after a block.
///
/// Unchecked: the loop and the timer are set once, and both lock by themselves what is called here from other threads.
final class RunLoopWakeup: @unchecked Sendable {
    let runLoop: RunLoop
    let mode: RunLoop.Mode
    private let timer: Timer
    private let handler: @Sendable (RunLoopWakeup) -> Bool

    /// Creates a wakeup; `handler` is called on the loop's thread, some time after each `wake`, and returns whether it has called
    /// the delegate.
    init(_ runLoop: RunLoop, _ mode: RunLoop.Mode, handler: @escaping @Sendable (RunLoopWakeup) -> Bool) {
        self.runLoop = runLoop
        self.mode = mode
        self.handler = handler
        timer = Timer(fire: .distantFuture, interval: RunLoopWakeup.never, repeats: true) { _ in }
        runLoop.add(timer, forMode: mode)
        SelfKeptTimers.shared.release(on: runLoop)
    }

    /// The run loop keeps the timer until then.
    deinit {
        timer.invalidate()
        SelfKeptTimers.shared.add(timer, of: runLoop)
    }

    private static let never: TimeInterval = 1e10

    private struct PendingWakeup {
        weak var wakeup: RunLoopWakeup?
    }

    /// All pending wakeups that were not handled yet, in order: few, if any.
    private static let pending = Locked<[PendingWakeup]>([])

    func wake() {
        let isFirst = RunLoopWakeup.pending.withLock { pending in
            if pending.contains(where: { $0.wakeup === self }) { return false }
            pending.append(PendingWakeup(wakeup: self))
            return true
        }
        if isFirst { call() }
    }

    private func call() {
        runLoop.perform(inModes: [mode]) { [mode] in RunLoopWakeup.answer(in: mode) }
        // Setting a date only wakes the loop from another thread; on its own, only a timer that is due does.
        timer.fireDate = RunLoop.current === runLoop ? .distantPast : .distantFuture
    }

    /// Returns the first wakeup of this thread's loop. Blocks that the loop took along with this one do not run while a
    /// delegate runs the loop, so there is a new one for the next wakeup.
    private static func answer(in mode: RunLoop.Mode) {
        let (first, next) = pending.withLock { pending -> (RunLoopWakeup?, RunLoopWakeup?) in
            pending.removeAll { $0.wakeup == nil }
            func isHere(_ pending: PendingWakeup) -> Bool {
                pending.wakeup?.runLoop === RunLoop.current && pending.wakeup?.mode == mode
            }
            guard let place = pending.firstIndex(where: isHere) else { return (nil, nil) }
            return (pending.remove(at: place).wakeup, pending.first(where: isHere)?.wakeup)
        }
        next?.call()
        SelfKeptTimers.shared.release(on: RunLoop.current)
        if let first, first.handler(first) { RunLoop.current._stop() }
    }

    /// Ends the wakeups for good.
    func invalidate() { timer.invalidate() }
}
