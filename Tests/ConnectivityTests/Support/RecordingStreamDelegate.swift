import Foundation
import Glibc
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

/// A thread with a run loop, like the background threads of an app.
enum BackgroundThread {
    /// Runs the body on a thread of its own.
    static func thread(_ body: @escaping @Sendable () -> Void) { Thread.detachNewThread(body) }

    /// Runs the loop of a thread of its own, in one mode, from one event to the next, until the work is over or nothing
    /// is scheduled any more. `prepare` schedules the work.
    static func loop(
        _ mode: RunLoop.Mode = .default, until isOver: @escaping @Sendable () -> Bool,
        _ prepare: @escaping @Sendable (RunLoop) -> Void
    ) {
        thread {
            let loop = RunLoop.current
            prepare(loop)
            while !isOver(), loop.run(mode: mode, before: .distantFuture) {}
        }
    }

    /// Runs blocking code on a thread of its own.
    static func value<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws -> Value {
        let signal = Promise<Value?>()
        thread { signal.send(body()) }
        return try await soon {
            guard let value = await signal.value(onCancel: { signal.send(nil) }) else { throw TooLate() }
            return value
        }
    }
}

/// A stream's delegate: reads everything that comes, or writes what it was given, and records its events.
final class RecordingStreamDelegate: StreamDelegate, Sendable {
    struct Report: Sendable {
        var events: [UInt] = []
        var threads: Set<UInt> = []
        var bytes: [UInt8] = []
        var error: MCError?
    }

    private struct State {
        var report = Report()
        var unwritten: ArraySlice<UInt8> = []
        var onEvent: (@Sendable (UncheckedSendable<Foundation.Stream>, Foundation.Stream.Event) -> Void)?
    }

    private let state = Locked(State())
    private let over = Promise<Void>()
    private let step: Int

    /// Creates a delegate. `step`: the number of bytes at a time.
    init(writing bytes: [UInt8] = [], step: Int = 7_919) {
        self.step = step
        state.withLock { $0.unwritten = bytes[...] }
    }

    /// Sets the code to run instead of the default.
    func onEvent(
        _ body: @escaping @Sendable (UncheckedSendable<Foundation.Stream>, Foundation.Stream.Event) -> Void
    ) {
        state.withLock { $0.onEvent = body }
    }

    var report: Report { state.withLock { $0.report } }
    var isOver: Bool { over.isSent }

    func finish() { over.send(()) }

    /// Waits for the end, and returns the events until then.
    func wait() async throws -> Report {
        try await soon { [self] in await over.value(onCancel: { over.send(()) }) }
        return report
    }

    /// Schedules the stream on a run loop of its own and opens it.
    func run(_ stream: Foundation.Stream, in mode: RunLoop.Mode = .default) {
        let held = UncheckedSendable(stream)
        BackgroundThread.loop(mode, until: { [self] in isOver }) { [self] loop in
            held.value.delegate = self
            held.value.schedule(in: loop, forMode: mode)
            held.value.open()
        }
    }

    func stream(_ stream: Foundation.Stream, handle event: Foundation.Stream.Event) {
        let body = state.withLock { state in
            state.report.events.append(event.rawValue)
            state.report.threads.insert(UInt(pthread_self()))
            return state.onEvent
        }
        if let body { return body(UncheckedSendable(stream), event) }
        switch event {
        case .hasBytesAvailable: if let stream = stream as? InputStream { take(stream) }
        case .hasSpaceAvailable: if let stream = stream as? OutputStream { give(stream) }
        case .endEncountered, .errorOccurred:
            state.withLock { $0.report.error = stream.streamError as? MCError }
            stream.close()
            finish()
        default: break
        }
    }

    private func take(_ stream: InputStream) {
        let bytes = stream.bytes(step)
        state.withLock { $0.report.bytes += bytes ?? [] }
    }

    private func give(_ stream: OutputStream) {
        let piece = state.withLock { Array($0.unwritten.prefix(step)) }
        if piece.isEmpty {
            stream.close()
            return finish()
        }
        let count = stream.write(piece)
        state.withLock { state in
            if count > 0 { state.unwritten = state.unwritten.dropFirst(count) }
        }
    }
}

extension InputStream {
    /// Reads once; returns nil on failure.
    func bytes(_ limit: Int) -> [UInt8]? {
        var count = 0
        // At least one: without room, the standard library writes the count into the empty array that all threads share.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(limit, 1)) { room, filled in
            guard let start = room.baseAddress else { return }
            count = unsafe read(start, maxLength: limit)
            filled = max(count, 0)
        }
        return count < 0 ? nil : bytes
    }

    /// Reads until the end, blocking; returns nil on an error.
    func allBytes(_ limit: Int = 30_000) -> [UInt8]? {
        var all: [UInt8] = []
        while let bytes = bytes(limit) {
            if bytes.isEmpty { return all }
            all += bytes
        }
        return nil
    }
}

extension OutputStream {
    func write(_ bytes: [UInt8]) -> Int {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            return unsafe write(start, maxLength: bytes.count)
        }
    }

    /// Writes all of it, blocking; returns false on an error.
    func writeAll(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = write(Array(rest))
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
