package import MultipeerDiscovery

/// The results of browsing as an asynchronous sequence.
///
/// Any number of tasks may iterate over it. Each iterator begins with every peer that is visible and then reports each change; if
/// there is only one, it continues where the last one stopped. A slow iterator misses nothing that is still true: a peer that
/// appeared and disappeared in the meantime is not reported, and one that changed twice is reported once. Browsing ends with
/// `stop`, or when the sequence and its iterators are released.
package struct DiscoveryEvents: AsyncSequence, Sendable {
    /// One event.
    package typealias Element = DiscoveredPeer.Event
    /// The sequence never fails.
    package typealias Failure = Never

    private let browse: Browse

    /// Creates the sequence for a backend: `feed` takes what it finds, and `onEnd` runs once, when the sequence is stopped or
    /// released.
    package init(_ feed: DiscoveryFeed, onEnd: @escaping @Sendable () -> Void) {
        browse = Browse(feed, onEnd)
    }

    /// The peers that were found: a browser reads from it during one of its runs.
    package var feed: DiscoveryFeed { browse.feed }

    /// Ends browsing: each iterator reports as lost every peer that it had reported, and ends.
    package func stop() { browse.end() }

    /// Returns an iterator that continues where the last one stopped, if there is no other.
    package func makeAsyncIterator() -> Iterator { Iterator(browse) }

    /// Returns the events one by one.
    package struct Iterator: AsyncIteratorProtocol {
        private let browse: Browse
        private let reader: DiscoveryFeed.Reader

        fileprivate init(_ browse: Browse) {
            self.browse = browse
            reader = browse.feed.makeReader()
        }

        /// Returns the next event; nil once browsing is over or the task is cancelled.
        package mutating func next() async -> DiscoveredPeer.Event? { await reader.next() }

        /// Returns the next event without leaving the caller's actor.
        package mutating func next(isolation actor: isolated (any Actor)?) async -> DiscoveredPeer.Event? {
            await reader.next()
        }
    }

    /// Lives as long as the sequence or an iterator exists.
    fileprivate final class Browse: Sendable {
        let feed: DiscoveryFeed
        private let ending: Locked<Ending>

        private struct Ending {
            var run: (@Sendable () -> Void)?
        }

        init(_ feed: DiscoveryFeed, _ onEnd: @escaping @Sendable () -> Void) {
            self.feed = feed
            ending = Locked(Ending(run: onEnd))
        }

        deinit { end() }

        func end() {
            feed.finish()
            ending.withLock { $0.run.take() }?()
        }
    }
}
