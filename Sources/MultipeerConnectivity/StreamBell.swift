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

    private struct Rung {
        weak var bell: StreamBell?
    }

    /// All that were rung and not answered yet, in their order: few, if any.
    private static let rung = Locked<[Rung]>([])

    func ring() {
        let isFirst = StreamBell.rung.withLock { rung in
            if rung.contains(where: { $0.bell === self }) { return false }
            rung.append(Rung(bell: self))
            return true
        }
        if isFirst { call() }
    }

    private func call() {
        runLoop.perform(inModes: [mode]) { [mode] in StreamBell.answer(in: mode) }
        // Setting a date wakes the loop from another thread alone; on its own, only a timer that is due does.
        timer.fireDate = RunLoop.current === runLoop ? .distantPast : .distantFuture
    }

    /// Answers the first bell of this thread's loop. Blocks that the loop took along with this one do not run while a
    /// delegate runs the loop, so there is a new one for the next bell.
    private static func answer(in mode: RunLoop.Mode) {
        let (first, next) = rung.withLock { rung -> (StreamBell?, StreamBell?) in
            rung.removeAll { $0.bell == nil }
            func isHere(_ rung: Rung) -> Bool {
                rung.bell?.runLoop === RunLoop.current && rung.bell?.mode == mode
            }
            guard let place = rung.firstIndex(where: isHere) else { return (nil, nil) }
            return (rung.remove(at: place).bell, rung.first(where: isHere)?.bell)
        }
        next?.call()
        if let first, first.strike(first) { RunLoop.current._stop() }
    }

    /// For good.
    func silence() { timer.invalidate() }
}
