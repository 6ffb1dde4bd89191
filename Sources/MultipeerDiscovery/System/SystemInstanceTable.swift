import MultipeerCore

/// The instances of one service type that the system's responder reports, and those of them whose records are queried.
///
/// Each query takes a descriptor, so only some are queried at a time, in turn: one that lacks a record for long gives its place to
/// one that waits. Invented names without records thus delay the peers, but do not keep them out; those that have all records keep
/// their places, so that more peers than there are places are not found.
struct SystemInstanceTable: Sendable {
    /// The maximum number of instances; further ones are ignored until there is room, since the responder does not tell which host
    /// has sent them.
    static let most = InstanceTable.most
    /// The maximum number of instances that are queried at a time.
    static let mostQueried = 64
    /// How long an instance that lacks a record keeps its place while others wait.
    static let turnLength = Duration.seconds(5)

    let name: DNSName
    private let countsRepeats: Bool
    private(set) var instances: [DNSName: SystemInstance] = [:]
    private var labels: [UID: [DNSName]] = [:]
    private var queried: Set<DNSName> = []
    private var lastOrder: UInt64 = 0
    /// Whether an instance was ignored that the responder may still have.
    private var isCrowded = false

    init(_ name: DNSName, countsRepeats: Bool) {
        self.name = name
        self.countsRepeats = countsRepeats
    }

    /// The peers of the instances, in order.
    var uids: [UID] { labels.keys.sorted() }

    /// Handles an instance that was found or lost on an interface. Returns its peer if that changed anything.
    mutating func pointer(_ label: [UInt8], isAdded: Bool, on interface: UInt32, at now: Moment) -> UID? {
        guard let uid = Binding.uid(inLabel: label), let instance = try? name.child(label) else { return nil }
        lastOrder += 1
        if instances[instance] == nil {
            guard isAdded else { return nil }
            if instances.count >= SystemInstanceTable.most {
                isCrowded = true
                return nil
            }
            instances[instance] = SystemInstance(
                uid: uid, countsRepeats: countsRepeats, turn: .waiting(lastOrder))
            labels[uid, default: []].append(instance)
        }
        let hasChanged = change(instance, at: now) { [lastOrder] in
            $0.pointer(isAdded: isAdded, on: interface, order: lastOrder)
        }
        guard hasChanged else { return nil }
        dropIfGone(instance)
        return uid
    }

    /// Handles a record of an instance. Returns its peer if that changed anything.
    mutating func record(
        of instance: DNSName, _ type: DNSType, _ data: [UInt8], isAdded: Bool, on interface: UInt32,
        at now: Moment
    ) -> UID? {
        lastOrder += 1
        let hasChanged = change(instance, at: now) { [lastOrder] in
            $0.record(type, data, isAdded: isAdded, on: interface, order: lastOrder)
        }
        return hasChanged ? instances[instance]?.uid : nil
    }

    /// Changes an instance. The time for which it may lack a record begins when it begins to lack one.
    private mutating func change(
        _ name: DNSName, at now: Moment, _ body: (inout SystemInstance) -> Bool
    ) -> Bool {
        guard var instance = instances[name] else { return false }
        let wasComplete = instance.isQueried && instance.appearance != nil
        let hasChanged = body(&instance)
        if wasComplete, instance.appearance == nil { instance.turn = .queried(since: now) }
        instances[name] = instance
        return hasChanged
    }

    /// Returns true once, when there is room for instances that were ignored: another browse reports them.
    mutating func takeHasRoom() -> Bool {
        guard isCrowded, instances.count <= SystemInstanceTable.most * 3 / 4 else { return false }
        isCrowded = false
        return true
    }

    /// See `RecordCounts`.
    mutating func takeIsIncomplete(_ type: DNSType, of instance: DNSName) -> Bool {
        instances[instance]?.takeIsIncomplete(type) ?? false
    }

    /// Forgets the records of a query that has ended, and returns the peer.
    mutating func forget(_ type: DNSType, of instance: DNSName) -> UID? {
        instances[instance]?.forget(type)
        return instances[instance]?.uid
    }

    /// Forgets what was found on an interface, or on all for 0, and returns the peers.
    mutating func forgetPointers(on interface: UInt32) -> [UID] {
        let peers = uids
        for instance in instances.keys {
            instances[instance]?.forgetPointers(on: interface)
            dropIfGone(instance)
        }
        return peers
    }

    private mutating func dropIfGone(_ instance: DNSName) {
        guard let known = instances[instance], known.pointers.isEmpty else { return }
        instances[instance] = nil
        labels[known.uid]?.removeAll { $0 == instance }
        if labels[known.uid]?.isEmpty == true { labels[known.uid] = nil }
    }
}

/// Turns.
extension SystemInstanceTable {
    /// Changes which instances are queried, and returns those whose queries end and those whose queries start.
    mutating func takeTurns(at now: Moment) -> (ended: [DNSName], started: [DNSName]) {
        var ended = queried.filter { instances[$0] == nil }
        // As many give up their places as wait for one; the others keep theirs for another turn.
        let excess = max(instances.count - SystemInstanceTable.mostQueried, 0)
        let overdue = excess > 0 ? overdue(at: now) : []
        for instance in overdue.prefix(excess) {
            lastOrder += 1
            instances[instance]?.turn = .waiting(lastOrder)
            ended.insert(instance)
        }
        for instance in overdue.dropFirst(excess) { instances[instance]?.turn = .queried(since: now) }
        queried.subtract(ended)
        let started = firstWaiting(SystemInstanceTable.mostQueried - queried.count)
        for instance in started {
            instances[instance]?.turn = .queried(since: now)
            queried.insert(instance)
        }
        return (ended.sorted(), started)
    }

    /// Returns the instances that have to give up their places, in order.
    private func overdue(at now: Moment) -> [DNSName] {
        queried.filter { instances[$0]?.isOverdue(at: now) == true }.sorted()
    }

    /// Returns the instances that have waited longest, at most `count`.
    private func firstWaiting(_ count: Int) -> [DNSName] {
        // The usual case, cheaply.
        if count == 0 || instances.count == queried.count { return [] }
        let waiting = instances.filter { !$0.value.isQueried }
        return waiting.sorted { $0.value.place < $1.value.place }.prefix(count).map(\.key)
    }

    /// When an instance has to give up its place; nil while none waits.
    var deadline: Moment? {
        guard instances.count > queried.count else { return nil }
        return queried.compactMap { instances[$0]?.turnEnd }.min()
    }

    /// Ends all queries, and returns their instances.
    mutating func endTurns() -> [DNSName] {
        defer { queried = [] }
        return queried.sorted()
    }
}

/// Peers.
extension SystemInstanceTable {
    /// Returns the current data of a peer: those of the instance that changed last. Nil when none is complete. [mdns.lost]
    func peer(_ uid: UID) -> PresentPeer? {
        names(of: uid).compactMap { instances[$0]?.appearance }.max { $0.freshness < $1.freshness }?.peer
    }

    /// Returns the instances of a peer, of which there should be one.
    func names(of uid: UID) -> [DNSName] { labels[uid] ?? [] }

    /// Returns where each instance of a peer may be: that of the instance that changed last comes first.
    func destinations(of uid: UID) -> [[SystemDestination]] {
        let known = names(of: uid).compactMap { instances[$0] }
        return known.sorted { ($0.appearance?.freshness ?? 0) > ($1.appearance?.freshness ?? 0) }
            .map(\.destinations)
    }
}

extension SystemInstance {
    fileprivate var place: UInt64 {
        switch turn {
        case .waiting(let place): place
        case .queried: 0
        }
    }

    /// When it has to give up its place, unless it is complete.
    fileprivate var turnEnd: Moment? {
        switch turn {
        case .queried(let since) where appearance == nil: since + SystemInstanceTable.turnLength
        case .queried, .waiting: nil
        }
    }

    fileprivate func isOverdue(at now: Moment) -> Bool {
        switch turn {
        case .queried(let since): since + SystemInstanceTable.turnLength <= now && appearance == nil
        case .waiting: false
        }
    }
}
