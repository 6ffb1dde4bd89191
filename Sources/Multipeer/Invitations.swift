import MultipeerTransport

/// The invitations to an advertiser as an asynchronous sequence.
///
/// It ends when the advertiser is stopped or released. An iterator that is made before the start waits for it; one that
/// is made after `stop` is for the next start. Of several consumers, each invitation goes to one, whichever is free
/// first: it can be answered once.
///
/// What nobody takes waits where it came in: at most 16, since others are told to try again. One that its inviter gave
/// up, or whose time is over, before it was taken does not come.
public struct Invitations: AsyncSequence, Sendable {
    /// Somebody asks to be linked.
    public typealias Element = Invitation
    /// It never fails.
    public typealias Failure = Never

    private let slot: RunSlot<InvitationListener>

    init(_ slot: RunSlot<InvitationListener>) { self.slot = slot }

    /// Goes on where the iterator before it stopped, unless the advertiser was stopped since.
    public func makeAsyncIterator() -> Iterator { Iterator(run: slot.run) }

    /// Hands out the invitations.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let run: RunSlot<InvitationListener>.Run

        /// The next invitation; nil once the advertiser was stopped or is gone, or the task is cancelled.
        public mutating func next() async -> Invitation? { await next(isolation: #isolation) }

        /// The same, without leaving the actor that asks.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Invitation? {
            guard let listener = await run.source() else { return nil }
            var questions = listener.questions.makeAsyncIterator()
            // One that is taken while the advertiser stops can only be answered in vain.
            guard let question = await questions.next(isolation: actor), !run.isOver else { return nil }
            return Invitation(question, to: listener)
        }
    }
}
