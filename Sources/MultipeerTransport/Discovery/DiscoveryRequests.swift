import MultipeerCore
import MultipeerDiscovery

/// What callers have asked of a backend: advertisements, browses and resolutions that have not ended, and who waits for which
/// outcome. The backend passes them to its engine, and reports here what the engine says.
struct DiscoveryRequests {
    /// How the registration of an advertisement ended.
    enum Registration: Sendable {
        case registered
        /// Nothing is announced; the backend tries again.
        case refused(MultipeerError)
        /// It was withdrawn, or the caller was cancelled.
        case cancelled
    }

    /// An advertisement, and how its registration will end.
    struct Advertised {
        let id: AdvertisementTable.ID
        let registration: Promise<Registration>
    }

    private var advertisements = AdvertisementTable()
    private var registrations: [AdvertisementTable.ID: Promise<Registration>] = [:]
    /// How the last registration of each announcement ended.
    private var outcomes: [AdvertID: Registration] = [:]
    private var browses: [BrowseID: DiscoveryFeed] = [:]
    private var resolutions: [ResolveID: Promise<Resolution?>] = [:]

    var isEmpty: Bool { advertisements.isEmpty && browses.isEmpty && resolutions.isEmpty }
}

/// Advertisements.
extension DiscoveryRequests {
    /// Whether one more may be advertised.
    var hasRoom: Bool { advertisements.hasRoom }

    func contains(_ id: AdvertisementTable.ID) -> Bool { advertisements.contains(id) }

    /// Returns the announcement of this peer and type, if there is one.
    func announcement(of advert: Advert) -> AdvertID? { advertisements.announcement(of: advert) }

    /// Adds an advertisement to its announcement, which the engine has under that name.
    mutating func add(_ advert: Advert, to announcement: AdvertID) -> Advertised {
        let advertised = Advertised(
            id: advertisements.add(advert, to: announcement), registration: Promise())
        if let outcome = outcomes[announcement] {
            advertised.registration.send(outcome)
        } else {
            registrations[advertised.id] = advertised.registration
        }
        return advertised
    }

    mutating func update(_ id: AdvertisementTable.ID, _ info: DiscoveryInfo) -> AdvertisementTable.Change {
        advertisements.update(id, info)
    }

    mutating func remove(_ id: AdvertisementTable.ID) -> AdvertisementTable.Change {
        registrations.removeValue(forKey: id)?.send(.cancelled)
        let change = advertisements.remove(id)
        if case .withdraw(let announcement) = change { outcomes[announcement] = nil }
        return change
    }

    /// Reports how the registration of an announcement ended to all that wait for it. It may have been withdrawn before.
    mutating func registrationEnded(of announcement: AdvertID, _ outcome: Registration) {
        let advertised = advertisements.advertisements(of: announcement)
        if advertised.isEmpty { return }
        outcomes[announcement] = outcome
        for id in advertised { registrations.removeValue(forKey: id)?.send(outcome) }
    }
}

/// Browses and resolutions.
extension DiscoveryRequests {
    mutating func add(_ id: BrowseID) -> DiscoveryFeed {
        let feed = DiscoveryFeed()
        browses[id] = feed
        return feed
    }

    /// Returns whether there was such a browse.
    mutating func remove(_ id: BrowseID) -> Bool { browses.removeValue(forKey: id) != nil }

    /// Reports the current data of a peer, or that it is gone.
    func report(_ peer: PresentPeer?, _ uid: UID, to id: BrowseID) { browses[id]?.note(uid, peer) }

    /// Ends everything: the machine is gone, as the error says.
    mutating func finish(_ error: MultipeerError) {
        for (_, feed) in browses.sorted(by: { $0.key < $1.key }) { feed.finish() }
        for (_, registration) in registrations.sorted(by: { $0.key < $1.key }) {
            registration.send(.refused(error))
        }
        for (_, answer) in resolutions.sorted(by: { $0.key < $1.key }) { answer.send(nil) }
        self = DiscoveryRequests()
    }

    /// Reports that a missed peer has answered.
    func cameBack(_ uid: UID, to id: BrowseID) { browses[id]?.cameBack(uid) }

    /// The same to every browse that misses it.
    func cameBack(_ uid: UID) {
        for (_, feed) in browses.sorted(by: { $0.key < $1.key }) { feed.cameBack(uid) }
    }

    /// Adds a resolution, whose promise gets nil when the caller is cancelled.
    mutating func add(_ id: ResolveID) -> Promise<Resolution?> {
        let answer = Promise<Resolution?>()
        resolutions[id] = answer
        return answer
    }

    mutating func resolved(_ id: ResolveID, _ resolution: Resolution) {
        resolutions.removeValue(forKey: id)?.send(resolution)
    }
}
