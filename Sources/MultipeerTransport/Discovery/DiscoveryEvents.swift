public import MultipeerDiscovery

/// What a browse has found, as an asynchronous sequence for one reader.
///
/// A reader that lags behind misses nothing that is still true: a peer that came and went in the meantime is not
/// reported, and one that changed twice is reported once. The browse ends with `stop`, or when the sequence and its
/// iterators are let go of.
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

    /// Ends the browse: the sequence is over, whatever it had not handed out.
    public func stop() { browse.end() }

    /// Goes on where the iterator before it stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(browse) }

    /// Hands out the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let browse: Browse

        fileprivate init(_ browse: Browse) { self.browse = browse }

        /// The next event; nil once the browse is over or the task is cancelled.
        public mutating func next() async -> BrowserEvent? { await browse.feed.next() }

        /// The same, without leaving the actor that asks.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> BrowserEvent? {
            await browse.feed.next()
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
