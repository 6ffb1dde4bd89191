import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: questions in a room", .inTurns)
struct OpenQuestionTests {
    @Test("withdrawn questions are not kept, and the next answer goes to one that is still asked")
    func withdrawn() async {
        let questions = OpenQuestions()
        for _ in 0..<1_000 {
            let asking = await begin(questions)
            asking.cancel()
            #expect(await asking.value == false)
        }
        #expect(questions.count == 0)
        #expect(!questions.answer(true))
        let old = await begin(questions)
        let current = await begin(questions)
        old.cancel()
        #expect(await old.value == false)
        #expect(questions.answer(true))
        #expect(await current.value)
    }

    /// Returns once the question is asked.
    private func begin(_ questions: OpenQuestions) async -> Task<Bool, Never> {
        let isAsked = Promise<Void>()
        let task = Task { await questions.ask { isAsked.send(()) } }
        await isAsked.value()
        return task
    }
}
