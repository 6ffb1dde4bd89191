import Foundation
import MultipeerPlatform
import MultipeerTransport

/// The events of a stream for its delegate, taken one by one.
protocol StreamEventSource: Sendable {
    /// Whether there is an event that was not delivered.
    var hasEvent: Bool { get }
    /// Returns the next event, which counts as delivered.
    func takeEvent() -> Stream.Event?
    /// Whether the stream is open and its last event was not delivered.
    var isActive: Bool { get }
    /// Whether the stream goes on without a delegate: it still has to send what was written, and its end.
    var continuesWithoutDelegate: Bool { get }
    var status: Stream.Status { get }
    func open()
    /// Closes the stream; does nothing before it was opened.
    func close()
}

/// Calls a stream's delegate, on the run loops where the stream is scheduled, and on one thread at a time.
///
/// No lock is held during a call, and a delegate that runs the loop in one is called from there.
///
/// An open stream that is scheduled is kept alive, as Core Foundation's are, although no run loop may be running: until `close`,
/// the last `remove`, or its last event. One that only a delegate could read is kept as long as the delegate.
final class StreamDelegateCaller: Sendable {
    /// The delegate is not kept alive.
    private struct State {
        weak var stream: Stream?
        /// The stream, while it is kept alive.
        var kept: Stream?
        weak var delegate: (any StreamDelegate)?
        var wakeups: [RunLoopWakeup] = []
        /// The thread that calls, and how many calls are on its stack.
        var caller: (thread: pthread_t, depth: Int)?
    }

    private let state = Locked(State())
    private let news: any StreamEventSource

    init(_ news: any StreamEventSource) { self.news = news }

    deinit { invalidate() }

    /// Called once, when the stream exists.
    func attach(_ stream: Stream) { state.withLock { $0.stream = stream } }

    /// A delegate that is set late receives the undelivered events.
    var delegate: (any StreamDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            state.withLock { $0.delegate = newValue }
            keep()
            wake()
        }
    }

    func schedule(in runLoop: RunLoop, _ mode: RunLoop.Mode) {
        let isNew = state.withLock { state in
            if state.wakeups.contains(where: { $0.runLoop === runLoop && $0.mode == mode }) { return false }
            state.wakeups.append(RunLoopWakeup(runLoop, mode) { [weak self] in self?.tell($0) ?? false })
            return true
        }
        keep()
        if isNew { wake() }
    }

    func remove(from runLoop: RunLoop, _ mode: RunLoop.Mode) {
        let wakeup = state.withLock { state -> RunLoopWakeup? in
            let place = state.wakeups.firstIndex { $0.runLoop === runLoop && $0.mode == mode }
            return place.map { state.wakeups.remove(at: $0) }
        }
        wakeup?.invalidate()
        keep()
    }

    /// Opens the stream.
    func open() {
        news.open()
        keep()
    }

    /// Ends the stream, unless it was never opened.
    func close() {
        if news.status != .notOpen { invalidate() }
        news.close()
        keep()
    }

    /// Ends all calls: the stream is over.
    func invalidate() {
        let wakeups = state.withLock { state in
            defer { state.wakeups = [] }
            return state.wakeups
        }
        for wakeup in wakeups { wakeup.invalidate() }
    }

    /// Keeps the stream alive, or no longer. The last reference may be released here.
    private func keep() {
        var isActive: Bool
        repeat {
            isActive = news.isActive
            let continues = news.continuesWithoutDelegate
            let former = state.withLock { state in
                let isKept = isActive && !state.wakeups.isEmpty && (continues || state.delegate != nil)
                defer { state.kept = isKept ? state.stream : nil }
                return state.kept
            }
            withExtendedLifetime(former) {}
            // Another thread may have closed it in the meantime, and been the first to come here.
        } while news.isActive != isActive
    }

    /// Notes that there may be events: they are delivered soon, where the stream is scheduled. From any thread.
    func wake() {
        let wakeups = state.withLock { $0.delegate == nil ? nil : $0.wakeups }
        guard let wakeups else { return keep() }
        guard news.hasEvent else { return }
        for wakeup in wakeups { wakeup.wake() }
    }

    /// Delivers the events on the thread of a loop that was woken, and returns whether there were any. Those that occur in the
    /// meantime wait for the loop's next round, so that other sources have their turn.
    private func tell(_ wakeup: RunLoopWakeup) -> Bool {
        guard let stream = state.withLock({ $0.stream }), enter() else { return false }
        var hasTold = false
        for _ in 0..<StreamDelegateCaller.eventsAtOnce {
            guard let delegate = listener(at: wakeup), let event = news.takeEvent() else { break }
            // For a delegate that runs the loop: a wakeup before this call does not wake it again.
            wake()
            delegate.stream(stream, handle: event)
            hasTold = true
        }
        leave()
        keep()
        wake()
        return hasTold
    }

    /// Opened, ready, and over.
    private static let eventsAtOnce = 3

    /// Returns the delegate, if the stream is still scheduled there.
    private func listener(at wakeup: RunLoopWakeup) -> (any StreamDelegate)? {
        state.withLock { state in state.wakeups.contains { $0 === wakeup } ? state.delegate : nil }
    }

    /// Returns whether no other thread is calling: if one is, it checks again when it is done.
    private func enter() -> Bool {
        state.withLock { state in
            let thread = pthread_self()
            if let caller = state.caller, caller.thread != thread { return false }
            state.caller = (thread, (state.caller?.depth ?? 0) + 1)
            return true
        }
    }

    private func leave() {
        state.withLock { state in
            guard let caller = state.caller else { return }
            state.caller = caller.depth > 1 ? (caller.thread, caller.depth - 1) : nil
        }
    }
}
