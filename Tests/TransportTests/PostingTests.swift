import MultipeerTransport
import TestSupport
import Testing

@Suite("Posting to an outlet", .inTurns)
struct PostingTests {
    struct Gone: Error, Equatable { let number: Int }

    @Test("what finds no room waits by itself, bounded in messages, and goes in its order [limit.outbox]")
    func order() {
        let outlet = Outlet<Gone>(messageLimit: 2) {}
        let limit = Backlog(messages: 3, bytes: 100)
        for byte in UInt8(0)..<5 { #expect(outlet.post([byte], limit: limit).isAccepted) }
        #expect(outlet.post([9], limit: limit).isFull)
        #expect(outlet.offer([9]).isFull)
        #expect(outlet.backlog == Backlog(messages: 3, bytes: 3))
        #expect(outlet.take() == [[0], [1]])
        outlet.released(messages: 1, bytes: 1)
        #expect(outlet.take() == [[2]])
        #expect(outlet.post([5], limit: limit).isAccepted)
        outlet.released(messages: 2, bytes: 2)
        #expect(outlet.take() == [[3], [4]])
        outlet.released(messages: 2, bytes: 2)
        #expect(outlet.take() == [[5]])
        #expect(outlet.backlog == Backlog())
    }

    @Test("it is bounded in bytes, and one larger than that waits alone [limit.outbox]")
    func bytes() {
        let outlet = Outlet<Gone>(byteLimit: 10) {}
        let limit = Backlog(messages: 100, bytes: 20)
        #expect(outlet.post([UInt8](repeating: 0, count: 10), limit: limit).isAccepted)
        #expect(outlet.post([UInt8](repeating: 1, count: 50), limit: limit).isAccepted)
        #expect(outlet.post([], limit: limit).isFull)
        outlet.released(messages: 1, bytes: 10)
        #expect(outlet.take().map(\.count) == [10, 50])
        #expect(outlet.post([UInt8](repeating: 2, count: 20), limit: limit).isAccepted)
        #expect(outlet.post([], limit: limit).isAccepted)
        #expect(outlet.post([3], limit: limit).isFull)
    }

    @Test("the loop is woken for what is let in later, too")
    func wakes() {
        let wakes = Notes<Void>()
        let outlet = Outlet<Gone>(messageLimit: 1) { wakes.append(()) }
        #expect(outlet.post([1]).isAccepted)
        #expect(outlet.post([2]).isAccepted)
        #expect(wakes.all.count == 1)
        #expect(outlet.take() == [[1]])
        outlet.released(messages: 1, bytes: 1)
        #expect(wakes.all.count == 2)
        #expect(outlet.take() == [[2]])
    }

    @Test("senders that wait and messages that were posted go in one order")
    func mixed() async throws {
        let outlet = Outlet<Gone>(messageLimit: 1) {}
        #expect(outlet.post([0]).isAccepted)
        let second = try await waitingSender(of: [1], on: outlet)
        #expect(outlet.post([2]).isAccepted)
        let cancelled = try await waitingSender(of: [9], on: outlet)
        let fourth = try await waitingSender(of: [3], on: outlet)
        #expect(outlet.post([4]).isAccepted)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        var all: [[UInt8]] = []
        while all.count < 5 {
            let taken = outlet.take()
            all += taken
            outlet.released(messages: taken.count, bytes: taken.count)
        }
        #expect(all == [[0], [1], [2], [3], [4]])
        try await second.value
        try await fourth.value
    }

    @Test("closing gives back what was posted, too, in order, and refuses more [msg.failed]")
    func closing() async throws {
        let outlet = Outlet<Gone>(messageLimit: 1) {}
        #expect(outlet.post([0]).isAccepted)
        #expect(outlet.post([1]).isAccepted)
        let waiting = try await waitingSender(of: [9], on: outlet)
        #expect(outlet.post([2]).isAccepted)
        #expect(outlet.close(with: Gone(number: 1)) == [[0], [1], [2]])
        await #expect(throws: Gone(number: 1)) { try await waiting.value }
        guard case .closed(Gone(number: 1)) = outlet.post([3]) else {
            Issue.record("posting to a closed outlet was not refused")
            return
        }
        // They were given back to be sent by another way, and count until they are.
        outlet.released(messages: 3, bytes: 3)
        #expect(outlet.close(with: Gone(number: 2)) == [])
    }

    @Test("a place is kept until it is taken or given up, and nobody passes it meanwhile")
    func reservations() throws {
        let outlet = Outlet<Gone>(messageLimit: 10) {}
        let first = try #require(outlet.reserve([1]).ticket)
        let second = try #require(outlet.reserve([2]).ticket)
        #expect(outlet.post([3]).isAccepted)
        #expect(outlet.take() == [])
        outlet.giveUp(first)
        #expect(outlet.take() == [])
        outlet.commit(second)
        #expect(outlet.take() == [[2], [3]])
        #expect(outlet.backlog == Backlog())
        let late = try #require(outlet.reserve([4]).ticket)
        #expect(outlet.close(with: Gone(number: 1)) == [])
        outlet.commit(late)
        #expect(outlet.take() == [])
        guard case .closed(Gone(number: 1)) = outlet.reserve([5]) else {
            Issue.record("a place in a closed outlet was not refused")
            return
        }
    }

    @Test("a place counts like what was posted [limit.outbox]")
    func fullOfPlaces() throws {
        let outlet = Outlet<Gone>(messageLimit: 1) {}
        let limit = Backlog(messages: 1, bytes: 100)
        #expect(outlet.post([1], limit: limit).isAccepted)
        let ticket = try #require(outlet.reserve([2], limit: limit).ticket)
        #expect(outlet.reserve([3], limit: limit).ticket == nil)
        #expect(outlet.post([3], limit: limit).isFull)
        outlet.giveUp(ticket)
        #expect(outlet.reserve([3], limit: limit).ticket != nil)
    }

    private func waitingSender(of message: [UInt8], on outlet: Outlet<Gone>) async throws -> Task<
        Void, any Error
    > {
        let before = outlet.waiting
        let task = Task { try await outlet.send(message) }
        while outlet.waiting == before { await Task.yield() }
        return task
    }
}

extension Outlet.Offer {
    fileprivate var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }

    fileprivate var isFull: Bool {
        if case .full = self { true } else { false }
    }
}

extension Outlet.Reservation {
    fileprivate var ticket: UInt64? {
        if case .ticket(let ticket) = self { ticket } else { nil }
    }
}
