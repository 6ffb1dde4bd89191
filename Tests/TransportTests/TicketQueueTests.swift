import TestSupport
import Testing

@testable import MultipeerTransport

@Suite("Ticket queue", .computing)
struct TicketQueueTests {
    @Test("elements leave by ticket, in their order or out of it")
    func order() {
        var queue = TicketQueue<Int>()
        for ticket in 10..<15 { queue.append(ticket * 2, ticket: UInt64(ticket)) }
        #expect(queue.remove(12) == 24)
        #expect(queue.remove(12) == nil && queue[12] == nil)
        #expect(queue.remove(10) == 20)
        queue[13] = 7
        queue[12] = 8
        #expect(queue.elements == [22, 7, 28])
        #expect(queue.count == 3)
        #expect(queue[9] == nil && queue[15] == nil)
        for ticket in [11, 13, 14] as [UInt64] { queue.remove(ticket) }
        #expect(queue.isEmpty && queue.elements.isEmpty)
        queue.append(1, ticket: 20)
        #expect(queue[20] == 1 && queue[14] == nil)
    }

    @Test("a queue that is never empty keeps at most about twice as many places as elements")
    func moving() {
        var queue = TicketQueue<UInt64>()
        for ticket in 0..<2_000 as Range<UInt64> { queue.append(ticket, ticket: ticket) }
        for ticket in 2_000..<20_000 as Range<UInt64> {
            queue.append(ticket, ticket: ticket)
            #expect(queue.remove(ticket - 2_000) == ticket - 2_000)
            #expect(queue.places <= 4_100)
        }
        #expect(queue.elements == Array(18_000..<20_000))
    }
}
