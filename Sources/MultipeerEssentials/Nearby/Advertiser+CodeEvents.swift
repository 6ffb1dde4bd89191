import MultipeerTransport

extension Advertiser {
    /// What happened to an advertiser's code.
    public enum CodeEvent: Hashable, Sendable {
        /// A host at this address has the number of the code and not its words: a user mistyped them, or someone tried to guess.
        ///
        /// `count`: the number of wrong guesses since the last event. `endsCode`: the code was valid once, and is no longer valid: stop
        /// the advertiser and make a new one.
        case wrongGuess(from: String, count: Int, endsCode: Bool)
        /// The code was valid once, and a peer has used it. Further invitations are refused.
        case used
    }

    /// The events of an advertiser's code as an asynchronous sequence. It ends when the advertiser is stopped or released. With
    /// several consumers, each event goes to one of them.
    public struct CodeEvents: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = CodeEvent
        /// The sequence never fails.
        public typealias Failure = Never

        private let slot: RunSlot<InvitationListener>

        init(_ slot: RunSlot<InvitationListener>) { self.slot = slot }

        /// Returns an iterator over the events of the current run, or of the next one.
        public func makeAsyncIterator() -> Iterator { Iterator(run: slot.run) }

        /// Returns the events one by one.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let run: RunSlot<InvitationListener>.Run

            /// Returns the next event; nil once the advertiser was stopped or released, or the task is cancelled.
            public mutating func next() async -> CodeEvent? { await next(isolation: #isolation) }

            /// Returns the next event without leaving the caller's actor.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> CodeEvent? {
                switch await run.next(of: { $0.codeEvents }, isolation: actor)?.element {
                case .guessedWrong(let address, let count, let isLast):
                    return .wrongGuess(from: address, count: count, endsCode: isLast)
                case .used: return .used
                case nil: return nil
                }
            }
        }
    }
}
