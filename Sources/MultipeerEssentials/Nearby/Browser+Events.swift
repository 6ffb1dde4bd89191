public import MultipeerDiscovery
import MultipeerTransport

extension Browser {
    /// One event of a browser: a peer was found, updated or lost.
    public typealias Event = DiscoveredPeer.Event

    /// The events of a browser as an asynchronous sequence.
    ///
    /// Any number of tasks may iterate over it. Each iterator begins with every peer that is visible and then reports each change: a
    /// peer is found once until it is lost, and never the local one. An iterator that begins while there is no other continues where
    /// the last one stopped. A slow iterator misses nothing that is still true: a peer that appeared and disappeared in the meantime
    /// is not reported, and one that changed twice is reported once.
    ///
    /// When the browser is stopped, each iterator reports every peer as lost, and ends. An iterator created before `start` waits for
    /// it; one created after `stop` waits for the next start.
    public struct Events: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = Event
        /// The sequence never fails.
        public typealias Failure = Never

        private let slot: RunSlot<DiscoveryFeed>

        init(_ slot: RunSlot<DiscoveryFeed>) { self.slot = slot }

        /// Returns an iterator that continues where the last one stopped, if there is no other.
        public func makeAsyncIterator() -> Iterator { Iterator(run: slot.run) }

        /// Returns the events one by one.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let run: RunSlot<DiscoveryFeed>.Run
            /// Set once the run has begun.
            private var reader: DiscoveryFeed.Reader?

            fileprivate init(run: RunSlot<DiscoveryFeed>.Run) { self.run = run }

            /// Returns the next event; nil once the browser was stopped or released, or the task is cancelled.
            public mutating func next() async -> DiscoveredPeer.Event? { await next(isolation: #isolation) }

            /// Returns the next event without leaving the caller's actor.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> DiscoveredPeer.Event? {
                if reader == nil { reader = await run.source()?.makeReader() }
                return await reader?.next()
            }
        }
    }
}
