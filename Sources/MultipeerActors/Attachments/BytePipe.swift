import MultipeerTransport

/// A bounded buffer of bytes between two tasks of one process: the writer waits while it is full.
final class BytePipe: Sendable {
    static let capacity = 262_144
    /// Shorter pieces are appended to the previous one.
    private static let small = 8_192

    private enum End {
        case finished
        case failed(any Error)
    }

    private struct State {
        var pieces: [[UInt8]] = []
        var held = 0
        var end: End?
        var reader: Promise<Void>?
        var writers: [Promise<Void>] = []

        /// Small pieces are combined into larger ones, since each has its own allocation and takes time to move up.
        mutating func add(_ bytes: [UInt8]) {
            held += bytes.count
            if let last = pieces.indices.last, pieces[last].count + bytes.count <= BytePipe.small {
                pieces[last].append(contentsOf: bytes)
            } else {
                pieces.append(bytes)
            }
        }

        mutating func takeWriters() -> [Promise<Void>] {
            defer { writers = [] }
            return writers
        }
    }

    private enum Turn {
        case piece([UInt8], [Promise<Void>])
        case end(End)
        case wait
    }

    private let state = Locked(State())

    /// Writes bytes, waiting while the pipe is full. Throws the error with which it has ended.
    func write(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { return }
        while true {
            try Task.checkCancellation()
            let signal = Promise<Void>()
            let (end, reader, waits) = state.withLock { state -> (End?, Promise<Void>?, Bool) in
                if let end = state.end { return (end, nil, false) }
                if state.held >= BytePipe.capacity {
                    state.writers.append(signal)
                    return (nil, nil, true)
                }
                state.add(bytes)
                return (nil, state.reader.take(), false)
            }
            switch end {
            case .failed(let error): throw error
            case .finished: throw ActorCallError(.invalidArgument, "the stream is already finished")
            case nil: break
            }
            reader?.send(())
            if !waits { return }
            await signal.value(onCancel: { signal.send(()) })
        }
    }

    /// Returns the next bytes; nil after the last. Used by one task.
    func next() async throws -> [UInt8]? {
        while true {
            try Task.checkCancellation()
            let signal = Promise<Void>()
            let turn = state.withLock { state -> Turn in
                if !state.pieces.isEmpty {
                    let piece = state.pieces.removeFirst()
                    state.held -= piece.count
                    return .piece(piece, state.takeWriters())
                }
                if let end = state.end { return .end(end) }
                state.reader = signal
                return .wait
            }
            switch turn {
            case .piece(let piece, let writers):
                for writer in writers { writer.send(()) }
                return piece
            case .end(.finished): return nil
            case .end(.failed(let error)): throw error
            case .wait: await signal.value(onCancel: { signal.send(()) })
            }
        }
    }

    func finish() { end(.finished) }

    /// Fails the pipe and discards its unread bytes.
    func fail(_ error: any Error) { end(.failed(error)) }

    private func end(_ end: End) {
        let waiters = state.withLock { state -> [Promise<Void>] in
            if state.end != nil { return [] }
            state.end = end
            if case .failed = end { state.pieces = [] }
            return state.takeWriters() + (state.reader.take().map { [$0] } ?? [])
        }
        for waiter in waiters { waiter.send(()) }
    }
}

/// The reading end of a pipe within this process. Releasing it notifies the writer.
final class BytePipeReader: Sendable {
    private let pipe: BytePipe

    init(_ pipe: BytePipe) { self.pipe = pipe }

    deinit { pipe.fail(ActorCallError(.cancelled, "the stream has no reader")) }

    func next() async throws -> [UInt8]? { try await pipe.next() }

    /// Discards unread bytes, and gives the writer the error.
    func fail(_ error: any Error) { pipe.fail(error) }
}
