package import MultipeerEngine
package import MultipeerFraming
import Synchronization

/// A channel of the peer, between the loop that receives it and the task that reads it.
///
/// Credit bounds it: what the reader has consumed is reported back to the loop, in steps.
package final class ChannelReceiveQueue: Sendable {
    package enum End: Sendable {
        /// FIN.
        case finished(digest: [UInt8]?)
        case failed(ChannelFault)
    }

    fileprivate struct State: Sendable {
        /// Those before `head` were returned.
        var pieces: [[UInt8]] = []
        var head = 0
        /// Returned, and possibly still in use by the reader.
        var lent = 0
        /// Consumed by the reader, and not yet reported to the loop.
        var owed = 0
        /// All that was received and not reported.
        var held = 0
        var end: End?
        /// Whether a task waits for more.
        var isAwaited = false
        var wasRead = false
        /// RESUME that is not yet reported.
        var resume: ResumeOffer?
        /// The offset of BEGIN.
        var beginning: UInt64?
        /// STOP, or DONE for a resource after its FIN.
        var stop: CloseCode?
        var done: CloseCode?

        var hasUnread: Bool { head < pieces.count }

        /// A small piece is appended to the one before it: a peer that sends single bytes must not cost an array for each.
        mutating func append(_ piece: [UInt8]) {
            if piece.count <= ChannelReceiveQueue.smallPiece, hasUnread, let last = pieces.indices.last,
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

    fileprivate enum Taken: Sendable {
        case pieces([[UInt8]])
        case end(End)
    }

    /// What the loop takes over from readers.
    package typealias Report = ReaderReport

    package let opening: ChannelOpening
    /// How much a reader consumes before it is reported: less would wake the loop for every piece, more would hold back credit.
    /// CREDIT is granted by quarters of the window, so half a quarter loses nothing; nor does a quarter of what is held, in a
    /// window that has grown.
    private let step: Int
    private let mailbox = Mailbox(State())
    private let bytesReceived = Atomic<UInt64>(0)
    private let wakeLoop: @Sendable () -> Void

    /// Creates an empty queue. `window`: bytes that the peer may send before any is taken. `wakeLoop` wakes the loop for a
    /// report.
    package init(
        _ opening: ChannelOpening, window: Int = Limits.channelCredit,
        wakeLoop: @escaping @Sendable () -> Void
    ) {
        self.opening = opening
        step = window / 8
        self.wakeLoop = wakeLoop
    }

    private static let smallPiece = 4_096
}

/// For the reader, on any thread.
extension ChannelReceiveQueue {
    var received: UInt64 { bytesReceived.load(ordering: .relaxed) }

    var digest: [UInt8]? {
        mailbox.withLock { state in
            if case .finished(let digest) = state.end { digest } else { nil }
        }
    }

    /// Returns the available pieces, at most `count`; nil after FIN. Pieces that it returned before count as consumed.
    ///
    /// Throws `.inUse` while another task waits, and `.cancelled` when this one is cancelled instead of waiting.
    func next(upTo count: Int = .max) async throws(ChannelFault) -> [[UInt8]]? {
        switch try await take(upTo: count) {
        case .pieces(let pieces): return pieces
        case .end(.finished): return nil
        case .end(.failed(let fault)): throw fault
        }
    }

    /// Takes one piece without waiting for it. Pieces that it returned before count as consumed.
    func takeNow() -> IncomingStream.Next {
        let (taken, wakes) = mailbox.withLock { [step, opening] state -> (Taken?, Bool) in
            (state.take(upTo: 1), state.wakes(step, opening.kind))
        }
        if wakes { wakeLoop() }
        return switch taken {
        case .pieces(let pieces): pieces.first.map { .piece($0) } ?? .nothing
        case .end(.finished): .end
        case .end(.failed(let fault)): .failed(fault)
        case nil: .nothing
        }
    }

    /// Waits until `takeNow` returns something, which it does not take; or until the task is cancelled.
    func waitUntilReadable() async {
        _ = await mailbox.next { state in state.hasUnread || state.end != nil ? true : nil }
    }

    /// Offers what the reader has of a resumable resource, once, and waits for where its data begins: there, or at 0.
    func resume(_ offer: ResumeOffer) async throws(ChannelFault) -> UInt64 {
        mailbox.withLock { state in
            state.wasRead = true
            state.resume = offer
        }
        wakeLoop()
        let begun = await mailbox.next { state -> Result<UInt64, ChannelFault>? in
            if let beginning = state.beginning { return .success(beginning) }
            if case .failed(let fault) = state.end { return .failure(fault) }
            return nil
        }
        guard let begun else { throw .cancelled }
        return try begun.get()
    }

    /// Why it has failed, if it has.
    var fault: ChannelFault? {
        mailbox.withLock { state in
            if case .failed(let fault) = state.end { fault } else { nil }
        }
    }

    /// Stops the channel. Does nothing when it was given up before, or has failed.
    func stop(_ code: CloseCode) {
        let isNew = mailbox.post { state in
            if state.stop != nil || state.done != nil { return false }
            if case .failed = state.end { return false }
            state.stop = code
            // A reader that has read everything keeps the normal end.
            if state.end == nil || state.hasUnread { state.end = .failed(.cancelled) }
            state.drop()
            return true
        }
        if isNew { wakeLoop() }
    }

    func done(_ code: CloseCode) {
        let isNew = mailbox.post { state in
            guard state.stop == nil, state.done == nil, case .finished = state.end else { return false }
            state.done = code
            state.drop()
            return true
        }
        if isNew { wakeLoop() }
    }

    /// Waits until the channel is over for the reader: returns why it failed, or nil when it was confirmed, or when the
    /// task is cancelled. It reads nothing, so another task may read meanwhile.
    func waitUntilEnded() async -> ChannelFault? {
        await mailbox.next { state -> ChannelFault?? in
            if case .failed(let fault) = state.end { return .some(fault) }
            return state.stop == nil && state.done == nil ? nil : .some(nil)
        } ?? nil
    }

    /// Stops the channel because its reader is gone: declines it if nothing was ever read.
    func abandon() { stop(mailbox.withLock { $0.wasRead } ? .cancelled : .declined) }

    private func take(upTo count: Int) async throws(ChannelFault) -> Taken {
        let (taken, wakes, isInUse) = mailbox.withLock { [step, opening] state in
            if state.isAwaited { return (nil as Taken?, false, true) }
            let taken = state.take(upTo: count)
            state.isAwaited = taken == nil
            return (taken, state.wakes(step, opening.kind), false)
        }
        if isInUse { throw .inUse }
        // Before it waits, too: consumed data lets the peer send more.
        if wakes { wakeLoop() }
        if let taken { return taken }
        let late = await mailbox.next { [step, opening] state -> (Taken, wakes: Bool)? in
            guard let taken = state.take(upTo: count) else { return nil }
            state.isAwaited = false
            return (taken, state.wakes(step, opening.kind))
        }
        guard let late else {
            mailbox.withLock { $0.isAwaited = false }
            throw .cancelled
        }
        if late.wakes { wakeLoop() }
        return late.0
    }
}

extension ChannelReceiveQueue.State {
    /// Takes at most `count` pieces; returns nil when there are none. Pieces that were returned before count as consumed.
    fileprivate mutating func take(upTo count: Int) -> ChannelReceiveQueue.Taken? {
        wasRead = true
        owed += lent
        lent = 0
        if !hasUnread { return end.map { .end($0) } }
        let taken: [[UInt8]]
        if head == 0, count >= pieces.count {
            taken = pieces
            pieces = []
        } else {
            let end = head + min(count, pieces.count - head)
            taken = Array(pieces[head..<end])
            for index in head..<end { pieces[index] = [] }
            head = end
            if end == pieces.count {
                pieces.removeAll(keepingCapacity: true)
                head = 0
            }
        }
        lent = taken.reduce(0) { $0 + $1.count }
        return .pieces(taken)
    }

    /// Returns whether to report consumption to the loop: in steps, and all of it at the end. The end of a resource is reported
    /// with its DONE or STOP, which soon follows: the loop is not woken for both.
    fileprivate func wakes(_ step: Int, _ kind: ChannelOpening.Kind) -> Bool {
        let isAtEnd = !hasUnread && lent == 0 && end != nil
        return isAtEnd && kind == .stream ? owed > 0 : owed >= max(step, held / 4)
    }
}

/// For the loop.
extension ChannelReceiveQueue {
    /// Adds a piece. The reader is notified separately, once for a batch.
    package func deliver(_ piece: [UInt8]) { deliver([piece], count: piece.count) }

    /// Adds pieces, which have `count` bytes in total.
    package func deliver(_ pieces: [[UInt8]], count: Int) {
        bytesReceived.wrappingAdd(UInt64(count), ordering: .relaxed)
        mailbox.withLock { state in
            state.held += count
            if state.end != nil {
                state.owed += count
            } else if state.pieces.isEmpty, pieces.count > 1 {
                state.pieces = pieces
            } else {
                for piece in pieces { state.append(piece) }
            }
        }
    }

    /// BEGIN: data follow from this offset on.
    package func begins(at offset: UInt64) { mailbox.withLock { $0.beginning = offset } }

    /// Ends the channel: pieces that have arrived can still be read first. The first end stays.
    package func end(_ end: End) {
        mailbox.withLock { state in
            if state.end == nil { state.end = end }
        }
    }

    /// Fails at once: unread pieces are dropped. It overrides a FIN that was not confirmed.
    package func fail(_ fault: ChannelFault) {
        mailbox.withLock { state in
            if case .failed = state.end { return }
            state.end = .failed(fault)
            state.drop()
        }
    }

    package func tell() { mailbox.post { $0.hasUnread || $0.end != nil || $0.beginning != nil } }

    package func take() -> Report {
        mailbox.withLock { state in
            defer {
                state.held -= state.owed
                state.owed = 0
                state.resume = nil
            }
            return Report(
                consumed: state.owed, stop: state.stop, resume: state.resume, done: state.done,
                isDrained: state.held == state.owed)
        }
    }
}
