// SPDX-License-Identifier: Apache-2.0
//
// What it costs to give each received message to a task that iterates over a sequence. Frames of 128 KiB are taken apart, again
// and again. "In place" reads one byte of each payload where it lies. "In an array" copies each payload into one of its own, as
// the C twin does with malloc. "To a task" copies the payloads of a read into one allocation, and a task on another thread takes
// them from an AsyncSequence, in batches; at most 4 MiB wait for it.
//
//   BatchToTask MEBIBYTES

import Glibc
import Synchronization

final class Storage: Sendable {
    let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
}

struct Message: Sendable {
    let storage: Storage
    let start: UInt32
    let length: UInt32
    var first: UInt8 { storage.bytes[Int(start)] }
}

/// Batches on their way to a task. The thread that adds to it waits while there are too many.
final class Inbox: AsyncSequence, Sendable {
    typealias Failure = Never
    private struct State {
        var batches: [[Message]] = []
        var reader: CheckedContinuation<Void, Never>?
        var isOver = false
    }
    private let state = Mutex(State())
    private let limit = 32

    func add(_ batch: [Message]) {
        while state.withLock({ $0.batches.count >= limit }) { sched_yield() }
        let reader = state.withLock { state in
            state.batches.append(batch)
            return state.reader.take()
        }
        reader?.resume()
    }

    func end() {
        let reader = state.withLock { state in
            state.isOver = true
            return state.reader.take()
        }
        reader?.resume()
    }

    fileprivate func takeAll() async -> [[Message]] {
        while true {
            let (taken, isOver) = state.withLock { state in
                defer { state.batches = [] }
                return (state.batches, state.isOver)
            }
            if !taken.isEmpty || isOver { return taken }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.batches.isEmpty && !state.isOver { state.reader = continuation; return false }
                    return true
                }
                if isReady { continuation.resume() }
            }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(inbox: self) }

    struct Iterator: AsyncIteratorProtocol {
        let inbox: Inbox
        var batches: [[Message]] = []

        mutating func next() async -> [Message]? {
            if batches.isEmpty { batches = await inbox.takeAll().reversed() }
            return batches.popLast()
        }
    }
}

/// Calls `body` with the range of each payload.
@inline(__always)
func takeApart(_ input: [UInt8], _ body: (Range<Int>) -> Void) {
    var offset = 0
    while offset < input.count {
        let length = Int(input[offset + 2]) << 8 | Int(input[offset + 3])
        body((offset + 8)..<(offset + 8 + length))
        offset += 8 + length
    }
}

func frames(of size: Int) -> [UInt8] {
    let frame = [0, 0, UInt8(size >> 8), UInt8(size & 255), 0, 0, 0, 0] + [UInt8](repeating: 1, count: size)
    return (0..<(131_072 / frame.count)).flatMap { _ in frame }
}

func report(_ what: String, _ size: Int, _ messages: Int, _ body: @Sendable () async -> Int) async {
    let clock = SuspendingClock()
    let start = clock.now
    guard await body() == messages else { exit(1) }
    let (seconds, attoseconds) = (clock.now - start).components
    let value = (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(messages)
    print("{\"what\": \"message of \(size) B \(what)\", \"value\": \(value), \"unit\": \"ns\"}")
}

@main
struct BatchToTask {
    static func main() async {
        let reads = (CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 0 : 512) * 8
        guard reads > 0 else { exit(64) }
        for size in [64, 1024] {
            let input = frames(of: size)
            let messages = input.count / (8 + size) * reads
            await report("in place", size, messages) {
                var sum = 0
                for _ in 0..<reads { takeApart(input) { sum += Int(input[$0.lowerBound]) } }
                return sum
            }
            await report("in an array", size, messages) {
                var sum = 0
                for _ in 0..<reads { takeApart(input) { sum += Int(Array(input[$0])[0]) } }
                return sum
            }
            await report("to a task", size, messages) {
                let inbox = Inbox()
                start {
                    for _ in 0..<reads { inbox.add(batch(input)) }
                    inbox.end()
                }
                var sum = 0
                for await batch in inbox { for message in batch { sum += Int(message.first) } }
                return sum
            }
        }
    }

    static func start(_ body: @escaping @Sendable () -> Void) {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { box in
                if let box { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
                return nil
            }, Unmanaged.passRetained(Box(body)).toOpaque())
        guard code == 0 else { exit(1) }
        pthread_detach(thread)
    }

    static func batch(_ input: [UInt8]) -> [Message] {
        var (chunk, places) = ([UInt8](), [Range<Int>]())
        chunk.reserveCapacity(input.count)
        places.reserveCapacity(input.count / 72)
        takeApart(input) { range in
            places.append(chunk.count..<(chunk.count + range.count))
            chunk.append(contentsOf: input[range])
        }
        let storage = Storage(chunk)
        return places.map {
            Message(storage: storage, start: UInt32($0.lowerBound), length: UInt32($0.count))
        }
    }
}
