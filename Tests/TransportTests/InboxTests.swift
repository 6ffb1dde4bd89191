import MultipeerTransport
import TestSupport
import Testing

@Suite("Inbox", .inTurns)
struct InboxTests {
    @Test("everything that was pushed comes out once, in order, and the end behind it")
    func order() async {
        let inbox = Inbox<Int>()
        let producer = Task {
            for start in stride(from: 0, to: 100_000, by: 100) {
                inbox.push(start..<(start + 100))
                if start % 1_000 == 0 { await Task.yield() }
            }
            inbox.finish()
        }
        var seen: [Int] = []
        for await number in inbox { seen.append(number) }
        #expect(seen == Array(0..<100_000))
        await producer.value
        inbox.push(1...1)
        #expect(await firstElement(of: inbox) == nil)
    }

    @Test("markers come where they were put, and only to who asks for runs")
    func markers() async throws {
        let (inbox, reached) = (Inbox<Int>(), Promise<Void>())
        var batch = Inbox<Int>.Batch()
        batch.append(.left)
        batch.append(1)
        batch.append(.reached(reached))
        batch.append(2)
        inbox.push(&batch)
        batch.append(.left)
        #expect(!batch.isEmpty)
        inbox.push(&batch)
        inbox.push(3...3)
        inbox.finish()
        var iterator = inbox.makeAsyncIterator()
        let first = try #require(await iterator.nextRun())
        #expect(first.elements == [1, 2])
        #expect(first.markers.map(\.index) == [0, 1])
        let second = try #require(await iterator.nextRun())
        #expect(second.elements.isEmpty && second.markers.map(\.index) == [0])
        #expect(await iterator.nextRun()?.elements == [3])
        #expect(await iterator.nextRun() == nil)
    }

    @Test("a batch of nothing but markers is none for who takes elements")
    func markersAlone() async {
        let inbox = Inbox<Int>()
        var batch = Inbox<Int>.Batch()
        batch.append(.left)
        inbox.push(&batch)
        inbox.push(1...1)
        #expect(await firstElement(of: inbox) == 1)
    }

    @Test("a batch is reported when the consumer comes back for the next, with one sum for each key")
    func report() async {
        let reports = Notes<Tally>()
        let inbox = Inbox<Int> { reports.append($0) }
        var batch = Inbox<Int>.Batch()
        for number in 0..<6 { batch.append(number, key: number % 2, cost: 10) }
        inbox.push(&batch)
        #expect(batch.isEmpty && batch.costs.isEmpty)
        inbox.push([6], key: 1, cost: 5)

        var iterator = inbox.makeAsyncIterator()
        for number in 0..<6 { #expect(await iterator.next() == number) }
        #expect(reports.all == [])
        #expect(await iterator.next() == 6)
        #expect(reports.all.map { [$0[0], $0[1]] } == [[30, 30]])
        inbox.finish()
        #expect(await iterator.next() == nil)
        #expect(reports.all.map { [$0[0], $0[1]] } == [[30, 30], [0, 5]])
    }

    @Test("small costs are reported together")
    func threshold() async {
        let reports = Notes<Tally>()
        let inbox = Inbox<Int>(reportAfter: 100) { reports.append($0) }
        var iterator = inbox.makeAsyncIterator()
        for number in 0..<25 {
            inbox.push([number], cost: 10)
            #expect(await iterator.next() == number)
        }
        #expect(reports.all.map { $0[0] } == [100, 100])
    }

    @Test("what an iterator has taken and not handed out is there for the next one, and is not reported")
    func breakingOff() async {
        let reports = Notes<Tally>()
        let inbox = Inbox<Int> { reports.append($0) }
        inbox.push(0..<5, cost: 1)
        inbox.push(5..<10, cost: 1)
        for await number in inbox where number == 2 { break }
        inbox.push(10..<12, cost: 1)
        #expect(reports.all == [])
        inbox.finish()
        var seen: [Int] = []
        for await number in inbox { seen.append(number) }
        #expect(seen == Array(3..<12))
        #expect(reports.all.map { $0[0] }.reduce(0, +) == 12)
    }

    @Test("a batch that an iterator handed out whole before it went is no end for the next one")
    func anEmptyBatchIsNoEnd() async {
        let reports = Notes<Tally>()
        let inbox = Inbox<Int> { reports.append($0) }
        inbox.push([1], key: 7, cost: 10)
        for await number in inbox where number == 1 { break }
        inbox.push([2], key: 7, cost: 10)
        var iterator = inbox.makeAsyncIterator()
        #expect(await iterator.next() == 2)
        #expect(reports.all.map { $0[7] } == [10])
    }

    @Test("cancellation ends the wait and loses nothing")
    func cancellation() async {
        let inbox = Inbox<Int>()
        let waiting = Task { await firstElement(of: inbox) }
        waiting.cancel()
        #expect(await waiting.value == nil)
        inbox.push([1])
        let early = await withTaskGroup(of: Int?.self) { group in
            group.cancelAll()
            group.addTask { await firstElement(of: inbox) }
            return await group.next()
        }
        #expect(early == 1)
        inbox.push([2])
        #expect(await firstElement(of: inbox) == 2)
    }

    @Test("cancellation against a push: the element comes, now or later")
    func cancellationRace() async {
        for number in 0..<500 {
            let inbox = Inbox<Int>()
            let waiting = Task { await firstElement(of: inbox) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { waiting.cancel() }
                group.addTask { inbox.push([number]) }
            }
            let first = await waiting.value
            inbox.finish()
            let second = await firstElement(of: inbox)
            #expect([first, second].compactMap { $0 } == [number])
        }
    }

    @Test("a consumer of batches gets the rest of one, then whole ones")
    func batches() async {
        let inbox = Inbox<Int>()
        inbox.push(0..<3)
        inbox.push(3..<5)
        inbox.finish()
        var iterator = inbox.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        #expect(await iterator.nextBatch() == [1, 2])
        #expect(await iterator.nextBatch() == [3, 4])
        #expect(await iterator.nextBatch() == nil)
    }

    private func firstElement(of inbox: Inbox<Int>) async -> Int? {
        var iterator = inbox.makeAsyncIterator()
        return await iterator.next()
    }
}

extension Inbox {
    func push(_ elements: some Sequence<Element>, key: Int = 0, cost: Int = 0) {
        var batch = Batch()
        for element in elements { batch.append(element, key: key, cost: cost) }
        push(&batch)
    }
}
