extension Session {
    /// The events of a session as an asynchronous sequence, for any number of consumers: see `Session.events` for what each of them
    /// receives, and when it ends.
    public struct Events: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = Session.Event
        /// The sequence never fails.
        public typealias Failure = Never

        private let eventQueue: EventQueue<Session.Event>

        package init(_ eventQueue: EventQueue<Session.Event>) { self.eventQueue = eventQueue }

        /// Returns an iterator that continues where the last one stopped, if there is no other.
        public func makeAsyncIterator() -> Iterator { Iterator(eventQueue.makeAsyncIterator()) }

        /// Returns the events one by one; those of a batch that was taken from the session cost no lock each.
        public struct Iterator: AsyncIteratorProtocol {
            private var base: EventQueue<Session.Event>.Iterator

            init(_ base: EventQueue<Session.Event>.Iterator) { self.base = base }

            /// Makes the iterator receive every event from now on, before its first wait.
            package func begin() { base.begin() }

            /// Returns the next event; nil after `disconnect`, once the session is released, or when the task is cancelled.
            public mutating func next() async -> Session.Event? { await base.next() }

            /// Returns the next event without leaving the caller's actor.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Session.Event? {
                await base.next(isolation: actor)
            }

            fileprivate mutating func nextBatch() async -> [Session.Event]? { await base.nextBatch() }
        }

        /// The same events in batches: all that are available at a time, in one array.
        public var batches: Batches { Batches(events: self) }

        /// Batches of events, for consumers to which an `await` for each event costs too much.
        public struct Batches: AsyncSequence, Sendable {
            /// The events since the last batch, in order.
            public typealias Element = [Session.Event]
            /// The sequence never fails.
            public typealias Failure = Never

            fileprivate let events: Session.Events

            /// Returns an iterator that continues where the last one stopped, if there is no other.
            public func makeAsyncIterator() -> Iterator { Iterator(base: events.makeAsyncIterator()) }

            /// Returns whole batches.
            public struct Iterator: AsyncIteratorProtocol {
                fileprivate var base: Session.Events.Iterator

                /// Returns the next batch, never empty; nil after `disconnect`, once the session is released, or when the task is
                /// cancelled.
                public mutating func next() async -> [Session.Event]? { await base.nextBatch() }
            }
        }
    }
}
