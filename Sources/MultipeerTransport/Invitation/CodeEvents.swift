/// What happens to the code of one listener, in order, as an asynchronous sequence. With several consumers, each event goes to
/// one of them.
///
/// Wrong guesses that no task takes are counted, not listed, so that an attacker cannot fill memory: the newest address stands for
/// all of them.
package final class CodeEvents: Sendable {
    package enum Event: Equatable, Sendable {
        case guessedWrong(from: String, count: Int, isLast: Bool)
        case used
    }

    private struct State {
        var guesses: (remote: String, count: Int, isLast: Bool)?
        var isUsed = false
        var isFinished = false

        mutating func take() -> Event? {
            if let guesses {
                self.guesses = nil
                return .guessedWrong(from: guesses.remote, count: guesses.count, isLast: guesses.isLast)
            }
            guard isUsed else { return nil }
            isUsed = false
            return .used
        }
    }

    private enum Taken {
        case event(Event)
        case end
    }

    private let mailbox = Mailbox(State())

    func guessedWrong(from remote: String, isLast: Bool) {
        mailbox.post { state -> Bool in
            state.guesses = (remote, (state.guesses?.count ?? 0) + 1, isLast)
            return true
        }
    }

    func used() {
        mailbox.post { state -> Bool in
            state.isUsed = true
            return true
        }
    }

    func finish() {
        mailbox.post { state -> Bool in
            state.isFinished = true
            return true
        }
    }

    private func next() async -> Event? {
        let taken = await mailbox.next { state -> Taken? in
            if let event = state.take() { return .event(event) }
            return state.isFinished ? .end : nil
        }
        return if case .event(let event) = taken { event } else { nil }
    }
}

extension CodeEvents: AsyncSequence {
    package typealias Element = Event

    package func makeAsyncIterator() -> Iterator { Iterator(events: self) }

    /// Waits for the next event. Cancellation ends the wait, not the sequence.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let events: CodeEvents

        package mutating func next() async -> Event? { await events.next() }

        package mutating func next(isolation: isolated (any Actor)?) async -> Event? { await events.next() }
    }
}
