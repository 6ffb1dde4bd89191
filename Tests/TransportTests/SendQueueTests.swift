import MultipeerTransport
import TestSupport
import Testing

@Suite("SendQueue", .inTurns)
struct SendQueueTests {
    struct Gone: Error, Equatable { let number: Int }

    @Test("messages come out in order, with one wakeup until they are taken")
    func order() throws {
        let wakes = Notes<Void>()
        let sendQueue = SendQueue<Gone> { wakes.append(()) }
        #expect(sendQueue.take() == [])
        for byte in UInt8(0)..<10 { #expect(sendQueue.offer([byte]).isAccepted) }
        #expect(try sendQueue.offer(contentsOf: [[10], [11]]) == 2)
        #expect(wakes.all.count == 1)
        #expect(sendQueue.take() == (UInt8(0)..<12).map { [$0] })
        #expect(sendQueue.offer([12]).isAccepted)
        #expect(wakes.all.count == 2)
    }

    @Test("it is full at its limit of bytes or messages until they are released [limit.send-queue]")
    func limits() throws {
        let sendQueue = SendQueue<Gone>(byteLimit: 10, messageLimit: 3) {}
        #expect(try sendQueue.offer(contentsOf: [[1], [2], [3], [4]]) == 3)
        #expect(sendQueue.offer([]).isFull)
        _ = sendQueue.take()
        #expect(sendQueue.offer([]).isFull)
        sendQueue.released(messages: 2, bytes: 2)
        #expect(sendQueue.offer([UInt8](repeating: 0, count: 10)).isFull)
        #expect(sendQueue.offer([UInt8](repeating: 0, count: 9)).isAccepted)
        #expect(sendQueue.offer([0]).isFull)
        #expect(sendQueue.offer([]).isAccepted)
    }

    @Test("a message larger than the limit is accepted alone [limit.send-queue]")
    func large() {
        let sendQueue = SendQueue<Gone>(byteLimit: 10) {}
        let large = [UInt8](repeating: 1, count: 100)
        #expect(sendQueue.offer([1]).isAccepted)
        #expect(sendQueue.offer(large).isFull)
        #expect(sendQueue.take().count == 1)
        sendQueue.released(messages: 1, bytes: 1)
        #expect(sendQueue.offer(large).isAccepted)
        #expect(sendQueue.offer([1]).isFull)
    }

    @Test("senders that wait go on when the queue is half empty, or when nothing leaves it")
    func half() async throws {
        let sendQueue = SendQueue<Gone>(byteLimit: 10, resumesAtHalf: true) {}
        for _ in 0..<10 { #expect(sendQueue.offer([0]).isAccepted) }
        _ = sendQueue.take()
        let first = try await waitingSender(of: [1], on: sendQueue)
        let second = try await waitingSender(of: [UInt8](repeating: 2, count: 5), on: sendQueue)
        sendQueue.released(messages: 4, bytes: 4)
        #expect(sendQueue.waiting == 2 && sendQueue.take().isEmpty)
        sendQueue.stalled()
        try await first.value
        #expect(sendQueue.waiting == 1 && sendQueue.take() == [[1]])
        sendQueue.released(messages: 1, bytes: 1)
        #expect(sendQueue.waiting == 1)
        sendQueue.released(messages: 1, bytes: 1)
        try await second.value
        #expect(sendQueue.waiting == 0)
    }

    @Test("waiting senders are admitted in order when there is room, and none overtakes another")
    func fairness() async throws {
        let sendQueue = SendQueue<Gone>(byteLimit: 10) {}
        #expect(sendQueue.offer([UInt8](repeating: 0, count: 10)).isAccepted)
        let sizes = [8, 2, 9, 1]
        var senders: [Task<Void, any Error>] = []
        for size in sizes {
            senders.append(try await waitingSender(of: [UInt8](repeating: 0, count: size), on: sendQueue))
        }
        #expect(sendQueue.take().count == 1)
        sendQueue.released(messages: 1, bytes: 10)
        for sender in senders[...1] { try await sender.value }
        #expect(sendQueue.offer([]).isFull)
        #expect(sendQueue.take().map(\.count) == [8, 2])
        sendQueue.released(messages: 1, bytes: 8)
        #expect(sendQueue.take() == [])
        sendQueue.released(messages: 1, bytes: 2)
        for sender in senders[2...] { try await sender.value }
        #expect(sendQueue.take().map(\.count) == [9, 1])
    }

    @Test("a cancelled sender leaves the queue without its message, and those after it move up")
    func cancellation() async throws {
        let sendQueue = SendQueue<Gone>(byteLimit: 10) {}
        #expect(sendQueue.offer([UInt8](repeating: 0, count: 6)).isAccepted)
        let large = try await waitingSender(of: [UInt8](repeating: 1, count: 9), on: sendQueue)
        let small = try await waitingSender(of: [2], on: sendQueue)
        large.cancel()
        await #expect(throws: CancellationError.self) { try await large.value }
        try await small.value
        #expect(sendQueue.take().map(\.count) == [6, 1])
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask { try await sendQueue.send([UInt8](repeating: 3, count: 9)) }
                try await group.waitForAll()
            }
        }
        #expect(sendQueue.take() == [])
    }

    @Test("closing refuses everything with its reason, wakes waiting senders, and returns what was not taken")
    func closing() async throws {
        let sendQueue = SendQueue<Gone>(messageLimit: 1) {}
        #expect(sendQueue.offer([1]).isAccepted)
        let waiting = try await waitingSender(of: [2], on: sendQueue)
        #expect(sendQueue.close(with: Gone(number: 1)) == [[1]])
        #expect(sendQueue.close(with: Gone(number: 2)) == [])
        await #expect(throws: Gone(number: 1)) { try await waiting.value }
        await #expect(throws: Gone(number: 1)) { try await sendQueue.send([3]) }
        #expect(throws: Gone(number: 1)) { try sendQueue.offer(contentsOf: [[3]]) }
        guard case .closed(Gone(number: 1)) = sendQueue.offer([4]) else {
            Issue.record("an offer to a closed send queue was not refused")
            return
        }
    }

    @Test("many concurrent senders: every message arrives once, each sender's in order")
    func stress() async throws {
        let half = Sanitizer.fewer(5_000)
        try await withLoop { loop in
            let drain = Drain(loop)
            let sendQueue = SendQueue<Gone>(byteLimit: 4_096, messageLimit: 64, wake: loop.waker(for: drain))
            await drain.follow(sendQueue)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sender in UInt8(0)..<4 {
                    group.addTask {
                        for number in 0..<half { try await sendQueue.send(message(from: sender, number)) }
                        try await sendQueue.send(
                            contentsOf: (half..<2 * half).map { message(from: sender, $0) })
                    }
                }
                try await group.waitForAll()
            }
            let arrived = await drain.all(4 * 2 * half)
            for sender in UInt8(0)..<4 {
                let own = arrived.filter { $0[0] == sender }
                #expect(own == (0..<2 * half).map { message(from: sender, $0) })
            }
        }
    }

    /// Returns once the sender waits in the queue: a task that has to wait shows by nothing else.
    private func waitingSender(of message: [UInt8], on sendQueue: SendQueue<Gone>) async throws -> Task<
        Void, any Error
    > {
        let before = sendQueue.waiting
        let task = Task { try await sendQueue.send(message) }
        while sendQueue.waiting == before { await Task.yield() }
        return task
    }
}

private func message(from sender: UInt8, _ number: Int) -> [UInt8] {
    [sender, UInt8(number >> 8), UInt8(number & 0xff)]
}

extension SendQueue.Offer {
    fileprivate var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }

    fileprivate var isFull: Bool {
        if case .full = self { true } else { false }
    }
}

/// Takes from a send queue whenever it is woken up, and releases at the end of the turn.
private actor Drain: LoopClient {
    nonisolated let loop: EventLoop
    nonisolated let wakeup = Wakeup()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private var sendQueue: SendQueue<SendQueueTests.Gone>?
    private var arrived: [[UInt8]] = []
    private var taken: [[UInt8]] = []
    private var awaited: (count: Int, signal: Promise<Void>)?

    init(_ loop: EventLoop) { self.loop = loop }

    func follow(_ sendQueue: SendQueue<SendQueueTests.Gone>) { self.sendQueue = sendQueue }

    func all(_ count: Int) async -> [[UInt8]] {
        if arrived.count < count {
            let signal = Promise<Void>()
            awaited = (count, signal)
            await signal.value()
        }
        return arrived
    }

    nonisolated func ready(_ token: Int, _ readiness: Readiness) {}
    nonisolated func deadlineReached() {}
    nonisolated func wokenUp() { assumeIsolated { $0.taken += $0.sendQueue?.take() ?? [] } }
    nonisolated func turnEnded() { assumeIsolated { $0.release() } }

    private func release() {
        arrived += taken
        sendQueue?.released(messages: taken.count, bytes: taken.reduce(0) { $0 + $1.count })
        taken = []
        if let awaited, arrived.count >= awaited.count { awaited.signal.send(()) }
    }
}
