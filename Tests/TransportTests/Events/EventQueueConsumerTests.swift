import MultipeerTransport
import TestSupport
import Testing

/// Several consumers at once, and the end of those that there are. Zeros are markers, which cost nothing.
@Suite("Consumers of an event queue", .inTurns)
struct EventQueueConsumerTests {
    @Test("each gets every element from its first wait on, and the first also the earlier ones")
    func each() async {
        let eventQueue = EventQueue<Int>()
        eventQueue.push([1, 2])
        var (first, second) = (eventQueue.makeAsyncIterator(), eventQueue.makeAsyncIterator())
        #expect(await first.next() == 1)
        eventQueue.push([3])
        await second.begin(eventQueue)
        eventQueue.push([4])
        eventQueue.finish()
        #expect(await first.rest() == [2, 3, 4])
        #expect(await second.rest() == [4])
    }

    @Test("many consumers that wait at once all get everything")
    func many() async throws {
        let (eventQueue, begun) = (EventQueue<Int>(), Notes<Void>())
        let sums = try await within {
            await withTaskGroup(of: Int.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        var (sum, iterator) = (0, eventQueue.makeAsyncIterator())
                        await iterator.begin(eventQueue)
                        begun.append(())
                        while let number = await iterator.next() { sum += number }
                        return sum
                    }
                }
                while begun.all.count < 5 { await Task.yield() }
                for number in 1...1_000 { eventQueue.push([number]) }
                eventQueue.finish()
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(sums == Array(repeating: 500_500, count: 5))
    }

    @Test("an element for several is reported once, when the last of them is done with it")
    func shared() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int> { reports.append($0) }
        var (first, second) = (eventQueue.makeAsyncIterator(), eventQueue.makeAsyncIterator())
        await first.begin(eventQueue)
        await second.begin(eventQueue)
        eventQueue.push([1], key: 3, cost: 10)
        eventQueue.push([2], key: 3, cost: 5)
        #expect(await first.nextNumber() == 1)
        #expect(await first.nextNumber() == 2)
        #expect(await second.nextNumber() == 1)
        #expect(reports.all.isEmpty)
        #expect(await second.nextNumber() == 2)
        #expect(reports.all.map { $0[3] } == [10])
        eventQueue.finish()
        #expect(await first.rest() == [])
        #expect(reports.all.map { $0[3] } == [10])
        #expect(await second.rest() == [])
        #expect(reports.all.map { $0[3] } == [10, 5])
    }

    @Test("releasing an iterator releases its part; the last one puts back what it has not handed out")
    func leaving() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int> { reports.append($0) }
        eventQueue.push([1, 2], cost: 1)
        var last: EventQueue<Int>.Iterator? = eventQueue.makeAsyncIterator()
        do {
            var other = eventQueue.makeAsyncIterator()
            #expect(await other.next() == 1)
            await last?.begin(eventQueue)
            eventQueue.push([3, 4], cost: 1)
            #expect(await last?.nextNumber() == 3)
            #expect(reports.all.isEmpty)
        }
        // The other had the first batch to itself, and has not read the second.
        #expect(reports.all.map { $0[0] } == [2])
        last = nil
        last = eventQueue.makeAsyncIterator()
        eventQueue.finish()
        #expect(await last?.rest() == [4])
        #expect(reports.all.map { $0[0] } == [2, 2])
    }

    @Test("iterators end after the last element, and later ones continue")
    func ending() async {
        let eventQueue = EventQueue<Int>()
        var (reading, fresh) = (eventQueue.makeAsyncIterator(), eventQueue.makeAsyncIterator())
        eventQueue.push([1, 2])
        #expect(await reading.next() == 1)
        eventQueue.endIterators()
        var later = eventQueue.makeAsyncIterator()
        eventQueue.push([3])
        #expect(await reading.next() == 2)
        #expect(await reading.next() == nil)
        #expect(await fresh.next() == nil)
        #expect(await later.next() == 3)
        #expect(await reading.next() == nil)
    }

    @Test("unread elements at the end are for an iterator that was made before, or else for the next one")
    func unread() async {
        let eventQueue = EventQueue<Int>()
        var fresh = eventQueue.makeAsyncIterator()
        eventQueue.push([1])
        eventQueue.endIterators()
        eventQueue.push([2])
        var later = eventQueue.makeAsyncIterator()
        #expect(await later.next() == 2)
        #expect(await fresh.next() == 1)
        #expect(await fresh.next() == nil)

        let another = EventQueue<Int>()
        another.push([1])
        another.endIterators()
        another.push([2])
        later = another.makeAsyncIterator()
        #expect(await later.nextBatch() == [1])
        #expect(await later.nextBatch() == [2])
    }

    @Test("the end wakes a waiting iterator")
    func waking() async throws {
        let (eventQueue, begun) = (EventQueue<Int>(), Promise<Void>())
        let waiting = Task {
            var iterator = eventQueue.makeAsyncIterator()
            await iterator.begin(eventQueue)
            begun.send(())
            return await iterator.rest()
        }
        await begun.value()
        eventQueue.endIterators()
        #expect(try await within { await waiting.value } == [])
    }
}

extension EventQueue<Int>.Iterator {
    /// Waits for the first time, until a marker comes.
    fileprivate mutating func begin(_ eventQueue: EventQueue<Int>) async {
        let marking = Task {
            while !Task.isCancelled {
                eventQueue.push([0])
                await Task.yield()
            }
        }
        while let number = await next(), number != 0 {}
        marking.cancel()
        await marking.value
    }

    /// The next one that is no marker.
    fileprivate mutating func nextNumber() async -> Int? {
        while let number = await next() { if number != 0 { return number } }
        return nil
    }

    fileprivate mutating func rest() async -> [Int] {
        var numbers: [Int] = []
        while let number = await nextNumber() { numbers.append(number) }
        return numbers
    }
}
