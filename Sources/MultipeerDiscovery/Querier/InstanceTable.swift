import MultipeerCore

/// The instances of one service type on one scope, and the query for them. Spec 12.6.
///
/// Every change to an instance goes through `change`, which maintains the sums, the next deadline, and the list of peers
/// whose appearance has changed.
struct InstanceTable: Sendable {
    static let most = 256  // [mdns.limit]

    let name: DNSName
    private(set) var serviceInstances: [DNSName: ServiceInstance] = [:]
    private(set) var count = 0
    private(set) var byteCount = 0
    /// The peers whose appearance has changed: taken by the owner.
    private(set) var changed: Set<UID> = []
    /// The hosts that SRV records began (+1) or ceased (-1) to point to: taken by the owner.
    private(set) var targetChanges: [(host: DNSName, by: Int)] = []

    var asking: QuerySchedule
    var lastAsked: Moment?
    /// When they were requested to be asked for: the question follows.
    var lastRequest: Moment?
    private var labels: [UID: [DNSName]] = [:]
    private var holdings: [[UInt8]: Int] = [:]
    var allowance = QueryRateLimiter()
    /// No later than the first of the instances' deadlines.
    private(set) var nextExpiry = Moment.distantFuture
    var nextQuestion = Moment.distantFuture
    var nextPointer = Moment.distantFuture
    /// Whether an instance did not fit: when there is room again, the question is asked again.
    private var isCrowded = false
    private var nextCrowdCheck = Moment(nanoseconds: .min)
    /// The last second of questions for the instances, of each family.
    var expectations: [Family: Expectation] = [:]

    /// A second in which an instance is expected to answer once at most, however often the question is repeated.
    struct Expectation {
        let start: Moment
        /// The instances that all questions so far listed as known, so that none of them expects an answer.
        var excused: Set<DNSName>
    }

    init(_ name: DNSName, asking: QuerySchedule) {
        self.name = name
        self.asking = asking
    }

    /// Restarts the query, but never asks twice within a second.
    mutating func restart(at due: Moment) {
        let mostGap = asking.mostGap
        asking = QuerySchedule(due: max(due, lastAsked.map { $0 + QuerySchedule.firstGap } ?? due))
        asking.mostGap = mostGap
    }

    mutating func takeChanged() -> Set<UID> {
        defer { changed = [] }
        return changed
    }

    mutating func takeTargetChanges() -> [(host: DNSName, by: Int)] {
        defer { targetChanges = [] }
        return targetChanges
    }

    mutating func change<R>(_ name: DNSName, _ body: (inout ServiceInstance) -> R) -> R? {
        guard var serviceInstance = serviceInstances.removeValue(forKey: name) else { return nil }
        let before = serviceInstance.appearance
        forget(serviceInstance)
        let result = body(&serviceInstance)
        serviceInstances[name] = serviceInstance
        remember(serviceInstance)
        if serviceInstance.appearance != before { changed.insert(serviceInstance.uid) }
        return result
    }

    private mutating func remember(_ serviceInstance: ServiceInstance) {
        count += serviceInstance.count
        byteCount += serviceInstance.byteCount
        holdings[serviceInstance.source, default: 0] += 1
        nextExpiry = min(nextExpiry, serviceInstance.expiry ?? .distantFuture)
        nextQuestion = min(nextQuestion, serviceInstance.questionDeadline ?? .distantFuture)
        nextPointer = min(nextPointer, serviceInstance.pointerRefresh ?? .distantFuture)
        for target in serviceInstance.targets { targetChanges.append((target, 1)) }
    }

    private mutating func forget(_ serviceInstance: ServiceInstance) {
        count -= serviceInstance.count
        byteCount -= serviceInstance.byteCount
        holdings[serviceInstance.source, default: 0] -= 1
        if holdings[serviceInstance.source] == 0 { holdings[serviceInstance.source] = nil }
        for target in serviceInstance.targets { targetChanges.append((target, -1)) }
    }

    private mutating func add(_ name: DNSName, _ serviceInstance: ServiceInstance) {
        serviceInstances[name] = serviceInstance
        labels[serviceInstance.uid, default: []].append(name)
        remember(serviceInstance)
    }

    private mutating func drop(_ name: DNSName) {
        guard let serviceInstance = serviceInstances.removeValue(forKey: name) else { return }
        labels[serviceInstance.uid]?.removeAll { $0 == name }
        if labels[serviceInstance.uid]?.isEmpty == true { labels[serviceInstance.uid] = nil }
        forget(serviceInstance)
        if serviceInstance.appearance != nil { changed.insert(serviceInstance.uid) }
    }

    /// Returns whether this exact record of an instance is known; nil when there is no such instance.
    func knows(_ record: DNSRecord) -> Bool? {
        serviceInstances[record.name].map { $0.server.contains(record.data) || $0.text.contains(record.data) }
    }

    /// Returns names in the order in which they were received.
    func names(where condition: (ServiceInstance) -> Bool) -> [DNSName] {
        serviceInstances.filter { condition($0.value) }.sorted { one, other in
            one.value.order == other.value.order ? one.key < other.key : one.value.order < other.value.order
        }.map(\.key)
    }

    /// The peers of the instances.
    var uids: some Sequence<UID> { labels.keys }

    /// Returns all instances of one peer, of which there should be one.
    func names(of uid: UID) -> [DNSName] { labels[uid] ?? [] }

    mutating func dropAll() {
        for name in serviceInstances.keys { drop(name) }
    }
}

/// Records.
extension InstanceTable {
    /// Returns whether an instance of that name is in the table, or can be added. `hasRoom`: whether the cache has
    /// room.
    mutating func learnPointer(
        _ record: DNSRecord, _ reception: RecordReception, hasRoom: Bool, jitter: inout Jitter
    ) {
        guard case .ptr(let instance) = record.data, instance.parent == name else { return }
        guard let label = instance.firstLabel, let uid = Binding.uid(inLabel: label) else { return }
        if serviceInstances[instance] == nil {
            guard record.ttl > 0, makeRoom(for: reception, hasRoom: hasRoom, jitter: &jitter) else { return }
            add(instance, ServiceInstance(uid: uid, reception))
        }
        _ = change(instance) { $0.learnPointer(record, reception, jitter: &jitter) }
    }

    mutating func learnDetail(_ record: DNSRecord, _ reception: RecordReception, jitter: inout Jitter) {
        _ = change(record.name) { serviceInstance in
            switch record.data {
            case .srv: serviceInstance.learnServer(record, reception, jitter: &jitter)
            case .txt: serviceInstance.learnText(record, reception, jitter: &jitter)
            default: break
            }
        }
    }

    /// Drops what has expired.
    mutating func expire(at now: Moment, jitter: inout Jitter) {
        guard nextExpiry <= now else { return }
        var isMissing = false
        nextExpiry = .distantFuture
        for name in names(where: { $0.expiry.map { $0 <= now } ?? true }) {
            guard let serviceInstance = serviceInstances[name] else { continue }
            let isLeaving = serviceInstance.isLeaving
            guard change(name, { $0.expire(at: now, jitter: &jitter) }) == true else { continue }
            drop(name)
            isMissing = isMissing || serviceInstance.isComplete && !isLeaving
        }
        nextExpiry = serviceInstances.values.lazy.compactMap(\.expiry).min() ?? .distantFuture
        if isMissing || isCrowded && serviceInstances.count < InstanceTable.most {
            // An answer may have been lost on the network, or an instance did not fit.
            restart(at: now + jitter.hesitation())  // [mdns.query]
            isCrowded = false
        }
    }
}

/// Capacity. The source that holds most instances is evicted from first.
extension InstanceTable {
    /// [mdns.limit]
    private mutating func makeRoom(for reception: RecordReception, hasRoom: Bool, jitter: inout Jitter)
        -> Bool
    {
        if serviceInstances.count < InstanceTable.most, hasRoom { return true }
        checkCrowd(at: reception.now, jitter: &jitter)
        guard let victim = dispensable(ifMoreThan: holdings[reception.source, default: 0] + 1) else {
            isCrowded = true
            return false
        }
        drop(victim)
        return true
    }

    /// Returns the newest instance of the source that holds most, if more than `share`. A confirmed instance is not
    /// returned.
    func dispensable(ifMoreThan share: Int) -> DNSName? {
        guard let most = holdings.values.max(), most > share else { return nil }
        let sources = holdings.filter { $0.value == most }.keys
        guard let source = sources.max(by: { $0.lexicographicallyPrecedes($1) }) else { return nil }
        return serviceInstances.filter { $0.value.source == source && !$0.value.isConfirmed }
            .max { ($0.value.order, $0.key) < ($1.value.order, $1.key) }?.key
    }

    /// Makes room for another type on the same scope.
    mutating func giveWay() -> Bool {
        guard let victim = dispensable(ifMoreThan: 1) else { return false }
        isCrowded = true
        drop(victim)
        return true
    }

    /// Queries the instances that are not confirmed when the table is full: a single announcement is not enough to
    /// stay.
    private mutating func checkCrowd(at now: Moment, jitter: inout Jitter) {
        guard now >= nextCrowdCheck else { return }
        nextCrowdCheck = now + CachedRecord.reconfirmTimeout
        let start = now + jitter.hesitation()
        for (name, serviceInstance) in serviceInstances where !serviceInstance.isConfirmed {
            _ = change(name) { $0.doubt(from: start, until: now + CachedRecord.reconfirmTimeout) }
        }
    }
}
