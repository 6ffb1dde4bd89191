package import MultipeerEngine
package import MultipeerFraming
import Synchronization

/// A channel of the peer, between the loop that receives it and the task that reads it.
///
/// What bounds it is credit: what the reader is done with is reported back to the loop, in steps.
package final class ChannelInbox: Sendable {
    package enum End: Sendable {
        /// FIN.
        case finished(digest: [UInt8]?)
        case failed(ChannelFault)
    }

    private struct State: Sendable {
        /// Those before `head` were handed out.
        var pieces: [[UInt8]] = []
        var head = 0
        /// Handed out, and the reader may still be at them.
        var lent = 0
        /// The reader is done with so much, and the loop has not heard of it.
        var owed = 0
        /// All that came and was not reported.
        var held = 0
        var end: End?
        var waiter: Promise<Void>?
        var wasRead = false
        /// STOP, or DONE for a resource behind its FIN.
        var stop: CloseCode?
        var done: CloseCode?

        var hasUnread: Bool { head < pieces.count }

        /// A small piece joins the one before it: whoever trickles bytes must not cost an array for each.
        mutating func append(_ piece: [UInt8]) {
            if piece.count <= ChannelInbox.smallPiece, hasUnread, let last = pieces.indices.last,
                pieces[last].count + piece.count <= Limits.channelPiece
            {
                pieces[last] += piece
            } else {
                pieces.append(piece)
            }
        }

        mutating func drop() {
            pieces = []
            head = 0
            lent = 0
            owed = held
        }
    }

    private enum Taken {
        case pieces([[UInt8]])
        case end(End)
        case nothing(Promise<Void>)
    }


    /// What the loop takes over at a time.
    package typealias Report = ReaderReport

    package let opening: ChannelOpening
    /// What a reader takes before it is reported: less would wake the loop for every piece, more would hold back credit.
    /// CREDIT goes by quarters of the window, so half a quarter loses nothing.
    private let step: Int
    private let state = Locked(State())
    private let bytesReceived = Atomic<UInt64>(0)
    private let ring: @Sendable () -> Void

    /// `window`: bytes that the peer may send before any is taken. `ring` tells the loop that there is something to take.
    package init(
        _ opening: ChannelOpening, window: Int = Limits.channelCredit, ring: @escaping @Sendable () -> Void
    ) {
        self.opening = opening
        step = window / 8
        self.ring = ring
    }

    private static let smallPiece = 4_096
}

/// For the reader, on any thread.
extension ChannelInbox {
    var received: UInt64 { bytesReceived.load(ordering: .relaxed) }

    var digest: [UInt8]? {
        state.withLock { state in
            if case .finished(let digest) = state.end { digest } else { nil }
        }
    }

    /// What is there, up to so many pieces; nil behind FIN. What it answered before counts as done with.
    func next(upTo count: Int = .max) async throws(ChannelFault) -> [[UInt8]]? {
        while true {
            switch take(upTo: count) {
            case .pieces(let pieces): return pieces
            case .end(.finished): return nil
            case .end(.failed(let fault)): throw fault
            case .nothing(let signal):
                await signal.value(onCancel: { signal.send(()) })
                if isAbandoned(signal) { throw .cancelled }
            }
        }
    }

    /// Does nothing when it was given up before, or came to a bad end.
    func stop(_ code: CloseCode) {
        let (rings, waiter) = state.withLock { state -> (Bool, Promise<Void>?) in
            if state.stop != nil || state.done != nil { return (false, nil) }
            if case .failed = state.end { return (false, nil) }
            state.stop = code
            // Whoever has read everything keeps the good end.
            if state.end == nil || state.hasUnread { state.end = .failed(.cancelled) }
            state.drop()
            return (true, state.waiter.take())
        }
        waiter?.send(())
        if rings { ring() }
    }

    func done(_ code: CloseCode) {
        let rings = state.withLock { state in
            guard state.stop == nil, state.done == nil, case .finished = state.end else { return false }
            state.done = code
            state.drop()
            return true
        }
        if rings { ring() }
    }

    /// Nobody will read any more: whoever never did declines.
    func abandon() { stop(state.withLock { $0.wasRead } ? .cancelled : .declined) }

    private func take(upTo count: Int) -> Taken {
        let (taken, rings) = state.withLock { state -> (Taken, Bool) in
            state.wasRead = true
            state.owed += state.lent
            state.lent = 0
            if state.hasUnread {
                let pieces: [[UInt8]]
                if state.head == 0, count >= state.pieces.count {
                    pieces = state.pieces
                    state.pieces = []
                } else {
                    let end = state.head + min(count, state.pieces.count - state.head)
                    pieces = Array(state.pieces[state.head..<end])
                    for index in state.head..<end { state.pieces[index] = [] }
                    state.head = end
                    if end == state.pieces.count {
                        state.pieces.removeAll(keepingCapacity: true)
                        state.head = 0
                    }
                }
                state.lent = pieces.reduce(0) { $0 + $1.count }
                return (.pieces(pieces), state.owed >= step)
            }
            if let end = state.end { return (.end(end), state.owed > 0) }
            precondition(state.waiter == nil, "two tasks read one channel")
            let signal = Promise<Void>()
            state.waiter = signal
            return (.nothing(signal), state.owed >= step)
        }
        if rings { ring() }
        return taken
    }

    /// Answers whether the wait was cancelled: then the signal is still the channel's.
    private func isAbandoned(_ signal: Promise<Void>) -> Bool {
        state.withLock { state in
            if state.waiter !== signal { return false }
            state.waiter = nil
            return true
        }
    }
}

/// For the loop.
extension ChannelInbox {
    /// The reader hears of it with `tell`, once for a batch.
    package func deliver(_ piece: [UInt8]) {
        bytesReceived.wrappingAdd(UInt64(piece.count), ordering: .relaxed)
        state.withLock { state in
            state.held += piece.count
            if state.end == nil { state.append(piece) } else { state.owed += piece.count }
        }
    }

    /// What has come can still be read before it. The first end stays.
    package func end(_ end: End) {
        state.withLock { state in
            if state.end == nil { state.end = end }
        }
    }

    /// At once: what is there and unread is dropped. It overrules a FIN that was not answered.
    package func fail(_ fault: ChannelFault) {
        state.withLock { state in
            if case .failed = state.end { return }
            state.end = .failed(fault)
            state.drop()
        }
    }

    package func tell() {
        let waiter = state.withLock { state -> Promise<Void>? in
            if !state.hasUnread, state.end == nil { return nil }
            return state.waiter.take()
        }
        waiter?.send(())
    }

    package func take() -> Report {
        state.withLock { state in
            defer {
                state.held -= state.owed
                state.owed = 0
            }
            return Report(
                consumed: state.owed, stop: state.stop, done: state.done,
                isDrained: state.held == state.owed)
        }
    }
}
