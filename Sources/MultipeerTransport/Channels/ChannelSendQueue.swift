package import MultipeerFraming
import Synchronization

/// A channel of ours, between the tasks that write to it and the loop that sends it.
package final class ChannelSendQueue: Sendable {
    /// What the writers request besides queued pieces. It only ever moves on to a later case.
    private enum Wish: Sendable {
        case open
        /// FIN, once the send queue is empty.
        case finishing
        /// FIN after these pieces.
        case finish([[UInt8]], digest: [UInt8]?)
        /// FIN was handed to the link.
        case finished
        case abort(CloseCode)
    }

    private typealias Watcher = @Sendable (ChannelFault?) -> Void

    private struct State: Sendable {
        var wish = Wish.open
        /// Set once.
        var outcome: ChannelFault??
        /// Where a resumable resource begins, until the loop takes it.
        var begin: UInt64?
        var waiters: [Promise<ChannelFault?>] = []
        /// Called with the outcome.
        var watcher: Watcher?
        /// Set once: nil when OPEN is written, or why it never will be.
        var beginning: ChannelFault??
        /// Called with that.
        var beginningWatcher: Watcher?
    }

    /// What the loop takes at a time.
    package struct Work {
        /// BEGIN, before the pieces.
        package var begin: UInt64?
        package var pieces: [[UInt8]] = []
        package var isFinished = false
        package var digest: [UInt8]?
        package var abort: CloseCode?
    }

    package let opening: ChannelOpening
    private let sendQueue: SendQueue<ChannelFault>
    /// RESUME of the peer, of a resumable resource.
    private let offer: Promise<Result<ResumeOffer, ChannelFault>>?
    private let state = Locked(State())
    private let bytesWritten = Atomic<UInt64>(0)
    private let wakeLoop: @Sendable () -> Void

    /// Creates a queue. `wakeLoop` wakes the loop to take its work.
    package init(_ opening: ChannelOpening, wakeLoop: @escaping @Sendable () -> Void) {
        self.opening = opening
        self.wakeLoop = wakeLoop
        offer = opening.isResumable ? Promise() : nil
        sendQueue = SendQueue(
            byteLimit: ChannelSendQueue.byteLimit, messageLimit: ChannelSendQueue.pieceLimit, wake: wakeLoop)
    }

    /// The maximum number of queued bytes. [limit.send-queue]
    static let byteLimit = 524_288
    private static let pieceLimit = 4_096
}

/// For the writers, on any thread.
extension ChannelSendQueue {
    var written: UInt64 { bytesWritten.load(ordering: .relaxed) }

    /// Waits until OPEN is written; returns why it never will be. Called once. A task that is cancelled gives the channel up.
    package func beginning() async -> ChannelFault? {
        let signal = Promise<ChannelFault?>()
        whenBegun { signal.send($0) }
        return await signal.value(onCancel: { [self] in abort(.cancelled) })
    }

    /// Calls `body` once with what `beginning` returns, when that is known: on the loop's thread, or at once. Only one can wait,
    /// in either way.
    package func whenBegun(_ body: @escaping @Sendable (ChannelFault?) -> Void) {
        let known = state.withLock { state -> ChannelFault?? in
            if state.beginning == nil { state.beginningWatcher = body }
            return state.beginning
        }
        if let known { body(known) }
    }

    /// Waits for what the receiver of a resumable resource has.
    func resumption() async throws(ChannelFault) -> ResumeOffer {
        guard let offer else { throw .invalid("the resource is not resumable") }
        return try await offer.value().get()
    }

    /// Begins a resumable resource, at the offset of the receiver's offer or at 0, before anything is written.
    func begin(at offset: UInt64) {
        state.withLock { $0.begin = offset }
        wakeLoop()
    }

    func write(_ bytes: [UInt8]) async throws(ChannelFault) {
        if bytes.isEmpty { return }  // [limit.empty]
        switch sendQueue.offer(bytes) {
        case .accepted: return
        case .closed(let fault): throw fault
        case .full: break
        }
        do {
            try await sendQueue.send(bytes)
        } catch let fault as ChannelFault {
            throw fault
        } catch {
            throw .cancelled
        }
    }

    /// Ends the channel. Does nothing when it was finished, given up or over before.
    func finish(digest: [UInt8]?) {
        let isFirst = state.withLock { state in
            guard case .open = state.wish, state.outcome == nil else { return false }
            state.wish = .finishing
            return true
        }
        guard isFirst else { return }
        let left = sendQueue.close(with: .finished)
        state.withLock { state in
            if case .finishing = state.wish { state.wish = .finish(left, digest: digest) }
        }
        wakeLoop()
    }

    /// Writes everything to a new channel, and finishes it. Everything fits into the queue.
    func finish(with whole: WholeContents) {
        if !whole.bytes.isEmpty { _ = sendQueue.offer(whole.bytes) }
        finish(digest: whole.digest)
    }

    /// Gives the channel up. Does nothing when it was given up or is over before.
    func abort(_ code: CloseCode) {
        let isFirst = state.withLock { state in
            guard state.outcome == nil else { return false }
            state.wish = .abort(code)
            return true
        }
        guard isFirst else { return }
        settle(.cancelled)
        wakeLoop()
    }

    /// Gives up an unfinished channel whose writer is gone.
    func abandon() {
        let isOpen = state.withLock { state in
            if case .open = state.wish { true } else { false }
        }
        if isOpen { abort(.cancelled) }
    }

    /// Calls `body` once with how it ended, when that is known: on the loop's thread, or at once. Only one can wait like that.
    func whenSettled(_ body: @escaping @Sendable (ChannelFault?) -> Void) {
        let known = state.withLock { state -> ChannelFault?? in
            if state.outcome == nil { state.watcher = body }
            return state.outcome
        }
        if let known { body(known) }
    }

    /// Returns how it ended: nil without a fault. A task that is cancelled waits no longer.
    func outcome() async -> ChannelFault? {
        let signal = Promise<ChannelFault?>()
        let known = state.withLock { state -> ChannelFault?? in
            if state.outcome == nil { state.waiters.append(signal) }
            return state.outcome
        }
        if let known { return known }
        let outcome = await signal.value(onCancel: { signal.send(.cancelled) })
        state.withLock { state in state.waiters.removeAll { $0 === signal } }
        return outcome
    }
}

/// For the loop.
extension ChannelSendQueue {
    /// Whether FIN is on its way.
    package var isFinished: Bool {
        state.withLock { state in
            if case .finished = state.wish { true } else { false }
        }
    }

    /// Notes that OPEN is written.
    package func begin() { begin(nil) }

    private func begin(_ fault: ChannelFault?) {
        let watcher = state.withLock { state -> Watcher? in
            if state.beginning != nil { return nil }
            state.beginning = .some(fault)
            return state.beginningWatcher.take()
        }
        watcher?(fault)
    }

    /// RESUME came.
    package func resumes(_ received: ResumeOffer) { offer?.send(.success(received)) }

    package func take() -> Work {
        var work = Work(pieces: sendQueue.take())
        state.withLock { state in
            work.begin = state.begin.take()
            switch state.wish {
            case .open, .finishing, .finished: break
            case .finish(let rest, let digest):
                work.pieces += rest
                (work.isFinished, work.digest) = (true, digest)
                state.wish = .finished
            case .abort(let code): work = Work(abort: code)
            }
        }
        return work
    }

    /// Notes that these bytes were handed to the link. Their room is free again with `released`.
    package func wrote(bytes: Int) { bytesWritten.wrappingAdd(UInt64(bytes), ordering: .relaxed) }

    /// There is room again for these pieces and bytes, which were handed to the link.
    package func released(pieces: Int, bytes: Int) { sendQueue.released(messages: pieces, bytes: bytes) }

    /// Ends the channel: nil without a fault. The first call decides, and all waiting tasks are resumed.
    package func settle(_ outcome: ChannelFault?) {
        let (waiters, watcher) = state.withLock { state in
            guard state.outcome == nil else { return ([] as [Promise<ChannelFault?>], nil as Watcher?) }
            state.outcome = .some(outcome)
            defer { (state.waiters, state.watcher) = ([], nil) }
            return (state.waiters, state.watcher)
        }
        begin(outcome)
        offer?.send(.failure(outcome ?? .finished))
        sendQueue.close(with: outcome ?? .finished)
        for waiter in waiters { waiter.send(outcome) }
        watcher?(outcome)
    }
}
