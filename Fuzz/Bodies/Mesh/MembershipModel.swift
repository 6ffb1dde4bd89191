import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

/// A model of entries, reachability and the cap, as simple as chapter 11.
struct MembershipModel {
    struct Line {
        let endpoint: Endpoint
        let isMesh: Bool
        let since: Moment
    }

    struct Held {
        var entry: Members
        var line: ConnectionID
        let arrival: Int
        var lostSince: Moment?
    }

    let local: Endpoint
    let cap: Int
    let isKeyed: Bool
    private(set) var now = Moment(nanoseconds: 0) {
        didSet {
            // A member that slept has not seen whether others left.
            if now > oldValue + .seconds(3) { (tooManySince, mustGoSince, surplus) = (nil, nil, []) }
        }
    }
    private(set) var own: Members?
    private(set) var lines: [ConnectionID: Line] = [:]
    private(set) var held: [Endpoint: Held] = [:]
    private(set) var component: Set<Endpoint> = []
    /// Since when this member has to go.
    private(set) var mustGoSince: Moment?
    /// The members to evict.
    private(set) var surplus: Set<UID> = []
    private var tooManySince: Moment?
    private var left: [Endpoint: Moment] = [:]
    private var met: [Endpoint: Moment] = [:]
    /// Until when entries about a peer do not count after a link to it ended because one of the two was one too many.
    private var parted: [Endpoint: Moment] = [:]
    /// Entries from others about members that are linked, or were evicted.
    private var setAside: [Endpoint: (entry: Members, line: ConnectionID)] = [:]
    private var arrivals = 0

    init(_ local: Endpoint, cap: Int, isKeyed: Bool) {
        self.local = local
        self.cap = cap
        self.isKeyed = isKeyed
    }

    var neighbours: Set<Endpoint> { Set(lines.values.filter(\.isMesh).map(\.endpoint)) }
    var entries: [Members] {
        (held.values.map(\.entry) + [own].compactMap { $0 }).sorted { $0.origin < $1.origin }
    }

    func admits(_ remote: Endpoint, listing members: [Endpoint]) -> Bool {
        if component.contains(remote), listed(members) { return true }
        var uids: Set<UID> = [local.uid, remote.uid]
        for endpoint in component.filter(isProven) + members { uids.insert(endpoint.uid) }
        return uids.count <= cap
    }

    private func listed(_ members: [Endpoint]) -> Bool { members.contains { $0.uid == local.uid } }
}

// MARK: what happens

extension MembershipModel {
    mutating func publish(_ blob: [UInt8], at moment: Moment) {
        now = moment
        if own?.blob != blob {
            own = signed(
                Members(
                    origin: local, sequence: (own?.sequence ?? 0) + 1, members: neighbours.sorted(by: <),
                    blob: blob))
        }
        settle()
    }

    mutating func linked(_ id: ConnectionID, to endpoint: Endpoint, isMesh: Bool, at moment: Moment) {
        now = moment
        left[endpoint] = nil
        parted[endpoint] = nil
        if isMesh {
            if let known = held[endpoint]?.entry, !hasItsKey(known) { held[endpoint] = nil }
            if let known = setAside[endpoint]?.entry, !hasItsKey(known) { setAside[endpoint] = nil }
        }
        if isMesh { _ = hasPlace(for: endpoint, isOwnLink: true) }
        lines[id] = Line(endpoint: endpoint, isMesh: isMesh, since: now)
        relist()
        settle()
    }

    mutating func linkEnded(
        _ id: ConnectionID, hasDeparted: Bool, isDismissed: Bool = false, at moment: Moment
    ) {
        now = moment
        if let line = lines.removeValue(forKey: id) {
            let hearsay = setAside[line.endpoint]
            if hasDeparted || !isDismissed { setAside[line.endpoint] = nil }
            if hasDeparted {
                held[line.endpoint] = nil
                left[line.endpoint] = now + .seconds(60)
                met[line.endpoint] = nil
            } else if isDismissed {
                held[line.endpoint] = nil
                met[line.endpoint] = nil
                parted[line.endpoint] = now + .seconds(5)
                (tooManySince, mustGoSince, surplus) = (nil, nil, [])
            } else if let hearsay {
                keep(hearsay.entry, from: hearsay.line)
            }
        }
        relist()
        settle()
    }

    mutating func met(_ endpoint: Endpoint, at moment: Moment) {
        now = moment
        met[endpoint] = now + .seconds(60)
        settle()
    }

    mutating func advance(to moment: Moment) {
        now = moment
        settle()
    }

    mutating func receive(_ entry: Members, on id: ConnectionID, at moment: Moment) throws(Violation) {
        now = moment
        guard let line = lines[id] else { return }
        guard line.isMesh else { throw .outOfPlace(.members) }
        try judge(entry)
        guard try isOfKnownKey(entry, line) else { return settle() }
        if isKeyed, isNew(entry, from: id), !isGenuine(entry) { throw .badSignature }
        if entry.origin == local { correct(entry) } else { keep(entry, from: id) }
        settle()
    }

    private func judge(_ entry: Members) throws(Violation) {
        let members = entry.members
        var sorted = Array(Set(members))
        sorted.sort(by: <)
        guard sorted == members, members.count <= 31, !members.contains(entry.origin) else {
            throw .badEntry(.members)
        }
        let (certificate, signature) = (entry.certificate.count, entry.signature.count)
        let isWhole = certificate > 0 && certificate <= 4_096 && signature > 0 && signature <= 1_024
        guard isKeyed ? isWhole : certificate + signature == 0 else { throw .badEntry(.certificate) }
        let data: ConnectionData
        do throws(InvalidConnectionData) { data = try ConnectionData(parsing: entry.blob) } catch {
            throw .badEntry(.data("\(error)"))
        }
        guard data.endpoint == entry.origin, data.flags.contains(.mesh), data.recipient == nil else {
            throw .badEntry(.foreignData)
        }
        guard data.fingerprint?.bytes == (isKeyed ? SHA256.hash(entry.certificate) : nil) else {
            throw .badEntry(.certificate)
        }
    }

    private func signed(_ entry: Members) -> Members {
        isKeyed ? MeshFixture.signed(entry, by: entry.origin) : entry
    }

    private func isGenuine(_ entry: Members) -> Bool {
        [0, 1].contains { MeshFixture.signed(entry, by: entry.origin, key: $0) == entry }
    }

    /// Returns whether the entry has the key that the endpoint shows on a link.
    private func hasItsKey(_ entry: Members) -> Bool {
        !isKeyed || entry.certificate == MeshFixture.certificate(of: entry.origin)
    }

    private func isOfKnownKey(_ entry: Members, _ line: Line) throws(Violation) -> Bool {
        if entry.origin == line.endpoint, !hasItsKey(entry) { throw .badEntry(.foreignKey) }
        let isLinked = lines.values.contains { $0.endpoint == entry.origin }
        if isLinked || entry.origin == local { return hasItsKey(entry) }
        guard let known = held[entry.origin]?.entry ?? setAside[entry.origin]?.entry else { return true }
        return known.certificate == entry.certificate
    }

    private func isNew(_ entry: Members, from id: ConnectionID) -> Bool {
        if entry.origin == local {
            guard var own else { return false }
            own.signature = entry.signature
            return own != entry && entry.sequence >= own.sequence
        }
        if let until = left[entry.origin], now < until { return false }
        let isFirstHand = lines[id]?.endpoint == entry.origin
        if isFirstHand, held[entry.origin]?.line != id { return true }
        if let known = held[entry.origin], entry.sequence <= known.entry.sequence { return false }
        if !isFirstHand, let known = setAside[entry.origin], entry.sequence <= known.entry.sequence {
            return false
        }
        return true
    }

    private mutating func correct(_ entry: Members) {
        guard var own, entry.sequence >= own.sequence, entry.sequence < 0x8000_0000 else { return }
        own.signature = entry.signature
        guard own != entry else { return }
        own.sequence = entry.sequence + 1
        self.own = signed(own)
    }

    private mutating func keep(_ entry: Members, from id: ConnectionID) {
        let isFirstHand = lines[id]?.endpoint == entry.origin
        if !isFirstHand, neighbours.contains(entry.origin) || parted[entry.origin] != nil {
            let isOld = held[entry.origin].map { entry.sequence <= $0.entry.sequence } ?? false
            if let other = setAside[entry.origin], entry.sequence <= other.entry.sequence { return }
            if !isOld { setAside[entry.origin] = (entry, id) }
            return
        }
        if let until = left[entry.origin], now < until { return }
        if let known = held[entry.origin] {
            guard entry.sequence > known.entry.sequence || isFirstHand && known.line != id else { return }
            held[entry.origin]?.entry = entry
            held[entry.origin]?.line = id
        } else if hasPlace(for: entry.origin, isOwnLink: isFirstHand) {
            arrivals += 1
            held[entry.origin] = Held(entry: entry, line: id, arrival: arrivals, lostSince: nil)
        }
    }

    private mutating func relist() {
        let list = neighbours.sorted(by: <)
        guard let own, own.members != list else { return }
        self.own = signed(Members(origin: local, sequence: own.sequence + 1, members: list, blob: own.blob))
    }
}

// MARK: what follows

extension MembershipModel {
    private mutating func settle() {
        for endpoint in parted.keys.sorted(by: <) where parted[endpoint].map({ $0 <= now }) == true {
            parted[endpoint] = nil
            guard let hearsay = setAside.removeValue(forKey: endpoint) else { continue }
            keep(hearsay.entry, from: hearsay.line)
        }
        relax()
        held = held.filter { $0.value.lostSince.map { now < $0 + .seconds(60) } ?? true }
        judgeCap()
    }

    private mutating func relax() {
        component = neighbours
        var grew = true
        while grew {
            grew = false
            for endpoint in held.keys where !component.contains(endpoint) && endpoint != local {
                guard component.contains(where: { isPair($0, endpoint) }) else { continue }
                component.insert(endpoint)
                grew = true
            }
        }
        for endpoint in held.keys {
            let since = held[endpoint]?.lostSince ?? now
            held[endpoint]?.lostSince = component.contains(endpoint) ? nil : since
        }
    }

    private func isPair(_ one: Endpoint, _ other: Endpoint) -> Bool {
        held[one]?.entry.members.contains(other) == true && held[other]?.entry.members.contains(one) == true
    }

    /// Returns whether there is room, and makes room if it may.
    private mutating func hasPlace(for endpoint: Endpoint, isOwnLink: Bool) -> Bool {
        let holders = neighbours.union(held.keys)
        if holders.contains(endpoint) || holders.count < 31 { return true }
        relax()
        let others = held.filter { !neighbours.contains($0.key) }
        if let oldest = others.filter({ $0.value.lostSince != nil }).min(by: {
            ($0.value.lostSince ?? now, $0.value.arrival) < ($1.value.lostSince ?? now, $1.value.arrival)
        }) {
            held[oldest.key] = nil
            return true
        }
        let doubtful = others.filter { !isProven($0.key) }
        let choice = isOwnLink && doubtful.isEmpty ? others : doubtful
        guard isOwnLink || witnesses(for: endpoint) >= 2,
            let latest = choice.max(by: { $0.value.arrival < $1.value.arrival })
        else { return isOwnLink }
        held[latest.key] = nil
        return true
    }

    private func isProven(_ endpoint: Endpoint) -> Bool {
        neighbours.contains(endpoint) || (met[endpoint].map { now < $0 } ?? false)
            || witnesses(for: endpoint) >= 2
    }

    private func witnesses(for endpoint: Endpoint) -> Int {
        var uids: Set<UID> = []
        for (id, line) in lines where line.isMesh && line.endpoint.uid != endpoint.uid {
            guard let said = held[line.endpoint], said.line == id, said.entry.members.contains(endpoint)
            else {
                continue
            }
            if let entry = held[endpoint]?.entry, !entry.members.contains(line.endpoint) { continue }
            uids.insert(line.endpoint.uid)
        }
        return uids.count
    }

    private mutating func judgeCap() {
        let counted = Set([local.uid] + component.filter(isProven).map(\.uid))
        guard counted.count > cap else {
            (tooManySince, mustGoSince, surplus) = (nil, nil, [])
            return
        }
        let since = tooManySince ?? now
        tooManySince = since
        let byUID = counted.sorted()
        let degrees = byUID.map { uid in byUID.count { isPair(uid, $0) } }
        let byPairs = byUID.indices.sorted { (-degrees[$0], $0) < (-degrees[$1], $1) }.map { byUID[$0] }
        let isBehind =
            !byUID.prefix(cap).contains(local.uid)
            || now >= since + .seconds(10) && !byPairs.prefix(cap).contains(local.uid)
        surplus = now >= since + .seconds(12) ? Set(byPairs.dropFirst(cap)) : []
        mustGoSince = isBehind ? mustGoSince ?? now : nil
    }

    /// Returns whether any endpoints of the two peers are linked within the component.
    private func isPair(_ one: UID, _ other: UID) -> Bool {
        guard one != other else { return false }
        if one == local.uid { return neighbours.contains { $0.uid == other } }
        if other == local.uid { return neighbours.contains { $0.uid == one } }
        return component.contains { first in
            first.uid == one && component.contains { $0.uid == other && isPair(first, $0) }
        }
    }
}
