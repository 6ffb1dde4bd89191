import MultipeerTransport
import TestSupport
import Testing

@Suite("A reader of an event queue that is notified", .inTurns)
struct EventQueueNotifiedReaderTests {
    typealias Reader = EventQueue<Int>.NotifiedReader

    @Test("gets whole batches in order, and is called once for all that comes after it found nothing")
    func batches() {
        let (eventQueue, calls) = (EventQueue<Int>(), Notes<Void>())
        eventQueue.push([1, 2])
        let reader = Reader(eventQueue) { calls.append(()) }
        eventQueue.push([3])
        #expect(reader.elements == [1, 2])
        #expect(reader.elements == [3])
        #expect(calls.all.isEmpty)
        #expect(reader.elements == nil)
        eventQueue.push([4])
        eventQueue.push([5, 6])
        #expect(calls.all.count == 1)
        #expect(reader.elements == [4])
        #expect(reader.elements == [5, 6])
        #expect(reader.elements == nil)
    }

    @Test("gets a batch that has only a marker")
    func markers() {
        let eventQueue = EventQueue<Int>()
        var batch = EventQueue<Int>.Batch()
        batch.append(.left)
        eventQueue.push(&batch)
        guard case .batch(let run) = Reader(eventQueue, notify: {}).next() else {
            Issue.record("there is no batch")
            return
        }
        #expect(run.elements.isEmpty)
        #expect(run.markers.map(\.index) == [0])
    }

    @Test("a batch counts as consumed when the next one is asked for, and with the reader's end")
    func costs() {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int>(reportAfter: 10) { reports.append($0) }
        var reader: Reader? = Reader(eventQueue) {}
        eventQueue.push([1], key: 3, cost: 4)
        eventQueue.push([2], key: 3, cost: 6)
        #expect(reader?.elements == [1])
        #expect(reader?.elements == [2])
        #expect(reports.all.isEmpty)
        eventQueue.push([3], key: 3, cost: 1)
        #expect(reader?.elements == [3])
        #expect(reports.all.map { $0[3] } == [10])
        reader = nil
        #expect(reports.all.map { $0[3] } == [10, 1])
    }

    @Test("puts back what it has not returned")
    func leaving() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int> { reports.append($0) }
        eventQueue.push([1], cost: 1)
        eventQueue.push([2], cost: 2)
        eventQueue.push([3], cost: 4)
        do {
            let reader = Reader(eventQueue) {}
            #expect(reader.elements == [1])
        }
        #expect(reports.all.map { $0[0] } == [1])
        var iterator = eventQueue.makeAsyncIterator()
        #expect(await iterator.nextBatch() == [2])
        #expect(await iterator.nextBatch() == [3])
    }

    @Test("shares the costs of a batch with an iterator that has it, too")
    func sharing() async {
        let reports = Notes<CostTotals>()
        let eventQueue = EventQueue<Int> { reports.append($0) }
        let reader = Reader(eventQueue) {}
        var iterator = eventQueue.makeAsyncIterator()
        iterator.begin()
        #expect(reader.elements == nil)
        eventQueue.push([1], cost: 5)
        #expect(reader.elements == [1])
        #expect(await iterator.next() == 1)
        #expect(reader.elements == nil)
        #expect(reports.all.isEmpty)
        eventQueue.push([2])
        #expect(await iterator.next() == 2)
        #expect(reports.all.map { $0[0] } == [5])
    }

    @Test("is called at the end of the iterations, and ends after what came before; a later one continues")
    func ending() {
        let (eventQueue, calls) = (EventQueue<Int>(), Notes<Void>())
        let reader = Reader(eventQueue) { calls.append(()) }
        #expect(reader.elements == nil)
        eventQueue.endIterators()
        #expect(calls.all.count == 1)
        guard case .end = reader.next() else {
            Issue.record("the reader does not end")
            return
        }
        eventQueue.push([1])
        #expect(Reader(eventQueue, notify: {}).elements == [1])
    }
}

extension EventQueue<Int>.NotifiedReader {
    /// The elements of the next batch; nil when there is none.
    fileprivate var elements: [Int]? {
        if case .batch(let batch) = next() { batch.elements } else { nil }
    }
}
