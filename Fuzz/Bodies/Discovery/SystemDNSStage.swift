import MultipeerCore
import MultipeerDiscovery

/// Discovery by a responder that the input plays: it replies to the operations that run, as a responder would or not.
/// Everything that is started, ended and reported is checked against what is promised.
struct SystemDNSStage: FuzzStage {
    private static let interfaces: [UInt32] = [2, 3]
    private static let loopback: UInt32 = 1

    private let cast: DNSFixture
    private let hosts: [DNSName]
    private var dns: SystemDNS
    private var now = Moment(nanoseconds: 1_000_000_000)
    private var running: [SystemDNS.OperationID: SystemDNS.Operation] = [:]
    /// The latest operations that have ended, at most 16, with what they were.
    private var ended: [(id: SystemDNS.OperationID, operation: SystemDNS.Operation)] = []
    private var lastStarted: SystemDNS.OperationID?
    private var adverts: [AdvertID] = []
    /// The advertisements of which it was reported that they are registered.
    private var registered: Set<AdvertID> = []
    /// Whether a loopback address was found where it means this machine.
    private var hasLoopback = false
    private var browses: [BrowseID: ReportedPeers] = [:]
    /// The resolves that have not ended, and when they must.
    private var resolves: [ResolveID: Moment] = [:]

    init(_ choice: UInt8) throws(BrokenPromise) {
        cast = try DNSFixture()
        hosts = ["stranger.local", "a b.local", "host.example", "local"]
        dns = SystemDNS(
            interfaces: choice & 1 == 0 ? [0] : Self.interfaces, loopback: [Self.loopback],
            countsRepeats: choice & 2 == 2)
    }

    mutating func step(_ input: inout InputReader) throws {
        let choice = input.byte()
        switch choice & 0x1F {
        case 0: try wait(.milliseconds(Int(input.byte())))
        case 1, 2: try wait(.milliseconds(100 * Int(input.byte())))
        case 3: try advertise(input.byte())
        case 4: try withdraw(input.byte())
        case 5: try update(input.byte())
        case 6, 7: try browse(input.byte())
        case 8: try stopBrowsing(input.byte())
        case 9, 10: try resolve(input.byte())
        case 11: try reconfirm(input.byte())
        case 12...14: try fail(input.byte(), status: input.byte())
        case 15: try replyLate(input.byte(), &input)
        case 16: try findMany(input.byte(), isAdded: choice & 0x80 == 0, first: input.byte())
        default: try reply(input.byte(), &input)
        }
    }

    /// Ends everything that was begun; then nothing runs, and nothing is waited for.
    mutating func settle() throws {
        try wait(.seconds(30))
        try promise(resolves.isEmpty, "every resolution ends in time")
        while !adverts.isEmpty { try withdraw(0) }
        while !browses.isEmpty { try stopBrowsing(0) }
        try promise(running.isEmpty && dns.isIdle, "without a request nothing runs")
        try promise(dns.deadline == nil, "without a request there is no deadline")
    }
}

/// Calls.
extension SystemDNSStage {
    /// Lets time pass, with everything that falls due in it.
    private mutating func wait(_ duration: Duration) throws(BrokenPromise) {
        let end = now + duration
        var steps = 0
        while let next = dns.deadline, next <= end {
            now = max(now, next)
            try use { dns, now in dns.advance(to: now) }
            steps += 1
            try promise(steps <= 10_000, "deadlines do not repeat without end")
        }
        now = end
        try use { dns, now in dns.advance(to: now) }
    }

    private mutating func advertise(_ choice: UInt8) throws(BrokenPromise) {
        if let id = try? dns.advertise(cast.advert(choice), at: now) { adverts.append(id) }
        try look()
    }

    private mutating func withdraw(_ choice: UInt8) throws(BrokenPromise) {
        guard !adverts.isEmpty else { return }
        let id = adverts.remove(at: Int(choice) % adverts.count)
        try use { dns, _ in dns.withdraw(id) }
    }

    private mutating func update(_ choice: UInt8) throws(BrokenPromise) {
        guard !adverts.isEmpty else { return }
        let id = adverts[Int(choice & 15) % adverts.count]
        let (info, port) = (cast.info(choice), 1_024 + UInt16(choice & 1))
        try use { dns, now in dns.update(id, info: info, port: port, at: now) }
    }

    private mutating func browse(_ choice: UInt8) throws(BrokenPromise) {
        let hidden = choice & 0x80 == 0 ? nil : cast.peer(choice).uid
        if let id = try? dns.browse(cast.type(choice), hiding: hidden, at: now) {
            browses[id] = ReportedPeers(hidden: hidden)
        }
        try look()
    }

    private mutating func stopBrowsing(_ choice: UInt8) throws(BrokenPromise) {
        let ids = browses.keys.sorted()
        guard !ids.isEmpty else { return }
        let id = ids[Int(choice) % ids.count]
        browses[id] = nil
        try use { dns, _ in dns.stopBrowsing(id) }
    }

    private mutating func resolve(_ choice: UInt8) throws(BrokenPromise) {
        let within = Duration.milliseconds(100 * Int(choice))
        let id = dns.resolve(cast.peer(choice).uid, of: cast.type(choice), within: within, at: now)
        resolves[id] = now + within
        try look()
    }

    private mutating func reconfirm(_ choice: UInt8) throws(BrokenPromise) {
        let (uid, type) = (cast.peer(choice).uid, cast.type(choice))
        try use { dns, _ in dns.reconfirm(uid, of: type) }
    }
}

/// The responder.
extension SystemDNSStage {
    /// Returns an operation that runs: one of the first 128, or of the last.
    private func operation(_ choice: UInt8) -> SystemDNS.OperationID? {
        let ids = running.keys.sorted()
        guard !ids.isEmpty else { return nil }
        let place = Int(choice & 0x7F) % ids.count
        return choice & 0x80 == 0 ? ids[place] : ids[ids.count - 1 - place]
    }

    private mutating func fail(_ choice: UInt8, status: UInt8) throws(BrokenPromise) {
        guard let id = operation(choice) else { return }
        // The statuses of dns_sd.h.
        guard let fault = ResponderFault(status: -65_536 - Int32(status & 63)) else { return }
        try use { dns, now in dns.receive(.failed(fault), from: id, at: now) }
        try promise(running[id] == nil, "an operation that failed is ended")
    }

    private mutating func reply(_ choice: UInt8, _ input: inout InputReader) throws(BrokenPromise) {
        guard let id = operation(choice), let operation = running[id] else { return }
        let event = event(for: operation, &input)
        try use { dns, now in dns.receive(event, from: id, at: now) }
    }

    /// Replies to an operation that has ended, or to one of another kind.
    private mutating func replyLate(_ choice: UInt8, _ input: inout InputReader) throws(BrokenPromise) {
        guard !ended.isEmpty else { return }
        let late = ended[Int(choice & 0x7F) % ended.count]
        let event = event(for: late.operation, &input)
        if choice & 0x80 == 0 {
            dns.receive(event, from: late.id, at: now)
            try promise(dns.takeActions().isEmpty, "what comes for an operation that has ended is ignored")
        } else if let id = operation(choice) {
            try use { dns, now in dns.receive(event, from: id, at: now) }
        }
    }

    /// Finds or loses many instances at once, each of a peer of its own.
    private mutating func findMany(
        _ count: UInt8, isAdded: Bool, first: UInt8
    ) throws(BrokenPromise) {
        let browse = running.filter { if case .browse = $0.value { true } else { false } }.keys.min()
        guard let browse else { return }
        for number in 0..<2 * UInt64(count) {
            let uid = UID(high: 1_000 + UInt64(first) + number, low: 0)
            guard let peer = try? PeerID(validating: uid, displayName: "x") else { return }
            let label = Binding.label(for: peer)
            try use { dns, now in
                dns.receive(.instance(label: label, isAdded: isAdded, interface: 2), from: browse, at: now)
            }
        }
    }

    private mutating func event(
        for operation: SystemDNS.Operation, _ input: inout InputReader
    ) -> SystemDNS.Event {
        let bits = input.byte()
        let interface = UInt32(bits >> 4 & 3)
        let (isAdded, isRaw) = (bits & 0x80 == 0, bits & 15 == 15)
        switch operation {
        case .register(let label, _, _, _, _):
            return .registered(label: isRaw ? input.bytes(Int(input.byte())) : Array(label.utf8))
        case .browse:
            let peer = cast.peer(bits << 1)
            let label =
                isRaw
                ? input.bytes(Int(input.byte())) : Binding.label(for: peer, attempt: bits & 8 == 0 ? 0 : 1)
            return .instance(label: label, isAdded: isAdded, interface: interface)
        case .query(let name, let type, _):
            let data =
                isRaw ? input.bytes(Int(input.byte())) : data(type, name, input.byte(), alters: bits & 8 == 8)
            // Sometimes the record is of a type that was not asked for.
            let given: DNSType = bits & 0x0F == 7 ? .txt : type
            if interface == Self.loopback, type == .a || type == .aaaa { hasLoopback = true }
            return .record(given, data, isAdded: isAdded, interface: interface)
        }
    }

    private func data(_ type: DNSType, _ name: DNSName, _ value: UInt8, alters: Bool) -> [UInt8] {
        switch type {
        case .srv:
            let host = hosts[Int(value) % hosts.count].wire
            return [0, 0, 0, 0, value & 4, value] + (alters ? host.dropLast() : host[...])
        case .txt:
            // Of the instance whose name was asked for, or of another.
            let uid = name.labels.first.flatMap { Binding.uid(inLabel: $0) }
            let own = (0..<8).map { cast.peer($0 << 1) }.first { $0.uid == uid }
            return Binding.txt(alters ? cast.peer(value) : own ?? cast.peer(value), cast.info(value))
        case .a: return alters ? [127, 0, 0, value] : [10, 0, 0, value]
        default:
            let head: [UInt8] = alters ? [0, 0] : [0xFE, 0x80]
            return head + [UInt8](repeating: 0, count: 13) + [value]
        }
    }
}

/// What the engine orders and reports.
extension SystemDNSStage {
    private mutating func use(_ body: (inout SystemDNS, Moment) -> Void) throws(BrokenPromise) {
        body(&dns, now)
        try look()
    }

    /// Takes the actions, and checks them and the state.
    private mutating func look() throws(BrokenPromise) {
        let actions = dns.takeActions()
        // Each of 64 browses may lose each of 256 peers.
        try promise(actions.count <= 20_000, "the number of actions at once is bounded")
        for action in actions { try take(action) }
        try checkCounts()
        try promise(dns.deadline.map { $0 > now } ?? true, "the deadline advances")
        try promise(resolves.values.allSatisfy { $0 > now }, "a resolution ends in time")
    }

    /// Checks how many operations of each kind run.
    private func checkCounts() throws(BrokenPromise) {
        var (registrations, records, addresses) = (0, 0, 0)
        var browsed: [ServiceType: Int] = [:]
        for operation in running.values {
            switch operation {
            case .register: registrations += 1
            case .browse(let type, _): browsed[type, default: 0] += 1
            case .query(_, .srv, _), .query(_, .txt, _): records += 1
            case .query: addresses += 1
            }
        }
        try promise(
            registrations <= 2 * adverts.count, "each advertisement has a registration on each interface")
        try promise(browsed.values.allSatisfy { $0 <= 2 }, "a type is browsed once on each interface")
        // There are two types. Records are queried as well while a browse that has failed waits for its next start.
        try promise(records <= 2 * 2 * 64, "at most 64 instances of a type are queried")
        try promise(addresses <= 2 * 32, "at most 32 hosts are queried")
        try promise(adverts.count + browses.count <= SystemDNS.mostOrders, "requests have a limit")
    }

    private mutating func take(_ action: SystemDNS.Action) throws(BrokenPromise) {
        switch action {
        case .start(let id, let operation):
            try promise(lastStarted.map { $0 < id } ?? true, "an operation has a number of its own")
            lastStarted = id
            running[id] = operation
            try check(operation)
        case .update(let id, let txt):
            let isRegistration = if case .register? = running[id] { true } else { false }
            try promise(isRegistration, "only a registration that runs is updated")
            try promise(txt.count <= Binding.longestTXT, "a TXT record has a limit")
        case .end(let id):
            guard let operation = running.removeValue(forKey: id) else {
                throw BrokenPromise(description: "an operation is ended once")
            }
            ended = ended.suffix(15) + [(id, operation)]
        case .reconfirm(_, let type, _, _):
            try promise(type == .srv || type == .ptr, "SRV and PTR records are checked")
        case .registered(let id):
            try promise(adverts.contains(id), "an advertisement that was withdrawn has no outcome")
            try promise(registered.insert(id).inserted, "an advertisement is registered once")
        case .refused(let id, _):
            try promise(adverts.contains(id), "an advertisement that was withdrawn has no outcome")
            try promise(!registered.contains(id), "an advertisement is not refused after it was registered")
        case .browse(let id, let uid, let peer):
            guard var browse = browses[id] else {
                throw BrokenPromise(description: "a stopped browser receives an event")
            }
            try browse.hear(peer, uid)
            browses[id] = browse
        case .resolved(let id, let resolution):
            try promise(resolves.removeValue(forKey: id) != nil, "a resolution ends once")
            try check(resolution)
        }
    }

    private func check(_ operation: SystemDNS.Operation) throws(BrokenPromise) {
        switch operation {
        case .register(let label, _, _, let txt, _):
            try promise(label.utf8.count <= 63, "a label has at most 63 bytes")
            try promise(Binding.uid(inLabel: Array(label.utf8)) != nil, "a label ends with the uid")
            try promise(txt.count <= Binding.longestTXT, "a TXT record has a limit")
        case .browse: break
        case .query(let name, let type, _):
            let labels = name.labels.map { String(decoding: $0, as: UTF8.self).lowercased() }
            try promise(labels.count > 1 && labels.last == "local", "only names of the link are asked for")
            try promise([.srv, .txt, .a, .aaaa].contains(type), "only those records are asked for")
        }
    }

    private func check(_ resolution: Resolution) throws(BrokenPromise) {
        try promise(resolution.candidates.count <= 32, "a peer has at most 32 addresses")
        for candidate in resolution.candidates {
            try promise(
                candidate.isDialable(allowingLoopback: hasLoopback),
                "an address can be dialled, and one of this machine was found on its own interface")
        }
    }
}

extension FuzzBody {
    /// A script of requests, and of a responder's replies.
    package static let systemDNS = FuzzBody("system-dns") { bytes throws(BrokenPromise) in
        try play(bytes, steps: 512) { input throws(BrokenPromise) in try SystemDNSStage(input.byte()) }
    }
}
