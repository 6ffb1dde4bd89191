import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction

/// The link-state database: which entry counts, who is reachable, whom there is room for. Spec 11.
extension Membership {
    /// Own mesh links, or the data if there are new ones, changed. [mesh.own]
    mutating func renewOwnEntry(data: [UInt8]? = nil) {
        graph.linksChanged()
        let known = own ?? Members(origin: local, sequence: 0, members: [])
        let list = Array(graph.neighbours.sorted(by: <).prefix(Membership.longestList))
        guard let blob = data ?? own?.blob, blob != known.blob || list != known.members else { return }
        guard known.sequence < .max else { return }
        own = Members(origin: local, sequence: known.sequence + 1, members: list, blob: blob)
        enqueueOwnEntry()
    }

    /// Somebody passes on an entry of ours that is not ours: whatever it says, ours becomes newer. Far from the end of the
    /// numbers, so that nobody can use them up for us.
    mutating func answer(_ entry: Members) {
        guard var own, entry != own, entry.sequence >= own.sequence else { return }
        guard entry.sequence < Membership.highestAnswered else { return }
        own.sequence = entry.sequence + 1  // [mesh.own]
        self.own = own
        enqueueOwnEntry()
    }

    private static let highestAnswered: UInt32 = 1 << 31

    /// Keeps and passes on an entry of somebody else, if it says anything new.
    mutating func take(_ entry: Members, _ data: ConnectionData, from id: ConnectionID) {
        let origin = entry.origin
        let isFirstHand = graph.links[id]?.endpoint == origin
        // [mesh.first-hand]
        guard isFirstHand || !graph.isNeighbour(origin) else { return keep(entry, data, from: id) }
        if dismissed[origin] != nil { return keep(entry, data, from: id) }  // [mesh.dismiss]
        guard !departures.holds(origin, at: now) else { return }  // [mesh.departed]
        let held = graph.database[origin]
        if let held {
            let isRumour = isFirstHand && held.link != id
            guard isRumour || entry.sequence > held.entry.sequence else {  // [mesh.newer]
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

    /// Not believed while the link to its endpoint stands. That link may be dead without our knowing, so it is kept: nobody
    /// says it twice.
    private mutating func keep(_ entry: Members, _ data: ConnectionData, from id: ConnectionID) {
        let known = [graph.database[entry.origin]?.entry, hearsayEntries[entry.origin]?.entry].compactMap {
            $0?.sequence
        }
        guard known.allSatisfy({ entry.sequence > $0 }) else { return }
        hearsayEntries[entry.origin] = Hearsay(entry: entry, data: data, link: id)
    }

    /// The link to `origin` is gone, so what others say of it counts. [mesh.first-hand]
    mutating func believeRumour(of origin: Endpoint) {
        guard let hearsay = hearsayEntries.removeValue(forKey: origin) else { return }
        take(hearsay.entry, hearsay.data, from: hearsay.link)
    }

    /// The time is over in which nothing that is said of somebody dismissed counts. [mesh.dismiss]
    mutating func believeOfDismissed() {
        for (endpoint, until) in dismissed.sorted(by: { $0.key < $1.key }) where until <= now {
            dismissed[endpoint] = nil
            believeRumour(of: endpoint)
        }
    }

}
