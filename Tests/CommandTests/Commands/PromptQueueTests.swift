import Foundation
import Multipeer
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: questions that wait for the terminal", .inTurns)
struct PromptQueueTests {
    @Test("further questions than may wait count as a no, and withdrawn ones are not asked")
    func bounded() async {
        let asked = Asked()
        let isAsked = Promise<Void>()
        let answer = DispatchSemaphore(value: 0)
        let queue = PromptQueue(atMost: 3) { question in
            asked.questions.withLock { $0.append(question) }
            isAsked.send(())
            answer.wait()
            return "y"
        }
        let first = Task { await queue.ask("first") }
        await isAsked.value()
        let others = Others(queue)
        // Two of them wait behind the first one.
        while others.answered.withLock(\.self) < 98 { await Task.yield() }
        for other in others.tasks.withLock(\.self) { other.cancel() }
        answer.signal()
        #expect(await first.value)
        for other in others.tasks.withLock(\.self) { #expect(await other.value == false) }
        #expect(asked.questions.withLock(\.self) == ["first"])
        let last = Task { await queue.ask("last") }
        answer.signal()
        #expect(await last.value)
    }

    @Test("a question that cannot be asked is a no, and a message says why")
    func unasked() async {
        let warnings = Locked<[String]>([])
        let queue = PromptQueue { text in
            warnings.withLock { $0.append(text) }
        } ask: { _ throws(CommandError) in
            throw CommandError("the terminal is gone", exit: .system)
        }
        #expect(await !queue.ask("Link anyway?"))
        let expected = "Link anyway? This could not be asked, so the answer is no: the terminal is gone"
        #expect(warnings.withLock(\.self) == [expected])
    }

    private final class Asked: Sendable {
        let questions = Locked<[String]>([])
    }

    /// A hundred questions, and how many of them have an answer.
    private final class Others: Sendable {
        let answered = Locked(0)
        let tasks = Locked<[Task<Bool, Never>]>([])

        init(_ queue: PromptQueue) {
            for number in 0..<100 {
                let task = Task {
                    let isYes = await queue.ask("other \(number)")
                    self.answered.withLock { $0 += 1 }
                    return isYes
                }
                tasks.withLock { $0.append(task) }
            }
        }
    }
}
