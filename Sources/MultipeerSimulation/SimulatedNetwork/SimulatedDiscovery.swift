import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport

/// What the machines of a network announce to each other, with the properties of multicast DNS: an announcement is
/// received late, sometimes not at all, queried again from time to time, and cached for two minutes.
final class SimulatedDiscovery: Sendable {
    struct Announcement: Sendable {
        let id: Int
        let host: VirtualHost
        var advertisement: Advertisement
        var version = 0

        var uid: UID { advertisement.peer.uid }
        var address: SocketAddress { SocketAddress(host.address, port: advertisement.port) }
    }

    /// What a browser knows about a peer.
    struct CachedAnnouncement: Sendable {
        let record: Announcement
        let at: Moment
    }

    struct Browse: Sendable {
        let id: Int
        let host: VirtualHost
        let type: ServiceType
        let feed: DiscoveryFeed
        let hidden: UID?
        var heard: [UID: CachedAnnouncement] = [:]
    }

    private struct State {
        var records: [Int: Announcement] = [:]
        var browses: [Int: Browse] = [:]
        var last = 0

        mutating func nextID() -> Int {
            last += 1
            return last
        }
    }

    /// How long an announcement is cached.
    private static let lifetime = Duration.seconds(120)
    /// The interval between two queries of a browser: from the first, doubled each time.
    private static let intervals = (first: Duration.seconds(1), longest: Duration.seconds(60))
    /// How long a peer that seems to be gone is queried.
    private static let doubt = Duration.seconds(5)

    let machines: VirtualNetwork
    private let state = Locked(State())

    init(_ machines: VirtualNetwork) { self.machines = machines }
}

// MARK: announcing

extension SimulatedDiscovery {
    /// Announces twice, a second apart, to all browsers.
    func add(_ advertisement: Advertisement, on host: VirtualHost) -> Int {
        let record = state.withLock { state in
            let record = Announcement(id: state.nextID(), host: host, advertisement: advertisement)
            state.records[record.id] = record
            return record
        }
        host.onEnd { [weak self] in _ = self?.state.withLock { $0.records.removeValue(forKey: record.id) } }
        machines.note("\(host.name): announces \(advertisement.type) at \(advertisement.port)")
        announce(record.id)
        machines.time.after(.seconds(1)) { [weak self] in self?.announce(record.id) }
        return record.id
    }

    /// Returns false when it was stopped before.
    func update(_ id: Int, _ info: DiscoveryInfo) -> Bool {
        let isKnown = state.withLock { state in
            state.records[id]?.advertisement.info = info
            state.records[id]?.version += 1
            return state.records[id] != nil
        }
        announce(id)
        return isKnown
    }

    /// Sends a goodbye.
    func remove(_ id: Int) {
        guard let record = state.withLock({ $0.records.removeValue(forKey: id) }) else { return }
        machines.note("\(record.host.name): announces \(record.advertisement.type) no more")
        for browse in browses(of: record.advertisement.type) {
            deliver(from: record.host, to: browse.host) { [weak self] in
                self?.forget(record.uid, for: browse.id) { $0.record.id == id }
            }
        }
    }

    private func announce(_ id: Int) {
        guard let record = state.withLock({ $0.records[id] }) else { return }
        for browse in browses(of: record.advertisement.type) { tell(browse, of: record) }
    }

    private func browses(of type: ServiceType) -> [Browse] {
        state.withLock { state in
            state.browses.values.filter { $0.type == type }.sorted { $0.id < $1.id }
        }
    }

    private func records(of type: ServiceType) -> [Announcement] {
        state.withLock { state in
            state.records.values.filter { $0.advertisement.type == type }.sorted { $0.id < $1.id }
        }
    }

    private func tell(_ browse: Browse, of record: Announcement) {
        guard record.uid != browse.hidden else { return }
        deliver(from: record.host, to: browse.host) { [weak self] in self?.hear(record.id, for: browse.id) }
    }

    private func deliver(
        from one: VirtualHost, to other: VirtualHost, _ body: @escaping @Sendable () -> Void
    ) {
        guard !machines.drawLoss() else { return }
        machines.time.after(machines.drawDelay()) { [machines] in
            if machines.isOpen(one, other) { body() }
        }
    }
}

// MARK: browsing

extension SimulatedDiscovery {
    func browse(_ type: ServiceType, hiding local: UID?, on host: VirtualHost) -> (Int, DiscoveryFeed) {
        let feed = DiscoveryFeed()
        let id = state.withLock { state in
            let id = state.nextID()
            state.browses[id] = Browse(id: id, host: host, type: type, feed: feed, hidden: local)
            return id
        }
        host.onEnd { [weak self] in
            self?.stop(id)
            feed.finish()
        }
        ask(id, again: SimulatedDiscovery.intervals.first)
        return (id, feed)
    }

    func stop(_ id: Int) { state.withLock { $0.browses[id] = nil } }

    /// Lets every present advertiser answer, and removes expired announcements.
    private func ask(_ id: Int, again interval: Duration) {
        guard let browse = state.withLock({ $0.browses[id] }) else { return }
        for record in records(of: browse.type) { tell(browse, of: record) }
        let now = machines.time.now
        for uid in browse.heard.keys.sorted() {
            forget(uid, for: id) { now - $0.at > SimulatedDiscovery.lifetime }
        }
        let next = min(interval * 2, SimulatedDiscovery.intervals.longest)
        machines.time.after(interval) { [weak self] in self?.ask(id, again: next) }
    }

    /// Handles an announcement: of two announcements of one peer the later counts.
    private func hear(_ record: Int, for id: Int) {
        let now = machines.time.now
        let news = state.withLock { state -> (DiscoveryFeed, Announcement)? in
            guard let record = state.records[record], let browse = state.browses[id] else { return nil }
            let known = browse.heard[record.uid]?.record
            if let known, known.id > record.id { return nil }
            state.browses[id]?.heard[record.uid] = CachedAnnouncement(record: record, at: now)
            return known?.id == record.id && known?.version == record.version ? nil : (browse.feed, record)
        }
        guard let (feed, record) = news else { return }
        let advertisement = record.advertisement
        let peer = DiscoveredPeer(peer: advertisement.peer, info: advertisement.info.entries)
        // A machine that starts again is a new one in the simulation.
        feed.note(record.uid, PresentPeer(peer, host: DNSName("mpc-\(record.host.number).local")))
    }

    private func forget(_ uid: UID, for id: Int, if isWanted: (CachedAnnouncement) -> Bool) {
        let feed = state.withLock { state -> DiscoveryFeed? in
            guard let heard = state.browses[id]?.heard[uid], isWanted(heard) else { return nil }
            state.browses[id]?.heard[uid] = nil
            return state.browses[id]?.feed
        }
        feed?.note(uid, nil)
    }

    /// Queries a peer, and removes it unless an answer comes in time.
    func doubt(_ uid: UID, _ type: ServiceType, on host: VirtualHost) {
        let began = machines.time.now
        for browse in browses(of: type) where browse.host === host {
            for record in records(of: type) where record.uid == uid { tell(browse, of: record) }
            machines.time.after(SimulatedDiscovery.doubt) { [weak self] in
                self?.forget(uid, for: browse.id) { $0.at <= began }
            }
        }
    }

    /// Returns the address of a peer, as far as a browser on that machine knows it, or can find it out now.
    func address(of uid: UID, _ type: ServiceType, from host: VirtualHost) -> SocketAddress? {
        let heard = browses(of: type).filter { $0.host === host }.compactMap { $0.heard[uid]?.record }
        if let latest = heard.max(by: { $0.id < $1.id }) { return latest.address }
        let there = records(of: type).last { $0.uid == uid && machines.isOpen($0.host, host) }
        return machines.drawLoss() ? nil : there?.address
    }
}
