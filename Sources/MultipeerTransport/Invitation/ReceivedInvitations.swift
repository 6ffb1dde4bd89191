/// The pending questions of one listener, in order, as an asynchronous sequence. With several consumers, each question goes to
/// one of them: it can be answered once.
///
/// A question that is over before it was taken is removed, so there are never more here than may be pending at once.
package final class ReceivedInvitations: Sendable {
    private struct State {
        var waiting: [ReceivedInvitation] = []
        var isFinished = false
    }

    private enum Taken {
        case question(ReceivedInvitation)
        case end
    }

    private let mailbox = Mailbox(State())

    func push(_ question: ReceivedInvitation) {
        mailbox.post { state -> Bool in
            if !state.isFinished { state.waiting.append(question) }
            return !state.isFinished
        }
    }

    func remove(_ id: ReceivedInvitation.ID) { mailbox.withLock { $0.waiting.removeAll { $0.id == id } } }

    func finish() { mailbox.post { $0 = State(isFinished: true) } }

    /// The number of questions that were not taken yet.
    package var count: Int { mailbox.withLock { $0.waiting.count } }

    private func next() async -> ReceivedInvitation? {
        let taken = await mailbox.next { state -> Taken? in
            if state.isFinished { return .end }
            return state.waiting.isEmpty ? nil : .question(state.waiting.removeFirst())
        }
        return if case .question(let question) = taken { question } else { nil }
    }
}

extension ReceivedInvitations: AsyncSequence {
    package typealias Element = ReceivedInvitation

    package func makeAsyncIterator() -> Iterator { Iterator(questions: self) }

    /// Waits for the next question. Cancellation ends the wait, not the sequence.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let questions: ReceivedInvitations

        package mutating func next() async -> ReceivedInvitation? { await questions.next() }

        package mutating func next(isolation: isolated (any Actor)?) async -> ReceivedInvitation? {
            await questions.next()
        }
    }
}
