import MultipeerTransport
import TestSupport
import Testing

@Suite("Promise", .inTurns)
struct PromiseTests {
    @Test("the first value settles it, for all that wait and all that come later", arguments: 0..<50)
    func settling(_ number: Int) async {
        let promise = Promise<Int>()
        #expect(!promise.isSent && promise.sentValue == nil)
        await withTaskGroup(of: Int?.self) { group in
            for index in 0..<8 {
                group.addTask {
                    index.isMultiple(of: 2) ? await promise.value() : await promise.valueUnlessCancelled()
                }
            }
            group.addTask { promise.send(number) ? nil : -1 }
            var values: [Int?] = []
            for await value in group { values.append(value) }
            #expect(values.compactMap { $0 } == Array(repeating: number, count: 8))
        }
        #expect(!promise.send(number + 1))
        #expect(promise.isSent && promise.sentValue == number)
        #expect(await promise.value() == number)
    }

    @Test("a cancelled wait returns nil and settles nothing")
    func cancelling() async {
        let promise = Promise<Int>()
        let (patient, hasty) = (Task { await promise.value() }, Task { await promise.valueUnlessCancelled() })
        patient.cancel()
        hasty.cancel()
        #expect(await hasty.value == nil)
        #expect(!promise.isSent)
        promise.send(7)
        #expect(await patient.value == 7)
    }

    @Test("an existing value is returned even in a cancelled task")
    func late() async {
        let promise = Promise<Int?>()
        promise.send(nil)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await promise.valueUnlessCancelled()
        }
        task.cancel()
        #expect(await task.value == .some(nil))
    }

    @Test("cancellation racing with the value: each wait ends once, with one of them")
    func race() async {
        for number in 0..<500 {
            let promise = Promise<Int>()
            let waits = (0..<3).map { _ in Task { await promise.valueUnlessCancelled() } }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for wait in waits { wait.cancel() } }
                group.addTask { promise.send(number) }
            }
            for wait in waits { #expect([number, nil].contains(await wait.value)) }
            #expect(await promise.value() == number)
        }
    }
}
