public import MultipeerDiscovery
import MultipeerTransport

/// What a browser sees, as an asynchronous sequence. One consumer at a time: two tasks that wait at once end the process.
///
/// A peer is found once until it is lost, and never the local one. Whoever lags behind misses nothing that is still true: a
/// peer that came and went meanwhile is not told of, and one that changed twice is told of once.
public struct BrowserEvents: AsyncSequence, Sendable {
    /// One thing that happened.
    public typealias Element = BrowserEvent
    /// It never fails.
    public typealias Failure = Never

    private let base: DiscoveryEvents

    init(_ base: DiscoveryEvents) { self.base = base }

    /// Goes on where the iterator before it stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    /// Hands out the events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: DiscoveryEvents.Iterator

        /// The next event; nil once the browser is gone or the task is cancelled.
        public mutating func next() async -> BrowserEvent? { await base.next() }

        /// The same, without leaving the actor that asks.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> BrowserEvent? {
            await base.next(isolation: actor)
        }
    }
}
