public import MultipeerDiscovery
import MultipeerTransport

/// What a browser sees, as an asynchronous sequence.
///
/// Any number of tasks may iterate over it. Each iterator begins with everybody who is there, and reports each change
/// from then on: a peer is found once until it is lost, and never the local one. One that begins while there is no other
/// goes on where the last one stopped. An iterator that lags behind misses nothing that is still true: a peer that came
/// and went meanwhile is not reported, and one that changed twice is reported once.
///
/// When the browser is stopped, each iterator reports that everybody is lost, and ends. One that is made before `start`
/// waits for it; one that is made after `stop` is for the next start.
public struct BrowserEvents: AsyncSequence, Sendable {
    /// One thing that happened.
    public typealias Element = BrowserEvent
    /// It never fails.
    public typealias Failure = Never

    private let slot: RunSlot<DiscoveryFeed>

    init(_ slot: RunSlot<DiscoveryFeed>) { self.slot = slot }

    /// Goes on where the last iterator stopped, if there is no other.
    public func makeAsyncIterator() -> Iterator { Iterator(run: slot.run) }

    /// Hands out the events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let run: RunSlot<DiscoveryFeed>.Run
        /// Once the run has begun.
        private var reader: DiscoveryFeed.Reader?

        fileprivate init(run: RunSlot<DiscoveryFeed>.Run) { self.run = run }

        /// The next event; nil once the browser was stopped or is gone, or the task is cancelled.
        public mutating func next() async -> BrowserEvent? { await next(isolation: #isolation) }

        /// The same, without leaving the actor that asks.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> BrowserEvent? {
            if reader == nil { reader = await run.source()?.makeReader() }
            return await reader?.next()
        }
    }
}
