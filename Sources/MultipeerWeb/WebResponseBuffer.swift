import Dispatch
import Foundation
import MultipeerFetch
import MultipeerNetworking
import MultipeerTransport

/// The unread part of a web server's response: a little in memory, the rest on disk.
final class WebResponseBuffer: Sendable {
    enum Wake: Sendable {
        case change
        case cancelled
        case timeout
    }

    enum Taken<Value: Sendable>: Sendable {
        case ready(Value)
        /// The next bytes are on disk.
        case spooled
        case nothing(Promise<Wake>)
        case over
        case failed(ResourceFault)
    }

    fileprivate struct State {
        var head: WebHead?
        /// Older than what is on disk.
        var pieces: [[UInt8]] = []
        var buffered = 0
        var spool: Spool?
        var calls = 0
        var isOver = false
        /// The first fault counts, but only after the data before it.
        var fault: ResourceFault?
        var isCancelled = false
        /// The client waits for, or works on, our response to a redirection.
        var isRedirecting = false
        var waiter: Promise<Wake>?
        var awaitsHead = false
    }

    /// The most bytes that may wait in memory.
    private static let room = 1_048_576
    /// The most calls to the delegate that may wait, each with up to 16 KiB.
    private static let calls = 64
    /// How long each call beyond that is delayed: together with them, 1 MiB a second for a stalled disk.
    private static let pause = DispatchTimeInterval.milliseconds(16)

    private let state = Locked(State())
    private let gate = DispatchSemaphore(value: 0)
}

// MARK: what the client's threads call

extension WebResponseBuffer {
    /// Blocks for a moment while too many calls wait: all sessions share the thread.
    func callQueued() {
        let calls = state.withLock { state in
            state.calls += 1
            return state.isCancelled ? 0 : state.calls
        }
        if calls > WebResponseBuffer.calls { _ = gate.wait(timeout: .now() + WebResponseBuffer.pause) }
    }

    func callDone() {
        let calls = state.withLock { state in
            state.calls -= 1
            return state.calls
        }
        if calls == WebResponseBuffer.calls { gate.signal() }
    }

    func begin(_ head: WebHead) {
        change { state in if state.head == nil { state.head = head } }
    }

    /// Returns whether the client may be given its redirection response: not after `cancel`, which makes its Foundation end the
    /// process if it is. From here on it must not be cancelled before it has finished that.
    func beginRedirection() -> Bool {
        change { state in
            state.isRedirecting = !state.isCancelled
            return state.isRedirecting
        }
    }

    /// The client has finished that. Returns whether it is still to be cancelled.
    func endRedirection() -> Bool {
        change { state in
            defer { state.isRedirecting = false }
            return state.isRedirecting && state.isCancelled
        }
    }

    /// Appends bytes; one call at a time.
    func append(_ bytes: [UInt8]) {
        let kept = change { state in
            if bytes.isEmpty || state.isCancelled || state.fault != nil { return true }
            if state.buffered >= WebResponseBuffer.room || state.spool?.isEmpty == false { return false }
            state.pieces.append(bytes)
            state.buffered += bytes.count
            return true
        }
        if !kept { spill(bytes) }
    }

    func end(_ fault: ResourceFault?) {
        change { state in
            state.isOver = true
            if state.fault == nil { state.fault = fault }
        }
    }

    private func spill(_ bytes: [UInt8]) {
        do throws(FileFault) {
            let spool = if let spool = state.withLock({ $0.spool }) { spool } else { try Spool() }
            try spool.append(bytes)
            change { state in if !state.isCancelled { state.spool = spool } }
        } catch {
            end(.file(error))
        }
    }
}

// MARK: what the taker calls

extension WebResponseBuffer {
    func takeHead() -> Taken<WebHead> {
        state.withLock { state in
            state.awaitsHead = state.head == nil
            if let head = state.head { return .ready(head) }
            return state.otherwise()
        }
    }

    /// Returns what is in memory, as much of it as fits; at least one call's bytes.
    func takePiece(_ limit: Int) -> Taken<[UInt8]> {
        let taken = state.withLock { state -> Taken<[[UInt8]]> in
            if state.pieces.isEmpty { return state.otherwise() }
            var count = 0
            let fitting = state.pieces.prefix { piece in
                count += piece.count
                return count <= limit
            }
            let pieces = Array(state.pieces.prefix(max(fitting.count, 1)))
            state.pieces.removeFirst(pieces.count)
            state.buffered -= pieces.reduce(0) { $0 + $1.count }
            return .ready(pieces)
        }
        return taken.map { pieces in
            if pieces.count == 1 { return pieces[0] }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
            for piece in pieces { bytes += piece }
            return bytes
        }
    }

    /// After `.spooled`. Blocks for the disk.
    func readSpool(_ limit: Int) throws(FileFault) -> [UInt8] {
        try state.withLock { $0.spool }?.read(limit) ?? []
    }

    /// Returns whether the client is to be cancelled now: once, and not while it handles a redirection.
    func cancel() -> Bool {
        change { state in
            defer { state.isCancelled = true }
            state.pieces = []
            state.buffered = 0
            state.spool = nil
            return !state.isCancelled && !state.isRedirecting
        }
    }

    /// Changes the state, and wakes the waiting reader.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, waiter) = state.withLock { state -> (Result, Promise<Wake>?) in
            let result = body(&state)
            return (result, state.hasNews ? state.waiter.take() : nil)
        }
        waiter?.send(.change)
        return result
    }
}

extension WebResponseBuffer.State {
    var hasNews: Bool {
        !pieces.isEmpty || spool?.isEmpty == false || isOver || isCancelled || awaitsHead && head != nil
    }

    /// Returns the result when nothing is in memory.
    mutating func otherwise<Value>() -> WebResponseBuffer.Taken<Value> {
        if isCancelled { return .failed(.cancelled) }
        if spool?.isEmpty == false { return .spooled }
        if let fault { return .failed(fault) }
        if isOver { return .over }
        let signal = Promise<WebResponseBuffer.Wake>()
        waiter = signal
        return .nothing(signal)
    }
}

extension WebResponseBuffer.Taken {
    func map<Other>(_ change: (Value) -> Other) -> WebResponseBuffer.Taken<Other> {
        switch self {
        case .ready(let value): .ready(change(value))
        case .spooled: .spooled
        case .nothing(let signal): .nothing(signal)
        case .over: .over
        case .failed(let fault): .failed(fault)
        }
    }
}

extension WebHead {
    init(_ response: URLResponse) {
        let http = response as? HTTPURLResponse
        let coding = http?.value(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? "identity"
        let expected = response.expectedContentLength
        self.init(
            status: http?.statusCode ?? 0,
            length: expected >= 0 && coding == "identity" ? UInt64(expected) : nil,
            location: http?.value(forHTTPHeaderField: "Location"))
    }
}
