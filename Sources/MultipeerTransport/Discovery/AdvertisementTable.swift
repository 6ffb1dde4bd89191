import MultipeerCore
import MultipeerDiscovery

/// What this process advertises by multicast DNS: one announcement for each peer and service type, which has the contents of the
/// latest of its advertisements. When that is stopped, the one before it is announced again.
///
/// An application replaces an advertiser by another one before the first has said goodbye, or has two for one peer.
struct AdvertisementTable {
    /// Identifies one advertisement; never reused.
    struct ID: Hashable, Comparable, Sendable {
        fileprivate let number: UInt64
        static func < (one: ID, other: ID) -> Bool { one.number < other.number }
    }

    /// What the engine has to do after a change.
    enum Change: Equatable {
        case none
        /// Other contents take the place of the announced ones.
        case announce(AdvertID, Advert)
        /// None is left.
        case withdraw(AdvertID)
    }

    private struct Key: Hashable {
        let uid: UID
        let type: ServiceType

        init(_ advert: Advert) { (uid, type) = (advert.peer.uid, advert.type) }
    }

    private struct Announcement {
        let id: AdvertID
        /// In the order in which they were started; the last one is announced.
        var advertisements: [(id: ID, advert: Advert)]
    }

    private var announcements: [Key: Announcement] = [:]
    private var keys: [ID: Key] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { keys.isEmpty }

    /// Whether one more may be added.
    var hasRoom: Bool { keys.count < MulticastDNS.mostOrders }  // [mdns.limit]

    func contains(_ id: ID) -> Bool { keys[id] != nil }

    /// Returns the announcement of this peer and type, if there is one.
    func announcement(of advert: Advert) -> AdvertID? { announcements[Key(advert)]?.id }

    /// Returns the advertisements of an announcement.
    func advertisements(of announcement: AdvertID) -> [ID] {
        announcements.values.first { $0.id == announcement }?.advertisements.map(\.id) ?? []
    }

    /// Adds an advertisement to its announcement, which the engine has under that name.
    mutating func add(_ advert: Advert, to announcement: AdvertID) -> ID {
        lastNumber += 1
        let (id, key) = (ID(number: lastNumber), Key(advert))
        keys[id] = key
        announcements[key, default: Announcement(id: announcement, advertisements: [])]
            .advertisements.append((id, advert))
        return id
    }

    mutating func update(_ id: ID, _ info: DiscoveryInfo) -> Change {
        guard let key = keys[id], var announcement = announcements[key],
            let place = announcement.advertisements.firstIndex(where: { $0.id == id })
        else { return .none }
        announcement.advertisements[place].advert.info = info
        announcements[key] = announcement
        let isAnnounced = place == announcement.advertisements.count - 1
        return isAnnounced ? .announce(announcement.id, announcement.advertisements[place].advert) : .none
    }

    mutating func remove(_ id: ID) -> Change {
        guard let key = keys.removeValue(forKey: id), var announcement = announcements[key] else {
            return .none
        }
        let isAnnounced = announcement.advertisements.last?.id == id
        announcement.advertisements.removeAll { $0.id == id }
        announcements[key] = announcement.advertisements.isEmpty ? nil : announcement
        guard let latest = announcement.advertisements.last else { return .withdraw(announcement.id) }
        return isAnnounced ? .announce(announcement.id, latest.advert) : .none
    }
}
