import Dispatch
import Foundation
import Multipeer
import MultipeerTransport

/// What a reader in Foundation has of a stream that a peer opened: the piece that it reads now. All others stay where the session
/// put them, so that what has arrived can be read at once, and what is not read holds back the sender.
///
///     notOpen ──open──▶ open ──close──▶ closed
final class InputStreamBuffer: StreamEventSource {
    private enum Phase {
        case notOpen
        case open
        case closed
    }

    private enum End {
        case finished
        case failed(MCError)
    }

    private struct State {
        var phase = Phase.notOpen
        var piece: [UInt8] = []
        /// Bytes of the piece that were read.
        var offset = 0
        /// Whether a piece, or the end, has ever been there.
        var hasBegun = false
        /// Set when there is nothing before it.
        var end: End?
        var hasToldOpening = false
        var hasToldEnd = false
        /// Allows one event for each read.
        var mayTellBytes = true
        var readers: [DispatchSemaphore] = []
        /// The watch waits with it until there is nothing to read.
        var rest: Promise<Void>?
        /// Called when there may be events.
        var wake: (@Sendable () -> Void)?

        var hasBytes: Bool { phase == .open && offset < piece.count }
        var isAtEnd: Bool { phase == .open && end != nil }
    }

    private let source: IncomingStream
    private let executor: any TaskExecutor
    private let state = Locked(State())

    init(_ source: IncomingStream, on executor: any TaskExecutor) {
        self.source = source
        self.executor = executor
    }

    /// Sets the closure that is called when there may be events.
    func onNews(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}

// MARK: for the stream

extension InputStreamBuffer {
    func open() {
        let isFirst = state.withLock { state in
            guard state.phase == .notOpen else { return false }
            state.phase = .open
            fill(&state)
            return true
        }
        guard isFirst else { return }
        // On the session's thread, and never on one that the reader may be blocking.
        Task(executorPreference: executor) { await self.watch() }
        tellNews()
    }

    /// Closes the stream. One that was not opened stays so: it is declined when it is released.
    func close() {
        let (wasOpen, readers, rest) = state.withLock {
            state -> (Bool, [DispatchSemaphore], Promise<Void>?) in
            guard state.phase == .open else { return (false, [], nil) }
            if case .failed = state.end { return (false, [], nil) }
            state.phase = .closed
            (state.piece, state.offset) = ([], 0)
            defer { state.readers = [] }
            return (true, state.readers, state.rest.take())
        }
        guard wasOpen else { return }
        source.abort()
        for reader in readers { reader.signal() }
        rest?.send(())
    }

    var status: Stream.Status {
        state.withLock { state in
            switch state.phase {
            case .notOpen: .notOpen
            case .closed: .closed
            case .open:
                switch state.end {
                case .finished: .atEnd
                case .failed: .error
                case nil: .open
                }
            }
        }
    }

    var error: MCError? {
        state.withLock { state in
            if case .failed(let error) = state.end, state.isAtEnd { error } else { nil }
        }
    }

    /// Whether bytes have arrived that were not read; true also before the first ones and the end, when only `read` can find out.
    var mayHaveBytes: Bool {
        state.withLock { state in
            fill(&state)
            return state.hasBytes || state.phase == .open && !state.hasBegun
        }
    }

    /// Waits for data, blocking the thread. Returns the number of bytes that it copied, 0 after the last, and -1 when there is an
    /// error, or the stream is not open.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let (count, waiter, rest) = state.withLock { state in unsafe read(&state, into: room) }
            rest?.send(())
            if let count {
                tellNews()
                return count
            }
            waiter?.wait()
        }
    }

    private func read(
        _ state: inout State, into room: UnsafeMutableRawBufferPointer
    ) -> (Int?, DispatchSemaphore?, Promise<Void>?) {
        guard state.phase == .open else { return (-1, nil, nil) }
        fill(&state)
        if let end = state.end {
            if case .finished = end { return (0, nil, nil) }
            return (-1, nil, nil)
        }
        if unsafe room.isEmpty { return (0, nil, nil) }
        guard state.hasBytes else {
            let waiter = DispatchSemaphore(value: 0)
            state.readers.append(waiter)
            return (nil, waiter, state.rest.take())
        }
        state.mayTellBytes = true
        var copied = 0
        while copied < room.count, state.hasBytes {
            let part = min(room.count - copied, state.piece.count - state.offset)
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[copied..<copied + part])
            unsafe target.copyBytes(from: state.piece[state.offset..<state.offset + part])
            copied += part
            state.offset += part
            fill(&state)
        }
        return (copied, nil, state.hasBytes ? nil : state.rest.take())
    }

    /// Takes the next piece, or the end, when the one before was read.
    private func fill(_ state: inout State) {
        guard state.phase == .open, !state.hasBytes, state.end == nil else { return }
        switch source.takeNow() {
        case .piece(let piece): (state.piece, state.offset) = (piece, 0)
        case .nothing: return
        case .end: state.end = .finished
        case .failed(let fault): state.end = .failed(MCError(source.error(fault)))
        }
        state.hasBegun = true
    }
}

// MARK: for the session

extension InputStreamBuffer {
    /// Wakes readers and run loops when something arrives after there was nothing.
    private func watch() async {
        var isOver = false
        while !isOver {
            await source.waitUntilReadable()
            let (readers, rest) = state.withLock { state -> ([DispatchSemaphore], Promise<Void>?) in
                fill(&state)
                isOver = state.phase != .open || state.end != nil
                state.rest = state.hasBytes ? Promise() : nil
                defer { state.readers = [] }
                return (state.readers, state.rest)
            }
            for reader in readers { reader.signal() }
            tellNews()
            // Without bytes, a reader was quicker.
            await rest?.value()
        }
    }

    private func tellNews() { state.withLock { $0.wake }?() }
}

// MARK: events

extension InputStreamBuffer {
    var hasEvent: Bool { state.withLock { InputStreamBuffer.event($0) != nil } }

    var isActive: Bool { state.withLock { $0.phase == .open && !$0.hasToldEnd } }

    var continuesWithoutDelegate: Bool { false }

    func takeEvent() -> Stream.Event? {
        state.withLock { state in
            let event = InputStreamBuffer.event(state)
            switch event {
            case .openCompleted: state.hasToldOpening = true
            case .hasBytesAvailable: state.mayTellBytes = false
            case .endEncountered, .errorOccurred: state.hasToldEnd = true
            default: break
            }
            return event
        }
    }

    /// Returns the next event for the delegate: never of bytes that were read, nor of the end before the last of them.
    private static func event(_ state: State) -> Stream.Event? {
        guard state.phase == .open else { return nil }
        if !state.hasToldOpening { return .openCompleted }
        if state.hasBytes, state.mayTellBytes { return .hasBytesAvailable }
        guard state.isAtEnd, !state.hasToldEnd else { return nil }
        if case .finished = state.end { return .endEncountered }
        return .errorOccurred
    }
}
