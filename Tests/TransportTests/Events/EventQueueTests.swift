import MultipeerTransport
import TestSupport
import Testing

@Suite("EventQueue", .inTurns)
struct EventQueueTests {
    @Test("all elements come out once, in order, followed by the end")
    func order() async {
        let eventQueue = EventQueue<Int>()
        let producer = Task {
            for start in stride(from: 0, to: 100_000, by: 100) {
                eventQueue.push(start..<(start + 100))
                if start % 1_000 == 0 { await Task.yield() }
            }
            eventQueue.finish()
        }
        var seen: [Int] = []
        for await number in eventQueue { seen.append(number) }
        #expect(seen == Array(0..<100_000))
        await producer.value
        eventQueue.push(1...1)
        #expect(await firstElement(of: eventQueue) == nil)
    }

    @Test("markers keep their positions, and are returned only for runs")
    func markers() async throws {
        let (eventQueue, reached) = (EventQueue<Int>(), Promise<Void>())
        var batch = EventQueue<Int>.Batch()
        batch.append(.left)
        batch.append(1)
        batch.append(.reached(reached))
        batch.append(2)
        eventQueue.push(&batch)
        batch.append(.left)
        #expect(!batch.isEmpty)
        eventQueue.push(&batch)
        eventQueue.push(3...3)
        eventQueue.finish()
        var iterator = eventQueue.makeAsyncIterator()
        let first = try #require(await iterator.nextRun())
        #expect(first.elements == [1, 2])
        #expect(first.markers.map(\.index) == [0, 1])
        let second = try #require(await iterator.nextRun())
        #expect(second.elements.isEmpty && second.markers.map(\.index) == [0])
        #expect(await iterator.nextRun()?.elements == [3])
        #expect(await iterator.nextRun() == nil)
    }

    @Test("a batch of markers alone is not returned to a consumer of elements")
    func markersAlone() async {
        let eventQueue = EventQueue<Int>()
        var batch = EventQueue<Int>.Batch()
        batch.append(.left)
        eventQueue.push(&batch)
        eventQueue.push(1...1)
        #expect(await firstElement(of: eventQueue) == 1)
    }

    @Test("a batch is reported when the consumer asks for the next, with one sum for each key")
    func report() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int> { reports.append($0) }
        var batch = EventQueue<Int>.Batch()
        for number in 0..<6 { batch.append(number, key: number % 2, cost: 10) }
        eventQueue.push(&batch)
        #expect(batch.isEmpty && batch.costs.isEmpty)
        eventQueue.push([6], key: 1, cost: 5)

        var iterator = eventQueue.makeAsyncIterator()
        for number in 0..<6 { #expect(await iterator.next() == number) }
        #expect(reports.all == [])
        #expect(await iterator.next() == 6)
        #expect(reports.all.map { [$0[0], $0[1]] } == [[30, 30]])
        eventQueue.finish()
        #expect(await iterator.next() == nil)
        #expect(reports.all.map { [$0[0], $0[1]] } == [[30, 30], [0, 5]])
    }

    @Test("small costs are reported together")
    func threshold() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int>(reportAfter: 100) { reports.append($0) }
        var iterator = eventQueue.makeAsyncIterator()
        for number in 0..<25 {
            eventQueue.push([number], cost: 10)
            #expect(await iterator.next() == number)
        }
        #expect(reports.all.map { $0[0] } == [100, 100])
    }

    @Test("elements that an iterator took and did not hand out are there for the next one, and not reported")
    func breakingOff() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int> { reports.append($0) }
        eventQueue.push(0..<5, cost: 1)
        eventQueue.push(5..<10, cost: 1)
        for await number in eventQueue where number == 2 { break }
        eventQueue.push(10..<12, cost: 1)
        #expect(reports.all == [])
        eventQueue.finish()
        var seen: [Int] = []
        for await number in eventQueue { seen.append(number) }
        #expect(seen == Array(3..<12))
        #expect(reports.all.map { $0[0] }.reduce(0, +) == 12)
    }

    @Test("a batch that an iterator handed out completely before its release is not the end for the next one")
    func anEmptyBatchIsNoEnd() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int> { reports.append($0) }
        eventQueue.push([1], key: 7, cost: 10)
        for await number in eventQueue where number == 1 { break }
        eventQueue.push([2], key: 7, cost: 10)
        var iterator = eventQueue.makeAsyncIterator()
        #expect(await iterator.next() == 2)
        #expect(reports.all.map { $0[7] } == [10])
    }

    @Test("cancellation ends the wait and loses nothing")
    func cancellation() async {
        let eventQueue = EventQueue<Int>()
        let waiting = Task { await firstElement(of: eventQueue) }
        waiting.cancel()
        #expect(await waiting.value == nil)
        eventQueue.push([1])
        let early = await withTaskGroup(of: Int?.self) { group in
            group.cancelAll()
            group.addTask { await firstElement(of: eventQueue) }
            return await group.next()
        }
        #expect(early == 1)
        eventQueue.push([2])
        #expect(await firstElement(of: eventQueue) == 2)
    }

    @Test("cancellation racing with a push: the element is returned, now or later")
    func cancellationRace() async {
        for number in 0..<500 {
            let eventQueue = EventQueue<Int>()
            let waiting = Task { await firstElement(of: eventQueue) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { waiting.cancel() }
                group.addTask { eventQueue.push([number]) }
            }
            let first = await waiting.value
            eventQueue.finish()
            let second = await firstElement(of: eventQueue)
            #expect([first, second].compactMap { $0 } == [number])
        }
    }

    @Test("a consumer of batches gets the rest of one, then whole ones")
    func batches() async {
        let eventQueue = EventQueue<Int>()
        eventQueue.push(0..<3)
        eventQueue.push(3..<5)
        eventQueue.finish()
        var iterator = eventQueue.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        #expect(await iterator.nextBatch() == [1, 2])
        #expect(await iterator.nextBatch() == [3, 4])
        #expect(await iterator.nextBatch() == nil)
    }

    @Test("what may be withdrawn is, under its key, as long as no reader has it; the rest stays in order")
    func withdrawal() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int> { reports.append($0) }
        eventQueue.push([1], key: 7, cost: 1)
        eventQueue.push(withdrawable: 2, key: 7, cost: 1)
        eventQueue.push(withdrawable: 3, key: 8, cost: 1)
        eventQueue.push(withdrawable: 4, key: 7, cost: 1)
        #expect(eventQueue.withdraw(7) == [2, 4])
        #expect(eventQueue.withdraw(7).isEmpty)
        eventQueue.push(withdrawable: 5, key: 7, cost: 1)
        var iterator = eventQueue.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        // From its first wait on all of it is the reader's.
        #expect(eventQueue.withdraw(7).isEmpty && eventQueue.withdraw(8).isEmpty)
        #expect(await iterator.next() == 3)
        #expect(await iterator.next() == 5)
        eventQueue.push([6])
        #expect(await iterator.next() == 6)
        #expect(reports.all.reduce(0) { $0 + $1[7] } == 2)
        #expect(reports.all.reduce(0) { $0 + $1[8] } == 1)
    }

    private func firstElement(of eventQueue: EventQueue<Int>) async -> Int? {
        var iterator = eventQueue.makeAsyncIterator()
        return await iterator.next()
    }
}

extension EventQueue {
    func push(_ elements: some Sequence<Element>, key: Int = 0, cost: Int = 0) {
        var batch = Batch()
        for element in elements { batch.append(element, key: key, cost: cost) }
        push(&batch)
    }
}
