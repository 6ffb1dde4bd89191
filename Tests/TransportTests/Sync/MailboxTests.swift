import MultipeerTransport
import TestSupport
import Testing

@Suite("Mailbox", .inTurns)
struct MailboxTests {
    @Test("every element is taken once, by one of several readers")
    func several() async {
        let mailbox = Mailbox<[Int]>([])
        let seen = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var seen: [Int] = []
                    while let number = await Self.next(mailbox), number >= 0 { seen.append(number) }
                    return seen
                }
            }
            for number in 0..<1_000 {
                mailbox.post { $0.append(number) }
                if number.isMultiple(of: 50) { await Task.yield() }
            }
            mailbox.post { $0 += [-1, -1, -1, -1] }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(seen.sorted() == Array(0..<1_000))
    }

    @Test("an existing element is taken even in a cancelled task; otherwise the wait ends")
    func cancelled() async {
        let mailbox = Mailbox<[Int]>([1])
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return [await Self.next(mailbox), await Self.next(mailbox)]
        }
        task.cancel()
        #expect(await task.value == [1, nil])
    }

    @Test("cancellation racing with an element: it is taken, or it stays")
    func race() async {
        for number in 0..<500 {
            let mailbox = Mailbox<[Int]>([])
            let waiting = Task { await Self.next(mailbox) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { waiting.cancel() }
                group.addTask { mailbox.post { $0.append(number) } }
            }
            #expect([await waiting.value].compactMap { $0 } + mailbox.withLock { $0 } == [number])
        }
    }

    @Test("a reader that does not wait is called once, when there is something")
    func notified() {
        let (mailbox, calls) = (Mailbox<[Int]>([1]), Notes<Void>())
        let notification = Mailbox<[Int]>.Notification { calls.append(()) }
        func next() -> Int? {
            mailbox.next({ $0.isEmpty ? nil : $0.removeFirst() }, otherwise: notification)
        }
        #expect(next() == 1)
        mailbox.post { $0.append(2) }
        #expect(calls.all.isEmpty)
        #expect(next() == 2)
        #expect(next() == nil)
        mailbox.post { _ in false }
        #expect(calls.all.isEmpty)
        mailbox.post { $0 += [3, 4] }
        mailbox.post { $0.append(5) }
        #expect(calls.all.count == 1)
        #expect([next(), next(), next(), next()] == [3, 4, 5, nil])
    }

    private static func next(_ mailbox: Mailbox<[Int]>) async -> Int? {
        await mailbox.next { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
