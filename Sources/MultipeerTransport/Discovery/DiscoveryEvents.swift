public import MultipeerDiscovery

/// What a browse has found, as an asynchronous sequence.
///
/// Any number of tasks may iterate over it. Each iterator begins with everybody who is there, and reports each change
/// from then on; the only one goes on where the last one stopped. One that lags behind misses nothing that is still
/// true: a peer that came and went in the meantime is not reported, and one that changed twice is reported once. The
/// browse ends with `stop`, or when the sequence and its iterators are released.
public struct DiscoveryEvents: AsyncSequence, Sendable {
    /// One thing that happened.
    public typealias Element = BrowserEvent
    /// It never fails.
    public typealias Failure = Never

    private let browse: Browse

    /// For a backend: `feed` takes what it finds, and `onEnd` runs once, when nobody wants it any more.
    package init(_ feed: DiscoveryFeed, onEnd: @escaping @Sendable () -> Void) {
        browse = Browse(feed, onEnd)
    }

    /// Who was found: what a browser reads from, over one of its runs.
    package var feed: DiscoveryFeed { browse.feed }

    /// Ends the browse: each iterator reports that everybody whom it reported is lost, and ends.
    public func stop() { browse.end() }

    /// Goes on where the last iterator stopped, if there is no other.
    public func makeAsyncIterator() -> Iterator { Iterator(browse) }

    /// Hands out the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let browse: Browse
        private let reader: DiscoveryFeed.Reader

        fileprivate init(_ browse: Browse) {
            self.browse = browse
            reader = browse.feed.makeReader()
        }

        /// The next event; nil once the browse is over or the task is cancelled.
        public mutating func next() async -> BrowserEvent? { await reader.next() }

        /// The same, without leaving the actor that asks.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> BrowserEvent? {
            await reader.next()
        }
    }

    /// Lives as long as somebody may read.
    fileprivate final class Browse: Sendable {
        let feed: DiscoveryFeed
        private let onEnd: Locked<(@Sendable () -> Void)?>

        init(_ feed: DiscoveryFeed, _ onEnd: @escaping @Sendable () -> Void) {
            self.feed = feed
            self.onEnd = Locked(onEnd)
        }

        deinit { end() }

        func end() {
            feed.finish()
            onEnd.withLock { $0.take() }?()
        }
    }
}
