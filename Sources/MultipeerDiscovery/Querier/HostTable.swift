import MultipeerCore

/// The addresses of the hosts that SRV records point to, on one scope. Nothing is kept of other hosts.
struct HostTable: Sendable {
    static let mostAddresses = 32  // [mdns.limit]

    struct Host: Sendable {
        /// The number of SRV records that point to this host.
        var users = 0
        var v4 = RecordSet(most: HostTable.mostAddresses / 2, isKept: false)
        var v6 = RecordSet(most: HostTable.mostAddresses / 2, isKept: false)
        /// Non-nil while a resolution waits for the addresses.
        var search: QuerySchedule?
        var wantedUntil: Moment?

        var count: Int { v4.count + v6.count }
        var byteCount: Int { v4.byteCount + v6.byteCount }
        var isKnown: Bool { count > 0 }
        func contains(_ data: DNSData) -> Bool { v4.contains(data) || v6.contains(data) }
        var deadline: Moment? {
            [v4.deadline, v6.deadline, search?.due, wantedUntil].compactMap(\.self).min()
        }

        /// The addresses, 4 or 16 bytes each, the most recently received first; IPv6 before IPv4.
        var addresses: [[UInt8]] {
            (v4.records + v6.records).reversed().compactMap { record in
                switch record.data {
                case .a(let bytes), .aaaa(let bytes): bytes
                default: nil
                }
            }
        }
    }

    private(set) var hosts: [DNSName: Host] = [:]
    private(set) var count = 0
    private(set) var byteCount = 0
    private(set) var deadline = Moment.distantFuture

    subscript(name: DNSName) -> Host? { hosts[name] }

    /// Applies changes in the number of SRV records that point to hosts.
    mutating func apply(_ changes: [(host: DNSName, by: Int)]) {
        var sums: [DNSName: Int] = [:]
        for change in changes { sums[change.host, default: 0] += change.by }
        for (name, sum) in sums where sum != 0 {
            if hosts[name] == nil { hosts[name] = Host() }
            change(name) { $0.users += sum }
            if let host = hosts[name], host.users <= 0 { drop(name, host) }
        }
    }

    mutating func learn(_ record: DNSRecord, _ reception: RecordReception, jitter: inout Jitter) {
        change(record.name) { host in
            if record.type == .a {
                host.v4.learn(record, reception, jitter: &jitter)
            } else {
                host.v6.learn(record, reception, jitter: &jitter)
            }
            if host.isKnown { (host.search, host.wantedUntil) = (nil, nil) }
        }
    }

    /// Starts to wait for the addresses of a host. Returns whether the question is a new one.
    mutating func want(_ name: DNSName, until: Moment, at now: Moment, jitter: inout Jitter) -> Bool {
        guard let host = hosts[name], !host.isKnown else { return false }
        let hesitation = jitter.hesitation()
        change(name) { host in
            if host.search == nil { host.search = QuerySchedule(due: now + hesitation) }
            host.wantedUntil = max(until, host.wantedUntil ?? until)
        }
        return host.search == nil
    }

    /// Forgets the addresses of the host that has most, unless a resolution waits for them.
    mutating func giveWay() -> Bool {
        let idle = hosts.filter { $0.value.isKnown && $0.value.wantedUntil == nil }
        let most = idle.max { one, other in
            one.value.count == other.value.count ? one.key < other.key : one.value.count < other.value.count
        }
        guard let most else { return false }
        change(most.key) { host in
            host.v4 = Host().v4
            host.v6 = Host().v6
        }
        return true
    }

    mutating func expire(at now: Moment) {
        guard deadline <= now else { return }
        for name in hosts.keys {
            change(name) { host in
                host.v4.expire(at: now)
                host.v6.expire(at: now)
                if let until = host.wantedUntil, until <= now { (host.search, host.wantedUntil) = (nil, nil) }
            }
        }
    }

    mutating func takeQuestions(of families: Set<Family>, at now: Moment) -> [DueQuestion] {
        guard deadline <= now else { return [] }
        var due: [DueQuestion] = []
        for name in hosts.keys.sorted() {
            guard let search = hosts[name]?.search, search.due <= now else { continue }
            change(name) { $0.search?.asked(at: now) }
            for type in [DNSType.a, .aaaa] {
                due.append(DueQuestion(question: DNSQuestion(name, type), families: families))
            }
        }
        deadline = hosts.values.lazy.compactMap(\.deadline).min() ?? .distantFuture
        return due
    }

    private mutating func change(_ name: DNSName, _ body: (inout Host) -> Void) {
        guard var host = hosts.removeValue(forKey: name) else { return }
        count -= host.count
        byteCount -= host.byteCount
        body(&host)
        count += host.count
        byteCount += host.byteCount
        deadline = min(deadline, host.deadline ?? .distantFuture)
        hosts[name] = host
    }

    private mutating func drop(_ name: DNSName, _ host: Host) {
        count -= host.count
        byteCount -= host.byteCount
        hosts[name] = nil
        if hosts.isEmpty { deadline = .distantFuture }
    }
}
