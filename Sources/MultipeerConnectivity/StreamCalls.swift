import Foundation
import Glibc
import MultipeerTransport

/// What a stream of the session has to tell its delegate, taken one by one.
protocol StreamNews: Sendable {
    /// Whether there is something that the delegate has not heard.
    var hasEvent: Bool { get }
    /// The next of it, which counts as told.
    func takeEvent() -> Stream.Event?
    var status: Stream.Status { get }
    /// Does nothing before it was opened.
    func close()
}

/// Calls a stream's delegate, on the run loops where the stream is scheduled, and on one thread at a time.
///
/// No lock is held during a call, and a delegate that runs the loop in one is called from there.
final class StreamCalls: Sendable {
    /// Neither the stream nor its delegate is kept alive.
    private struct State {
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
        var bells: [StreamBell] = []
        /// The thread that calls, and how many calls are on its stack.
        var caller: (thread: pthread_t, depth: Int)?
    }

    private let state = Locked(State())
    private let news: any StreamNews

    init(_ news: any StreamNews) { self.news = news }

    deinit { silence() }

    /// Called once, when the stream is there.
    func attach(_ stream: Stream) { state.withLock { $0.stream = stream } }

    /// One that comes late hears what nobody has heard yet.
    var delegate: (any StreamDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            state.withLock { $0.delegate = newValue }
            ring()
        }
    }

    func schedule(in runLoop: RunLoop, _ mode: RunLoop.Mode) {
        let isNew = state.withLock { state in
            if state.bells.contains(where: { $0.runLoop === runLoop && $0.mode == mode }) { return false }
            state.bells.append(StreamBell(runLoop, mode) { [weak self] in self?.tell($0) ?? false })
            return true
        }
        if isNew { ring() }
    }

    func remove(from runLoop: RunLoop, _ mode: RunLoop.Mode) {
        let bell = state.withLock { state -> StreamBell? in
            let place = state.bells.firstIndex { $0.runLoop === runLoop && $0.mode == mode }
            return place.map { state.bells.remove(at: $0) }
        }
        bell?.silence()
    }

    /// Ends the stream, unless it was never opened.
    func close() {
        if news.status != .notOpen { silence() }
        news.close()
    }

    /// The stream is over: nobody is called any more.
    func silence() {
        let bells = state.withLock { state in
            defer { state.bells = [] }
            return state.bells
        }
        for bell in bells { bell.silence() }
    }

    /// There may be news: it is told soon, where the stream is scheduled. From any thread.
    func ring() {
        guard news.hasEvent else { return }
        for bell in state.withLock({ $0.delegate == nil ? [] : $0.bells }) { bell.ring() }
    }

    /// Tells what there is, on the thread of a loop that was rung, and answers whether there was anything. What comes up
    /// meanwhile waits for the loop's next round, so that others have their turn.
    private func tell(_ bell: StreamBell) -> Bool {
        guard let stream = state.withLock({ $0.stream }), enter() else { return false }
        var hasTold = false
        for _ in 0..<StreamCalls.eventsAtOnce {
            guard let delegate = listener(at: bell), let event = news.takeEvent() else { break }
            // For a delegate that runs the loop: who rang before this call does not ring again.
            ring()
            delegate.stream(stream, handle: event)
            hasTold = true
        }
        leave()
        ring()
        return hasTold
    }

    /// That it is open, that there is something to do, and that it is over.
    private static let eventsAtOnce = 3

    /// The delegate, if the stream is still scheduled there.
    private func listener(at bell: StreamBell) -> (any StreamDelegate)? {
        state.withLock { state in state.bells.contains { $0 === bell } ? state.delegate : nil }
    }

    /// Answers whether no other thread calls: if one does, it looks again when it is done.
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
