import Dispatch
import Foundation
import Multipeer
import MultipeerTransport

/// The buffer between a stream that a peer opened and its reader in Foundation.
///
///     notOpen ──open──▶ open ──close──▶ closed
///
/// Bytes are taken from the session a little ahead of the reader, 64 KiB; further ones hold back the sender.
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
        var pieces: ArraySlice<[UInt8]> = []
        /// Bytes of the first piece that were read.
        var offset = 0
        var count = 0
        var end: End?
        var hasToldOpening = false
        var hasToldEnd = false
        /// Allows one event for each read.
        var mayTellBytes = true
        var readers: [DispatchSemaphore] = []
        /// Waits for room.
        var pump: Promise<Void>?
        /// Called when there may be events.
        var wake: (@Sendable () -> Void)?

        var hasBytes: Bool { phase == .open && count > 0 }
        var isAtEnd: Bool { phase == .open && count == 0 && end != nil }
        var isFull: Bool { phase == .open && count >= InputStreamBuffer.room }
    }

    private static let room = 65_536

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
            return true
        }
        guard isFirst else { return }
        // On the session's thread, and never on one that the reader may be blocking.
        Task(executorPreference: executor) { await self.pump() }
        tellNews()
    }

    /// Closes the stream. One that was not opened stays so: it is declined when it is released.
    func close() {
        let (wasOpen, readers, pump) = state.withLock {
            state -> (Bool, [DispatchSemaphore], Promise<Void>?) in
            guard state.phase == .open else { return (false, [], nil) }
            if case .failed = state.end, state.count == 0 { return (false, [], nil) }
            state.phase = .closed
            state.pieces = []
            (state.offset, state.count) = (0, 0)
            defer { state.readers = [] }
            return (true, state.readers, state.pump.take())
        }
        guard wasOpen else { return }
        source.abort()
        for reader in readers { reader.signal() }
        pump?.send(())
    }

    var status: Stream.Status {
        state.withLock { state in
            switch state.phase {
            case .notOpen: .notOpen
            case .closed: .closed
            case .open:
                switch state.isAtEnd ? state.end : nil {
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

    var hasBytes: Bool { state.withLock { $0.hasBytes } }

    /// Waits for data, blocking the thread. Returns the number of bytes that it copied, 0 after the last, and -1 when there is an
    /// error, or the stream is not open.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let (count, waiter) = state.withLock { state in unsafe InputStreamBuffer.read(&state, into: room)
            }
            if let count {
                resume()
                return count
            }
            waiter?.wait()
        }
    }

    private static func read(
        _ state: inout State, into room: UnsafeMutableRawBufferPointer
    ) -> (Int?, DispatchSemaphore?) {
        guard state.phase == .open else { return (-1, nil) }
        if state.isAtEnd {
            if case .finished = state.end { return (0, nil) }
            return (-1, nil)
        }
        if unsafe room.isEmpty { return (0, nil) }
        if state.count == 0 {
            let waiter = DispatchSemaphore(value: 0)
            state.readers.append(waiter)
            return (nil, waiter)
        }
        state.mayTellBytes = true
        var copied = 0
        while copied < room.count, let piece = state.pieces.first {
            let part = min(room.count - copied, piece.count - state.offset)
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[copied..<copied + part])
            unsafe target.copyBytes(from: piece[state.offset..<state.offset + part])
            copied += part
            state.offset += part
            if state.offset == piece.count {
                state.pieces.removeFirst()
                state.offset = 0
            }
        }
        state.count -= copied
        return (copied, nil)
    }

    /// Continues after a read: there may be room, and events.
    private func resume() {
        let pump = state.withLock { $0.isFull ? nil : $0.pump.take() }
        pump?.send(())
        tellNews()
    }
}

// MARK: for the session

extension InputStreamBuffer {
    private func pump() async {
        var pieces = source.makeAsyncIterator()
        do throws(MultipeerError) {
            while let piece = try await pieces.next(isolation: nil) { await put(piece) }
            finish(.finished)
        } catch {
            finish(.failed(MCError(error)))
        }
    }

    /// Returns when there is room for more, or the stream is closed.
    private func put(_ piece: [UInt8]) async {
        let (readers, wait) = state.withLock { state -> ([DispatchSemaphore], Promise<Void>?) in
            guard state.phase == .open else { return ([], nil) }
            state.pieces.append(piece)
            state.count += piece.count
            if state.isFull { state.pump = Promise() }
            defer { state.readers = [] }
            return (state.readers, state.pump)
        }
        for reader in readers { reader.signal() }
        tellNews()
        await wait?.value()
    }

    private func finish(_ end: End) {
        let readers = state.withLock { state -> [DispatchSemaphore] in
            state.end = end
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.signal() }
        tellNews()
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
