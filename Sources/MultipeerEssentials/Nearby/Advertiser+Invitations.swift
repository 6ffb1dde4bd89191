import MultipeerTransport

extension Advertiser {
    /// The invitations to an advertiser as an asynchronous sequence.
    ///
    /// It ends when the advertiser is stopped or released. An iterator created before the start waits for it; one created after
    /// `stop` waits for the next start. With several consumers, each invitation goes to one of them, the first that is free: it can
    /// be answered once.
    ///
    /// Invitations that no task takes wait in the advertiser: at most 16, since further inviters are asked to try again. An
    /// invitation that was withdrawn or timed out before it was taken is not delivered.
    public struct Invitations: AsyncSequence, Sendable {
        /// A request to be linked.
        public typealias Element = Invitation
        /// The sequence never fails.
        public typealias Failure = Never

        private let slot: RunSlot<InvitationListener>

        init(_ slot: RunSlot<InvitationListener>) { self.slot = slot }

        /// Returns an iterator that continues where the one before it stopped, unless the advertiser was stopped since.
        public func makeAsyncIterator() -> Iterator { Iterator(run: slot.run) }

        /// Returns the invitations one by one.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let run: RunSlot<InvitationListener>.Run

            /// Returns the next invitation; nil once the advertiser was stopped or released, or the task is cancelled.
            public mutating func next() async -> Invitation? { await next(isolation: #isolation) }

            /// Returns the next invitation without leaving the caller's actor.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Invitation? {
                let taken = await run.next(of: { $0.questions }, isolation: actor)
                // An invitation taken while the advertiser stops can no longer be answered.
                guard let (question, listener) = taken, !run.isOver else { return nil }
                return Invitation(question, to: listener)
            }
        }
    }
}
