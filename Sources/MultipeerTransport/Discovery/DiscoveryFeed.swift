package import MultipeerCore
package import MultipeerDiscovery

/// The results of browsing on their way from the backend to the readers.
package final class DiscoveryFeed: Sendable {
    private let mailbox = Mailbox(BrowseResults())

    package init() {}

    /// Reports the present state of a peer to the readers; nil when it is gone.
    package func note(_ uid: UID, _ peer: PresentPeer?) {
        mailbox.post { $0.note(uid, peer) }
    }

    /// Notes that a link to a peer was lost. Returns nil if the browse has not found that peer.
    package func miss(_ uid: UID) -> PeerID? { mailbox.withLock { $0.miss(uid) } }

    /// Whether a peer is missed that is not there again.
    package func isMissed(_ uid: UID) -> Bool { mailbox.withLock { $0.isMissed(uid) } }

    /// Notes that a peer is linked: it is no longer missed.
    package func linked(_ uid: UID) { mailbox.withLock { $0.linked(uid) } }

    /// Notes that a peer has answered: if it was missed, the readers receive its loss, and then that it was found.
    package func cameBack(_ uid: UID) { mailbox.post { $0.cameBack(uid) } }

    /// Leaves a peer out from now on.
    package func hide(_ uid: UID) { mailbox.withLock { $0.hide(uid) } }

    /// Ends all readers, once every peer was reported as lost to them.
    package func finish() { mailbox.post { $0.finish() } }

    package var isFinished: Bool { mailbox.withLock { $0.isFinished } }

    /// The peers that are visible, sorted by name.
    package var peers: [DiscoveredPeer] { mailbox.withLock { $0.peers } }

    /// Returns the peer with that id, if it is visible.
    package func peer(_ uid: UID) -> PeerID? { mailbox.withLock { $0.peer(uid)?.peer } }

    /// `isSeparate`: the reader receives every visible peer, and what it takes affects no other reader.
    package func makeReader(isSeparate: Bool = false) -> Reader {
        Reader(self, mailbox.withLock { $0.makeReader(isSeparate: isSeparate) })
    }

    /// A reader, for one task at a time.
    package final class Reader: Sendable {
        private let feed: DiscoveryFeed
        private let id: BrowseResults.ReaderID

        fileprivate init(_ feed: DiscoveryFeed, _ id: BrowseResults.ReaderID) {
            (self.feed, self.id) = (feed, id)
        }

        deinit { feed.mailbox.withLock { [id] in $0.remove(id) } }

        /// Returns the next event; nil at the end, or when the task is cancelled.
        package func next() async -> DiscoveredPeer.Event? {
            let step = await feed.mailbox.next { [id] in $0.next(for: id) }
            return if case .event(let event) = step { event } else { nil }
        }
    }
}
