package import MultipeerFraming
import Synchronization

/// A channel of ours, between the tasks that write to it and the loop that sends it.
package final class ChannelSendQueue: Sendable {
    /// What the writers want besides what is queued. It only ever goes on to a later case.
    private enum Wish: Sendable {
        case open
        /// FIN, once what the send queue still has is taken out of it.
        case finishing
        /// FIN behind these pieces.
        case finish([[UInt8]], digest: [UInt8]?)
        /// FIN was handed to the link.
        case finished
        case abort(CloseCode)
    }

    private struct State: Sendable {
        var wish = Wish.open
        /// Set once.
        var outcome: ChannelFault??
        var waiters: [Promise<ChannelFault?>] = []
    }

    /// What the loop takes over at a time.
    package struct Work {
        package var pieces: [[UInt8]] = []
        package var isFinished = false
        package var digest: [UInt8]?
        package var abort: CloseCode?
    }

    package let opening: ChannelOpening
    private let sendQueue: SendQueue<ChannelFault>
    private let state = Locked(State())
    private let begun = Promise<ChannelFault?>()
    private let bytesWritten = Atomic<UInt64>(0)
    private let wakeLoop: @Sendable () -> Void

    /// `wakeLoop` tells the loop that there is something to take.
    package init(_ opening: ChannelOpening, wakeLoop: @escaping @Sendable () -> Void) {
        self.opening = opening
        self.wakeLoop = wakeLoop
        sendQueue = SendQueue(
            byteLimit: ChannelSendQueue.byteLimit, messageLimit: ChannelSendQueue.pieceLimit, wake: wakeLoop)
    }

    /// What waits here at the most. [limit.outbox]
    private static let byteLimit = 524_288
    private static let pieceLimit = 4_096
}

/// For the writers, on any thread.
extension ChannelSendQueue {
    var written: UInt64 { bytesWritten.load(ordering: .relaxed) }

    /// Waits until OPEN is written; returns why it never will be. Once. A task that is cancelled gives the channel up.
    package func beginning() async -> ChannelFault? {
        await begun.value(onCancel: { [self] in abort(.cancelled) })
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

    /// Does nothing when it was finished, given up or over before.
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

    /// Does nothing when it was given up or is over before.
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

    /// Nobody will write any more: what was not finished is given up.
    func abandon() {
        let isOpen = state.withLock { state in
            if case .open = state.wish { true } else { false }
        }
        if isOpen { abort(.cancelled) }
    }

    /// How it ended: nil is well. A task that is cancelled waits no longer.
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

    /// OPEN is written.
    package func begin() { begun.send(nil) }

    package func take() -> Work {
        var work = Work(pieces: sendQueue.take())
        state.withLock { state in
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

    /// So many pieces, of so many bytes, are on their way.
    package func wrote(pieces: Int, bytes: Int) {
        bytesWritten.wrappingAdd(UInt64(bytes), ordering: .relaxed)
        sendQueue.released(messages: pieces, bytes: bytes)
    }

    /// It is over: nil is well. The first call decides, and everybody who waits hears.
    package func settle(_ outcome: ChannelFault?) {
        let waiters = state.withLock { state -> [Promise<ChannelFault?>] in
            guard state.outcome == nil else { return [] }
            state.outcome = .some(outcome)
            defer { state.waiters = [] }
            return state.waiters
        }
        begun.send(outcome)
        sendQueue.close(with: outcome ?? .finished)
        for waiter in waiters { waiter.send(outcome) }
    }
}
