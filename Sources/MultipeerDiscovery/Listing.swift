import MultipeerCore

/// The instances of one service type on one scope, and the question for them. Spec 12.6.
///
/// Whatever happens to an instance goes through `change`, which keeps the sums, the next deadline, and the list of those
/// who look different from outside.
struct Listing: Sendable {
    static let most = 256  // [mdns.limit]

    let name: DNSName
    private(set) var sightings: [DNSName: Sighting] = [:]
    private(set) var count = 0
    private(set) var byteCount = 0
    /// Who looks different from outside: taken by the owner.
    private(set) var changed: Set<UID> = []
    /// Hosts that SRV records began (+1) and ceased (-1) to point to: taken by the owner.
    private(set) var targetChanges: [(host: DNSName, by: Int)] = []

    var asking: Repetition
    var lastAsked: Moment?
    private var labels: [UID: [DNSName]] = [:]
    private var holdings: [[UInt8]: Int] = [:]
    var allowance = QuestionAllowance()
    /// No earlier than the first of the instances' deadlines.
    private(set) var nextExpiry = Moment.distantFuture
    var nextQuestion = Moment.distantFuture
    var nextPointer = Moment.distantFuture
    /// Somebody found no place, so when there is one again, the question is asked again.
    private var isCrowded = false
    private var nextCrowdCheck = Moment(nanoseconds: .min)
    var lastExpectation: [Family: Moment] = [:]

    init(_ name: DNSName, asking: Repetition) {
        self.name = name
        self.asking = asking
    }

    /// Begins to ask as if nothing had been asked, but never twice within a second.
    mutating func restart(at due: Moment) {
        asking = Repetition(due: max(due, lastAsked.map { $0 + Repetition.firstGap } ?? due))
    }

    mutating func takeChanged() -> Set<UID> {
        defer { changed = [] }
        return changed
    }

    mutating func takeTargetChanges() -> [(host: DNSName, by: Int)] {
        defer { targetChanges = [] }
        return targetChanges
    }

    mutating func change<R>(_ name: DNSName, _ body: (inout Sighting) -> R) -> R? {
        guard var sighting = sightings.removeValue(forKey: name) else { return nil }
        let before = sighting.appearance
        forget(sighting)
        let result = body(&sighting)
        sightings[name] = sighting
        remember(sighting)
        if sighting.appearance != before { changed.insert(sighting.uid) }
        return result
    }

    private mutating func remember(_ sighting: Sighting) {
        count += sighting.count
        byteCount += sighting.byteCount
        holdings[sighting.source, default: 0] += 1
        nextExpiry = min(nextExpiry, sighting.expiry ?? .distantFuture)
        nextQuestion = min(nextQuestion, sighting.questionDeadline ?? .distantFuture)
        nextPointer = min(nextPointer, sighting.pointerRefresh ?? .distantFuture)
        for target in sighting.targets { targetChanges.append((target, 1)) }
    }

    private mutating func forget(_ sighting: Sighting) {
        count -= sighting.count
        byteCount -= sighting.byteCount
        holdings[sighting.source, default: 0] -= 1
        if holdings[sighting.source] == 0 { holdings[sighting.source] = nil }
        for target in sighting.targets { targetChanges.append((target, -1)) }
    }

    private mutating func add(_ name: DNSName, _ sighting: Sighting) {
        sightings[name] = sighting
        labels[sighting.uid, default: []].append(name)
        remember(sighting)
    }

    private mutating func drop(_ name: DNSName) {
        guard let sighting = sightings.removeValue(forKey: name) else { return }
        labels[sighting.uid]?.removeAll { $0 == name }
        if labels[sighting.uid]?.isEmpty == true { labels[sighting.uid] = nil }
        forget(sighting)
        if sighting.appearance != nil { changed.insert(sighting.uid) }
    }

    /// Whether exactly this was said of an instance before; nil when there is no such instance.
    func knows(_ record: DNSRecord) -> Bool? {
        sightings[record.name].map { $0.server.contains(record.data) || $0.text.contains(record.data) }
    }

    /// In the order in which they came.
    func names(where condition: (Sighting) -> Bool) -> [DNSName] {
        sightings.filter { condition($0.value) }.sorted { one, other in
            one.value.order == other.value.order ? one.key < other.key : one.value.order < other.value.order
        }.map(\.key)
    }

    /// The peers that the instances are of.
    var uids: some Sequence<UID> { labels.keys }

    /// All instances of one peer, of which there should be one.
    func names(of uid: UID) -> [DNSName] { labels[uid] ?? [] }

    mutating func dropAll() {
        for name in sightings.keys { drop(name) }
    }
}

/// Records.
extension Listing {
    /// Whether an instance of that name has a place, or gets one. `hasRoom` is the cache's opinion.
    mutating func learnPointer(
        _ record: DNSRecord, _ hearing: Hearing, hasRoom: Bool, jitter: inout Jitter
    ) {
        guard case .ptr(let instance) = record.data, instance.parent == name else { return }
        guard let label = instance.firstLabel, let uid = Binding.uid(inLabel: label) else { return }
        if sightings[instance] == nil {
            guard record.ttl > 0, makeRoom(for: hearing, hasRoom: hasRoom, jitter: &jitter) else { return }
            add(instance, Sighting(uid: uid, hearing))
        }
        _ = change(instance) { $0.learnPointer(record, hearing, jitter: &jitter) }
    }

    mutating func learnDetail(_ record: DNSRecord, _ hearing: Hearing, jitter: inout Jitter) {
        _ = change(record.name) { sighting in
            switch record.data {
            case .srv: sighting.learnServer(record, hearing, jitter: &jitter)
            case .txt: sighting.learnText(record, hearing, jitter: &jitter)
            default: break
            }
        }
    }

    /// Drops what is over.
    mutating func expire(at now: Moment, jitter: inout Jitter) {
        guard nextExpiry <= now else { return }
        var isMissing = false
        nextExpiry = .distantFuture
        for name in names(where: { $0.expiry.map { $0 <= now } ?? true }) {
            guard let sighting = sightings[name] else { continue }
            let isLeaving = sighting.isLeaving
            guard change(name, { $0.expire(at: now, jitter: &jitter) }) == true else { continue }
            drop(name)
            isMissing = isMissing || sighting.isComplete && !isLeaving
        }
        nextExpiry = sightings.values.lazy.compactMap(\.expiry).min() ?? .distantFuture
        if isMissing || isCrowded && sightings.count < Listing.most {
            // It may have been the network that lost an answer, or there was no place for somebody.
            restart(at: now + jitter.hesitation())  // [mdns.query]
            isCrowded = false
        }
    }
}

/// Places. Whoever holds most of them gives way.
extension Listing {
    /// [mdns.limit]
    private mutating func makeRoom(for hearing: Hearing, hasRoom: Bool, jitter: inout Jitter) -> Bool {
        if sightings.count < Listing.most, hasRoom { return true }
        checkCrowd(at: hearing.now, jitter: &jitter)
        guard let victim = dispensable(ifMoreThan: holdings[hearing.source, default: 0] + 1) else {
            isCrowded = true
            return false
        }
        drop(victim)
        return true
    }

    /// The newest instance of whoever holds most, more than `share`. One that has answered for itself stays.
    func dispensable(ifMoreThan share: Int) -> DNSName? {
        guard let most = holdings.values.max(), most > share else { return nil }
        let sources = holdings.filter { $0.value == most }.keys
        guard let source = sources.max(by: { $0.lexicographicallyPrecedes($1) }) else { return nil }
        return sightings.filter { $0.value.source == source && !$0.value.isConfirmed }
            .max { ($0.value.order, $0.key) < ($1.value.order, $1.key) }?.key
    }

    /// Makes room for another type on the same scope.
    mutating func giveWay() -> Bool {
        guard let victim = dispensable(ifMoreThan: 1) else { return false }
        isCrowded = true
        drop(victim)
        return true
    }

    /// A list that is full asks those that never answered for themselves: nobody keeps a place by shouting once.
    private mutating func checkCrowd(at now: Moment, jitter: inout Jitter) {
        guard now >= nextCrowdCheck else { return }
        nextCrowdCheck = now + CachedRecord.patience
        let start = now + jitter.hesitation()
        for (name, sighting) in sightings where !sighting.isConfirmed {
            _ = change(name) { $0.doubt(from: start, until: now + CachedRecord.patience) }
        }
    }
}
