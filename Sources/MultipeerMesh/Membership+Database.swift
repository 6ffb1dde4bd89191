import MultipeerCore
import MultipeerFraming
import MultipeerHandshake

/// The link-state database: which entry is valid, which members are reachable, and for which there is room. Spec 11.
extension Membership {
    /// Renews our own entry after a change of our mesh links, or with new data. [mesh.own]
    mutating func renewOwnEntry(data: [UInt8]? = nil) {
        graph.linksChanged()
        let known = own ?? Members(origin: local, sequence: 0, members: [])
        let list = Array(graph.neighbours.sorted(by: <).prefix(Membership.longestList))
        guard let blob = data ?? own?.blob, blob != known.blob || list != known.members else { return }
        guard known.sequence < .max,
            let renewed = signed(
                Members(origin: local, sequence: known.sequence + 1, members: list, blob: blob))
        else { return }
        own = renewed
        enqueueOwnEntry()
    }

    /// Replies to a forwarded entry of ours that is not our current one: ours becomes newer. This is not done near the end
    /// of the sequence numbers, so that no member can exhaust them for us.
    mutating func answer(_ entry: Members) {
        guard var own, !entry.saysTheSame(as: own), entry.sequence >= own.sequence else { return }
        guard entry.sequence < Membership.highestAnswered else { return }
        own.sequence = entry.sequence + 1  // [mesh.own]
        guard let renewed = signed(own) else { return }
        self.own = renewed
        enqueueOwnEntry()
    }

    private static let highestAnswered: UInt32 = 1 << 31

    /// Stores and forwards an entry of another member, if it is newer.
    mutating func take(_ entry: Members, _ data: ConnectionData, from id: ConnectionID) {
        let origin = entry.origin
        let isFirstHand = graph.links[id]?.endpoint == origin
        // [mesh.first-hand]
        guard isFirstHand || !graph.isNeighbour(origin) else { return keep(entry, data, from: id) }
        if dismissed[origin] != nil { return keep(entry, data, from: id) }  // [mesh.dismiss]
        guard !departures.holds(origin, at: now) else { return }  // [mesh.departed]
        let held = graph.database[origin]
        if let held {
            let isHearsay = isFirstHand && held.link != id
            guard isHearsay || entry.sequence > held.entry.sequence else {  // [mesh.newer]
                if entry.sequence == held.entry.sequence { graph.links[id]?.dequeue(origin) }
                return
            }
        } else {
            guard graph.makeRoom(for: origin, isLinked: isFirstHand, at: now) else { return }
        }
        graph.hold(entry, data, from: id, at: now)
        graph.links[id]?.dequeue(origin)
        if held?.entry != entry { enqueue(origin, except: id) }
    }

    /// Stores an entry as hearsay, which is not used while the link to its endpoint is up. That link may be dead without
    /// our knowledge, and entries are not repeated, so it is kept.
    private mutating func keep(_ entry: Members, _ data: ConnectionData, from id: ConnectionID) {
        let known = [graph.database[entry.origin]?.entry, hearsayEntries[entry.origin]?.entry].compactMap {
            $0?.sequence
        }
        guard known.allSatisfy({ entry.sequence > $0 }) else { return }
        hearsayEntries[entry.origin] = Hearsay(entry: entry, data: data, link: id)
    }

    /// Uses the hearsay about `origin`, because the link to it has ended. [mesh.first-hand]
    mutating func useHearsay(of origin: Endpoint) {
        guard let hearsay = hearsayEntries.removeValue(forKey: origin) else { return }
        take(hearsay.entry, hearsay.data, from: hearsay.link)
    }

    /// Uses the hearsay about dismissed endpoints whose time has expired. [mesh.dismiss]
    mutating func useHearsayOfDismissed() {
        for (endpoint, until) in dismissed.sorted(by: { $0.key < $1.key }) where until <= now {
            dismissed[endpoint] = nil
            useHearsay(of: endpoint)
        }
    }

}
