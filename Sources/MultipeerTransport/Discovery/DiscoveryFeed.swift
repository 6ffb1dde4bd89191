import MultipeerCore
package import MultipeerDiscovery

/// What was found, on its way to those who read. Each of them first gets everybody who is there, and then what changes;
/// one that begins while nobody else reads goes on where the last one stopped.
///
/// What it holds is bounded by how many peers there are, not by how often they change: kept are what is true and what
/// each reader was told, and the difference is what that reader gets next.
package final class DiscoveryFeed: Sendable {
    private let mailbox = Mailbox(Views())

    package init() {}

    /// Takes one finding to the readers.
    package func hear(_ event: BrowserEvent) { mailbox.post { $0.hear(event) } }

    /// Ends the readers that there are, once they were told that everybody is lost. Those that are made from here on
    /// begin anew.
    package func endReaders() { mailbox.post { $0.endReaders() } }

    /// Ends all readers at once, those to come among them.
    package func finish() { mailbox.post { $0.finish() } }

    package func makeReader() -> Reader { Reader(self, id: mailbox.withLock { $0.makeView() }) }

    /// One who reads, for one task at a time.
    package final class Reader: Sendable {
        private let feed: DiscoveryFeed
        private let id: UInt64

        fileprivate init(_ feed: DiscoveryFeed, id: UInt64) { (self.feed, self.id) = (feed, id) }

        deinit { feed.mailbox.withLock { [id] in $0.remove(id) } }

        /// The next event; nil at the end, or when the task is cancelled.
        package func next() async -> BrowserEvent? {
            let taken = await feed.mailbox.next { [id] in $0.take(id) }
            return if case .event(let event) = taken { event } else { nil }
        }
    }
}

extension DiscoveryFeed {
    fileprivate struct Views {
        private var present: [UID: (peer: DiscoveredPeer, arrival: UInt64)] = [:]
        private var arrivals: UInt64 = 0
        private var views: [UInt64: View] = [:]
        /// Of the last reader that went.
        private var left: View?
        private var lastID: UInt64 = 0
        private var isFinished = false
    }

    /// What one reader was told.
    fileprivate struct View {
        var told: [UID: DiscoveredPeer] = [:]
        /// Those of whom it may not know what is true, in the order in which that began.
        var changed: [UID] = []
        /// Whether it has waited, and so takes part in what changes.
        var hasBegun = false
        /// Whether nobody is there any more for it, and it ends with that.
        var isEnded = false

        var takesPart: Bool { hasBegun && !isEnded }
    }

    fileprivate enum Taken {
        case event(BrowserEvent)
        case end
    }
}

extension DiscoveryFeed.Views {
    mutating func makeView() -> UInt64 {
        lastID += 1
        views[lastID] = DiscoveryFeed.View()
        return lastID
    }

    mutating func remove(_ id: UInt64) {
        guard let view = views.removeValue(forKey: id), view.takesPart, !isRead else { return }
        left = view
    }

    private var isRead: Bool { views.values.contains(where: \.takesPart) }

    /// Returns whether a reader does not know of it.
    mutating func hear(_ event: BrowserEvent) -> Bool {
        if isFinished { return false }
        let uid: UID
        switch event {
        case .found(let peer), .updated(let peer):
            uid = peer.peer.uid
            arrivals += 1
            present[uid] = (peer, present[uid]?.arrival ?? arrivals)
        case .lost(let peer):
            uid = peer.uid
            present[uid] = nil
        }
        left?.note(uid, present[uid]?.peer)
        var isNews = false
        // Not while iterating: that would copy what each was told.
        for id in Array(views.keys) where views[id]?.takesPart == true {
            views[id]?.note(uid, present[uid]?.peer)
            isNews = isNews || views[id]?.changed.isEmpty == false
        }
        return isNews
    }

    mutating func endReaders() {
        left = nil
        for id in Array(views.keys) {
            views[id]?.isEnded = true
            for uid in views[id].map({ Array($0.told.keys) }) ?? [] { views[id]?.note(uid, nil) }
        }
    }

    mutating func finish() {
        views = [:]
        left = nil
        present = [:]
        isFinished = true
    }

    /// What the reader gets next; nil when it has to wait.
    mutating func take(_ id: UInt64) -> DiscoveryFeed.Taken? {
        guard !isFinished, var view = views.removeValue(forKey: id) else { return .end }
        defer { views[id] = view }
        if !view.hasBegun, !view.isEnded {
            if let left {
                view = left
                self.left = nil
            } else {
                view.changed = present.sorted { $0.value.arrival < $1.value.arrival }.map(\.key)
            }
            view.hasBegun = true
        }
        while !view.changed.isEmpty {
            let uid = view.changed.removeFirst()
            if let event = view.tell(uid, view.isEnded ? nil : present[uid]?.peer) { return .event(event) }
        }
        return view.isEnded ? .end : nil
    }
}

extension DiscoveryFeed.View {
    /// Something has changed; `now` is what is true.
    mutating func note(_ uid: UID, _ now: DiscoveredPeer?) {
        let place = changed.firstIndex(of: uid)
        if told[uid] == now {
            if let place { changed.remove(at: place) }
        } else if place == nil {
            changed.append(uid)
        }
    }

    mutating func tell(_ uid: UID, _ new: DiscoveredPeer?) -> BrowserEvent? {
        let old = told[uid]
        told[uid] = new
        switch (old, new) {
        case (nil, nil): return nil
        case (nil, let new?): return .found(new)
        case (let old?, nil): return .lost(old.peer)
        case (let old?, let new?): return old == new ? nil : .updated(new)
        }
    }
}
