import MultipeerConnectivity

/// How a stream is read.
enum Reading: String {
    /// On the run loop of a thread of its own.
    case loop
    /// The same, but only after a command.
    case later
    /// Without a run loop: each read blocks.
    case block
}

/// How a stream is written.
enum Writing: String {
    case loop, block
}

/// A value that is transferred to another thread, or another isolation: the sender does not use it again.
struct Handed<Value>: @unchecked Sendable {
    let value: Value
}

/// Reads a stream to its end, on a thread of its own, and reports its content.
final class Reader: NSObject, StreamDelegate {
    private let stream: InputStream
    private let name: String
    private let thread = Thread.current
    private var sum = Checksum()
    private var log = StreamLog()
    private var buffer = [UInt8](repeating: 0, count: 32_768)

    private init(_ stream: InputStream, _ name: String) { (self.stream, self.name) = (stream, name) }

    static func begin(
        _ stream: InputStream, _ name: String, _ reading: Reading, after gate: DispatchSemaphore
    ) {
        let handed = Handed(value: stream)
        Thread.detachNewThread {
            gate.wait()
            let reader = Reader(handed.value, name)
            if reading == .block { reader.readWaiting() } else { reader.readOnRunLoop() }
            reader.finish()
        }
    }

    private func readOnRunLoop() {
        stream.delegate = self
        stream.schedule(in: .current, forMode: .default)
        stream.open()
        while !log.isOver { log.isIdle(!runOnce()) }
        stream.remove(from: .current, forMode: .default)
    }

    private func readWaiting() {
        stream.open()
        while take() > 0 {}
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        log.note(eventCode, isRight: Thread.current === thread && aStream === stream)
        // One read for each event, as Foundation requires.
        if eventCode == .hasBytesAvailable { _ = take() }
    }

    private func take() -> Int {
        let count = unsafe buffer.withUnsafeMutableBufferPointer { space in
            guard let start = space.baseAddress else { return 0 }
            return unsafe stream.read(start, maxLength: space.count)
        }
        if count > 0 { sum.take(buffer.prefix(count)) }
        return count
    }

    private func finish() {
        tell("read", log.told(stream, sum).merging(["name": name]) { old, _ in old })
        stream.close()
    }
}

/// Writes a pattern to a stream and closes it, on a thread of its own.
final class Writer: NSObject, StreamDelegate {
    private let stream: OutputStream
    private let name: String
    private let thread = Thread.current
    private var sum = Checksum()
    private var log = StreamLog()
    private var left: Int
    private var pattern: Pattern
    private var pending: [UInt8] = []

    private init(_ stream: OutputStream, _ name: String, _ count: Int) {
        (self.stream, self.name, left) = (stream, name, count)
        pattern = Pattern(count)
    }

    static func begin(_ stream: OutputStream, _ name: String, _ count: Int, _ writing: Writing) {
        let handed = Handed(value: stream)
        Thread.detachNewThread {
            let writer = Writer(handed.value, name, count)
            if writing == .block { writer.writeWaiting() } else { writer.writeOnRunLoop() }
            writer.finish()
        }
    }

    private func writeOnRunLoop() {
        stream.delegate = self
        stream.schedule(in: .current, forMode: .default)
        stream.open()
        while !log.isOver { log.isIdle(!runOnce()) }
        stream.remove(from: .current, forMode: .default)
    }

    private func writeWaiting() {
        stream.open()
        while put() {}
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        log.note(eventCode, isRight: Thread.current === thread && aStream === stream)
        // There is an event for an error as well, after a write that failed.
        if eventCode == .hasSpaceAvailable, !put(), stream.streamStatus != .error { log.isOver = true }
    }

    /// Writes once; returns false when nothing is left to write, or the stream has failed.
    private func put() -> Bool {
        if pending.isEmpty {
            let count = min(left, 16_384)
            pending = Array(pattern.next(count))
            left -= count
        }
        if pending.isEmpty { return false }
        let bytes = pending
        let count = unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            return unsafe stream.write(start, maxLength: bytes.count)
        }
        guard count >= 0 else { return false }
        sum.take(pending.prefix(count))
        pending.removeFirst(count)
        return !pending.isEmpty || left > 0
    }

    private func finish() {
        tell("wrote", log.told(stream, sum).merging(["name": name]) { old, _ in old })
        stream.close()
    }
}

/// Runs the run loop of this thread until something has happened; returns false when it has nothing to wait for.
private func runOnce() -> Bool {
    RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
}

/// The events that a stream delivered.
struct StreamLog {
    var isOver = false
    private var count: [String: Int] = [:]
    private var isRight = true
    /// How often the run loop had nothing to wait for.
    private var idle = 0

    mutating func isIdle(_ isIdle: Bool) {
        guard isIdle else { return }
        idle += 1
        usleep(1_000)
    }

    mutating func note(_ event: Stream.Event, isRight: Bool) {
        if !isRight { self.isRight = false }
        count[word(for: event), default: 0] += 1
        if event == .endEncountered || event == .errorOccurred { isOver = true }
    }

    func told(_ stream: Stream, _ sum: Checksum) -> Fields {
        var told: Fields = [
            "bytes": sum.count, "crc": Int(sum.value), "events": count, "right": isRight, "idle": idle,
        ]
        if let error = stream.streamError { told.merge(fields(of: error)) { old, _ in old } }
        return told
    }

    private func word(for event: Stream.Event) -> String {
        switch event {
        case .openCompleted: "open"
        case .hasBytesAvailable: "bytes"
        case .hasSpaceAvailable: "space"
        case .endEncountered: "end"
        case .errorOccurred: "error"
        default: "\(event.rawValue)"
        }
    }
}
