import Foundation
import MultipeerTransport

/// One run loop in one mode, where a stream's delegate is called: it can be rung from any thread.
///
/// A timer that is due only when the loop's own thread rings keeps the loop from returning for want of anything to do;
/// setting its date wakes the loop, which a block handed to `RunLoop.perform` does not on Linux. Behind a call the loop
/// returns from `run(mode:before:)`, as it does behind an event of Foundation's streams, and does not behind a block.
///
/// Unchecked: the loop and the timer are set once, and both lock by themselves what is called here from other threads.
final class StreamBell: @unchecked Sendable {
    let runLoop: RunLoop
    let mode: RunLoop.Mode
    private let timer: Timer
    private let isRung = Locked(false)
    private let strike: @Sendable (StreamBell) -> Bool

    /// `strike` is called on the loop's thread, some time behind each `ring`, and answers whether it has called anybody.
    init(_ runLoop: RunLoop, _ mode: RunLoop.Mode, strike: @escaping @Sendable (StreamBell) -> Bool) {
        self.runLoop = runLoop
        self.mode = mode
        self.strike = strike
        timer = Timer(fire: .distantFuture, interval: StreamBell.never, repeats: true) { _ in }
        runLoop.add(timer, forMode: mode)
    }

    /// The run loop keeps the timer until then.
    deinit { timer.invalidate() }

    private static let never: TimeInterval = 1e10

    func ring() {
        let isFirst = isRung.withLock { isRung in
            defer { isRung = true }
            return !isRung
        }
        guard isFirst else { return }
        runLoop.perform(inModes: [mode]) { [weak self] in self?.answer() }
        // Setting a date wakes the loop from another thread alone; on its own, only a timer that is due does.
        timer.fireDate = RunLoop.current === runLoop ? .distantPast : .distantFuture
    }

    private func answer() {
        isRung.withLock { $0 = false }
        if strike(self) { RunLoop.current._stop() }
    }

    /// For good.
    func silence() { timer.invalidate() }
}
