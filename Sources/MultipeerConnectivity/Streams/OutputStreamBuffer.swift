import Dispatch
import Foundation
import Multipeer
import MultipeerTransport

/// The buffer between the writer of a Foundation stream and the session.
///
///     notOpen ──open──▶ open ──close──▶ closed
///        └──── released ────▶ abandoned
///
/// While fewer than 64 KiB wait here, besides what the session itself queues, there is room for one more write of up to 64 KiB,
/// which is taken whole: many writers do not expect that only a part is. It does not matter whether the session has opened its
/// stream yet.
final class OutputStreamBuffer: StreamEventSource {
    private enum Phase {
        case notOpen
        case open
        /// Queued bytes are still sent, and then the end.
        case closed
        case abandoned
    }

    private struct State {
        var phase = Phase.notOpen
        var bytes: [UInt8] = []
        var error: MCError?
        var hasToldOpening = false
        var hasToldError = false
        /// Allows one event for each write.
        var mayTellSpace = true
        var writers: [DispatchSemaphore] = []
        /// Waits for something to do.
        var pump: Promise<Void>?
        var stream: OutgoingStream?
        /// Called when there may be events.
        var wake: (@Sendable () -> Void)?

        var hasSpace: Bool { phase == .open && error == nil && bytes.count < OutputStreamBuffer.room }
    }

    private enum Work {
        case bytes([UInt8])
        case finish
        case nothing(Promise<Void>)
        case abandon
    }

    private static let room = 65_536

    private let state = Locked(State())

    /// Sets the closure that is called when there may be events.
    func onNews(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}

// MARK: for the stream

extension OutputStreamBuffer {
    func open() {
        state.withLock { state in
            if state.phase == .notOpen { state.phase = .open }
        }
        tellNews()
    }

    /// Closes the stream: queued bytes are sent, and then the end. One that was not opened stays so.
    func close() {
        leave { state in
            guard state.phase == .open, state.error == nil else { return false }
            state.phase = .closed
            return true
        }
    }

    /// Ends a stream that was released. An open one is closed, as Core Foundation does; one that was never opened is given up,
    /// and the reader gets an error. Returns whether it was given up.
    func release() -> Bool {
        close()
        let isGivenUp = leave { state in
            guard state.phase == .notOpen else { return false }
            state.phase = .abandoned
            return true
        }
        if isGivenUp { state.withLock { $0.stream.take() }?.abort() }
        return isGivenUp
    }

    /// Changes the phase, and wakes all waiting tasks if it has changed.
    @discardableResult
    private func leave(_ change: (inout State) -> Bool) -> Bool {
        let (hasLeft, writers, pump) = state.withLock {
            state -> (Bool, [DispatchSemaphore], Promise<Void>?) in
            guard change(&state) else { return (false, [], nil) }
            defer { state.writers = [] }
            return (true, state.writers, state.pump.take())
        }
        for writer in writers { writer.signal() }
        pump?.send(())
        return hasLeft
    }

    var status: Stream.Status {
        state.withLock { state in
            switch state.phase {
            case .notOpen: .notOpen
            case .closed, .abandoned: .closed
            case .open: state.error == nil ? .open : .error
            }
        }
    }

    var error: MCError? { state.withLock { $0.phase == .open ? $0.error : nil } }

    var hasSpace: Bool { state.withLock { $0.hasSpace } }

    /// Waits for room, blocking the thread. Returns the number of bytes that it took, and -1 when there is an error, or the
    /// stream is not open.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        while true {
            let (count, pump, waiter) = state.withLock { state in
                unsafe OutputStreamBuffer.write(bytes, &state)
            }
            pump?.send(())
            guard let waiter else {
                if count > 0 { tellNews() }
                return count
            }
            waiter.wait()
        }
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, _ state: inout State
    ) -> (Int, Promise<Void>?, DispatchSemaphore?) {
        guard state.phase == .open, state.error == nil else { return (-1, nil, nil) }
        if unsafe bytes.isEmpty { return (0, nil, nil) }
        guard state.hasSpace else {
            let waiter = DispatchSemaphore(value: 0)
            state.writers.append(waiter)
            return (0, nil, waiter)
        }
        let count = min(bytes.count, room)
        unsafe state.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
        state.mayTellSpace = true
        return (count, state.pump.take(), nil)
    }

    private func tellNews() { state.withLock { $0.wake }?() }
}

// MARK: for the session

extension OutputStreamBuffer {
    /// Opens the stream and moves written bytes into it, until it is closed or fails. On the session's thread, and never on one
    /// that a writer may be blocking.
    func run(
        on executor: any TaskExecutor, _ open: () async throws(MultipeerError) -> OutgoingStream
    ) async {
        do throws(MultipeerError) {
            let stream = try await open()
            guard begin(stream) else { return stream.abort() }
            let watching = Task(executorPreference: executor) { [self] in await watch(stream) }
            try await move(into: stream)
            await watching.value
        } catch {
            fail(error)
        }
    }

    /// Returns whether the stream was not released.
    private func begin(_ stream: OutgoingStream) -> Bool {
        state.withLock { state in
            if state.phase == .abandoned { return false }
            state.stream = stream
            return true
        }
    }

    /// Detects that the other side or the link gives the stream up while nothing is written.
    private func watch(_ stream: OutgoingStream) async {
        if let error = await stream.failure() { fail(error) }
    }

    private func move(into stream: OutgoingStream) async throws(MultipeerError) {
        while true {
            switch next() {
            case .bytes(let bytes):
                tellSpace()
                try await stream.write(bytes)
            case .finish: return try await stream.finish()
            case .nothing(let signal): await signal.value()
            case .abandon: return
            }
        }
    }

    private func next() -> Work {
        state.withLock { state in
            if state.phase == .abandoned || state.error != nil { return .abandon }
            if !state.bytes.isEmpty {
                defer { state.bytes = [] }
                return .bytes(state.bytes)
            }
            if state.phase == .closed { return .finish }
            let signal = Promise<Void>()
            state.pump = signal
            return .nothing(signal)
        }
    }

    private func tellSpace() {
        let writers = state.withLock { state in
            defer { state.writers = [] }
            return state.writers
        }
        for writer in writers { writer.signal() }
        tellNews()
    }

    /// Fails the stream. The first error counts; the bytes that are left are dropped.
    private func fail(_ error: MultipeerError) {
        leave { state in
            guard state.error == nil else { return false }
            state.error = MCError(error)
            state.bytes = []
            state.stream = nil
            return true
        }
        tellNews()
    }
}

// MARK: events

extension OutputStreamBuffer {
    var hasEvent: Bool { state.withLock { OutputStreamBuffer.event($0) != nil } }

    var isActive: Bool { state.withLock { $0.phase == .open && !$0.hasToldError } }

    var continuesWithoutDelegate: Bool { state.withLock { $0.error == nil } }

    func takeEvent() -> Stream.Event? {
        state.withLock { state in
            let event = OutputStreamBuffer.event(state)
            switch event {
            case .openCompleted: state.hasToldOpening = true
            case .hasSpaceAvailable: state.mayTellSpace = false
            case .errorOccurred: state.hasToldError = true
            default: break
            }
            return event
        }
    }

    private static func event(_ state: State) -> Stream.Event? {
        guard state.phase == .open else { return nil }
        if !state.hasToldOpening { return .openCompleted }
        if state.error != nil { return state.hasToldError ? nil : .errorOccurred }
        return state.hasSpace && state.mayTellSpace ? .hasSpaceAvailable : nil
    }
}
