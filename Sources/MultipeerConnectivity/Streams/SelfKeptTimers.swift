import Foundation
import MultipeerTransport

/// Invalidated timers that nothing would ever release: in Swift 6.3, a timer of Foundation for Linux keeps a reference to itself.
///
/// The thread of a timer's run loop may be about to call it, so only that thread releases it: when it next handles a wakeup, or
/// another stream is scheduled there.
final class SelfKeptTimers: Sendable {
    static let shared = SelfKeptTimers()

    /// By run loop: each wakeup of one looks up its own, however many wait for others.
    private let timers = Locked<[ObjectIdentifier: [Timer]]>([:])
    /// Whether a timer is still there after its last reference is gone.
    private let exist: Bool

    private init() {
        weak var timer: Timer?
        do {
            let one = Timer(fire: .distantFuture, interval: 1, repeats: false) { _ in }
            one.invalidate()
            timer = one
        }
        exist = timer != nil
    }

    /// Takes an invalidated timer, which has no other owner.
    func add(_ timer: Timer, of runLoop: RunLoop) {
        guard exist else { return }
        timers.withLock { $0[ObjectIdentifier(runLoop), default: []].append(timer) }
        release(on: runLoop)
    }

    /// Releases the timers of a run loop, if this is its thread.
    func release(on runLoop: RunLoop) {
        guard exist, RunLoop.current === runLoop else { return }
        guard let own = timers.withLock({ $0.removeValue(forKey: ObjectIdentifier(runLoop)) }) else { return }
        // The reference that the timer keeps. The array's own is released after it.
        for timer in own { unsafe Unmanaged.passUnretained(timer).release() }
    }
}
