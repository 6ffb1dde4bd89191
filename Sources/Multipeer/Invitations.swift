import MultipeerTransport

/// The invitations to an advertiser as an asynchronous sequence. One consumer at a time: two tasks that wait at once end the
/// process.
///
/// What nobody takes waits where it came in: 16 at the most, for others are told to try again. One that its inviter gave
/// up, or whose time is over, before it was taken does not come.
public struct Invitations: AsyncSequence, Sendable {
    /// Somebody asks to be linked.
    public typealias Element = Invitation
    /// It never fails.
    public typealias Failure = Never

    private let door: Door

    init(_ door: Door) { self.door = door }

    /// Goes on where the iterator before it stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(door) }

    /// Hands out the invitations.
    public struct Iterator: AsyncIteratorProtocol {
        private let door: Door
        private var source: (listener: InvitationListener, questions: Questions.Iterator)?

        init(_ door: Door) { self.door = door }

        /// The next invitation; nil once the advertiser is gone or the task is cancelled.
        public mutating func next() async -> Invitation? { await next(isolation: #isolation) }

        /// The same, without leaving the actor that asks.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Invitation? {
            while true {
                if source == nil {
                    guard let listener = await door.listener() else { return nil }
                    source = (listener, listener.questions.makeAsyncIterator())
                }
                guard let listener = source?.listener else { continue }
                if let question = await source?.questions.next(isolation: actor) {
                    if door.isOpen(to: listener) { return Invitation(question, to: listener) }
                } else if Task.isCancelled {
                    return nil
                } else {
                    // Whoever stops a listener has closed the door before.
                    source = nil
                    if door.isOpen(to: listener) { return nil }
                }
            }
        }
    }
}
