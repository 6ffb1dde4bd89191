/// The events of a session as an asynchronous sequence, for any number of consumers: `Session.events` says what each of
/// them gets, and when it ends.
public struct SessionEvents: AsyncSequence, Sendable {
    /// One thing that happened.
    public typealias Element = SessionEvent
    /// It never fails.
    public typealias Failure = Never

    private let eventQueue: EventQueue<SessionEvent>

    package init(_ eventQueue: EventQueue<SessionEvent>) { self.eventQueue = eventQueue }

    /// Goes on where the last iterator stopped, if there is no other.
    public func makeAsyncIterator() -> Iterator { Iterator(eventQueue.makeAsyncIterator()) }

    /// Hands out the events; a batch that was taken from the session costs no lock for each.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: EventQueue<SessionEvent>.Iterator

        init(_ base: EventQueue<SessionEvent>.Iterator) { self.base = base }

        /// The next event; nil after `disconnect`, once the session is gone, or when the task is cancelled.
        public mutating func next() async -> SessionEvent? { await base.next() }

        /// The same, without leaving the actor that asks.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionEvent? {
            await base.next(isolation: actor)
        }

        fileprivate mutating func nextBatch() async -> [SessionEvent]? { await base.nextBatch() }
    }

    /// The same events as they come: all that are there at a time, in one array.
    public var batches: Batches { Batches(events: self) }

    /// Batches of events, for those to whom an `await` for each is too much.
    public struct Batches: AsyncSequence, Sendable {
        /// What happened since the last one, in order.
        public typealias Element = [SessionEvent]
        /// It never fails.
        public typealias Failure = Never

        fileprivate let events: SessionEvents

        /// Goes on where the last iterator stopped, if there is no other.
        public func makeAsyncIterator() -> Iterator { Iterator(base: events.makeAsyncIterator()) }

        /// Hands out whole batches.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: SessionEvents.Iterator

            /// The next batch, never empty; nil after `disconnect`, once the session is gone, or when the task is
            /// cancelled.
            public mutating func next() async -> [SessionEvent]? { await base.nextBatch() }
        }
    }
}
