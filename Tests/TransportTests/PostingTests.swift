import MultipeerTransport
import TestSupport
import Testing

@Suite("Posting to a send queue", .inTurns)
struct PostingTests {
    struct Gone: Error, Equatable { let number: Int }

    @Test("posted messages without room wait, bounded in number, and are sent in order [limit.send-queue]")
    func order() {
        let sendQueue = SendQueue<Gone>(messageLimit: 2) {}
        let limit = Backlog(messages: 3, bytes: 100)
        for byte in UInt8(0)..<5 { #expect(sendQueue.post([byte], limit: limit).isAccepted) }
        #expect(sendQueue.post([9], limit: limit).isFull)
        #expect(sendQueue.offer([9]).isFull)
        #expect(sendQueue.backlog == Backlog(messages: 3, bytes: 3))
        #expect(sendQueue.take() == [[0], [1]])
        sendQueue.released(messages: 1, bytes: 1)
        #expect(sendQueue.take() == [[2]])
        #expect(sendQueue.post([5], limit: limit).isAccepted)
        sendQueue.released(messages: 2, bytes: 2)
        #expect(sendQueue.take() == [[3], [4]])
        sendQueue.released(messages: 2, bytes: 2)
        #expect(sendQueue.take() == [[5]])
        #expect(sendQueue.backlog == Backlog())
    }

    @Test("they are bounded in bytes, too, and one larger than the limit waits alone [limit.send-queue]")
    func bytes() {
        let sendQueue = SendQueue<Gone>(byteLimit: 10) {}
        let limit = Backlog(messages: 100, bytes: 20)
        #expect(sendQueue.post([UInt8](repeating: 0, count: 10), limit: limit).isAccepted)
        #expect(sendQueue.post([UInt8](repeating: 1, count: 50), limit: limit).isAccepted)
        #expect(sendQueue.post([], limit: limit).isFull)
        sendQueue.released(messages: 1, bytes: 10)
        #expect(sendQueue.take().map(\.count) == [10, 50])
        #expect(sendQueue.post([UInt8](repeating: 2, count: 20), limit: limit).isAccepted)
        #expect(sendQueue.post([], limit: limit).isAccepted)
        #expect(sendQueue.post([3], limit: limit).isFull)
    }

    @Test("the loop is woken for messages that are admitted later, too")
    func wakes() {
        let wakes = Notes<Void>()
        let sendQueue = SendQueue<Gone>(messageLimit: 1) { wakes.append(()) }
        #expect(sendQueue.post([1]).isAccepted)
        #expect(sendQueue.post([2]).isAccepted)
        #expect(wakes.all.count == 1)
        #expect(sendQueue.take() == [[1]])
        sendQueue.released(messages: 1, bytes: 1)
        #expect(wakes.all.count == 2)
        #expect(sendQueue.take() == [[2]])
    }

    @Test("waiting senders and posted messages share one order")
    func mixed() async throws {
        let sendQueue = SendQueue<Gone>(messageLimit: 1) {}
        #expect(sendQueue.post([0]).isAccepted)
        let second = try await waitingSender(of: [1], on: sendQueue)
        #expect(sendQueue.post([2]).isAccepted)
        let cancelled = try await waitingSender(of: [9], on: sendQueue)
        let fourth = try await waitingSender(of: [3], on: sendQueue)
        #expect(sendQueue.post([4]).isAccepted)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        var all: [[UInt8]] = []
        while all.count < 5 {
            let taken = sendQueue.take()
            all += taken
            sendQueue.released(messages: taken.count, bytes: taken.count)
        }
        #expect(all == [[0], [1], [2], [3], [4]])
        try await second.value
        try await fourth.value
    }

    @Test("closing returns the posted messages, too, in order, and refuses more [msg.failed]")
    func closing() async throws {
        let sendQueue = SendQueue<Gone>(messageLimit: 1) {}
        #expect(sendQueue.post([0]).isAccepted)
        #expect(sendQueue.post([1]).isAccepted)
        let waiting = try await waitingSender(of: [9], on: sendQueue)
        #expect(sendQueue.post([2]).isAccepted)
        #expect(sendQueue.close(with: Gone(number: 1)) == [[0], [1], [2]])
        await #expect(throws: Gone(number: 1)) { try await waiting.value }
        guard case .closed(Gone(number: 1)) = sendQueue.post([3]) else {
            Issue.record("posting to a closed send queue was not refused")
            return
        }
        // They were given back to be sent by another way, and count until they are.
        sendQueue.released(messages: 3, bytes: 3)
        #expect(sendQueue.close(with: Gone(number: 2)) == [])
    }

    @Test("a reserved place is kept until it is used or released, and no message overtakes it")
    func reservations() throws {
        let sendQueue = SendQueue<Gone>(messageLimit: 10) {}
        let first = try #require(sendQueue.reserve([1]).ticket)
        let second = try #require(sendQueue.reserve([2]).ticket)
        #expect(sendQueue.post([3]).isAccepted)
        #expect(sendQueue.take() == [])
        sendQueue.giveUp(first)
        #expect(sendQueue.take() == [])
        sendQueue.commit(second)
        #expect(sendQueue.take() == [[2], [3]])
        #expect(sendQueue.backlog == Backlog())
        let late = try #require(sendQueue.reserve([4]).ticket)
        #expect(sendQueue.close(with: Gone(number: 1)) == [])
        sendQueue.commit(late)
        #expect(sendQueue.take() == [])
        guard case .closed(Gone(number: 1)) = sendQueue.reserve([5]) else {
            Issue.record("a place in a closed send queue was not refused")
            return
        }
    }

    @Test("a reserved place counts like a posted message [limit.send-queue]")
    func fullOfPlaces() throws {
        let sendQueue = SendQueue<Gone>(messageLimit: 1) {}
        let limit = Backlog(messages: 1, bytes: 100)
        #expect(sendQueue.post([1], limit: limit).isAccepted)
        let ticket = try #require(sendQueue.reserve([2], limit: limit).ticket)
        #expect(sendQueue.reserve([3], limit: limit).ticket == nil)
        #expect(sendQueue.post([3], limit: limit).isFull)
        sendQueue.giveUp(ticket)
        #expect(sendQueue.reserve([3], limit: limit).ticket != nil)
    }

    private func waitingSender(of message: [UInt8], on sendQueue: SendQueue<Gone>) async throws -> Task<
        Void, any Error
    > {
        let before = sendQueue.waiting
        let task = Task { try await sendQueue.send(message) }
        while sendQueue.waiting == before { await Task.yield() }
        return task
    }
}

extension SendQueue.Offer {
    fileprivate var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }

    fileprivate var isFull: Bool {
        if case .full = self { true } else { false }
    }
}

extension SendQueue.Reservation {
    fileprivate var ticket: UInt64? {
        if case .ticket(let ticket) = self { ticket } else { nil }
    }
}
