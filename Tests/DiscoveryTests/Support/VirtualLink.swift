import MultipeerCore
import MultipeerDiscovery
import Testing

/// Engines on links without a network, with a clock of their own: everything happens in one order for one seed.
struct VirtualLink {
    private(set) var now = Moment(nanoseconds: 1_000_000_000)
    private(set) var engines: [MulticastDNS] = []
    /// The engines' reports to their owners.
    private(set) var told: [(at: Duration, engine: Int, action: Told)] = []
    /// All datagrams that engines sent, whether or not they arrived.
    private(set) var sent: [Sent] = []
    /// Deadlines that were not in the future after `advance`.
    private(set) var stuck = 0
    var conditions = Conditions()

    private var browses: [Browse: BrowseReader] = [:]
    private var members: [UInt32: [Int]] = [:]
    private var underWay: [UnderWay] = []
    private var stopped: Set<Int> = []
    private var deadlines: [Moment?] = []
    private var dice: Jitter
    private let isShared: Bool

    enum Told: Equatable {
        case registered(AdvertID)
        case renamed(AdvertID)
        case browse(BrowseID, DiscoveredPeer.Event)
        case resolved(ResolveID, Resolution)
        case duplicated(UID, by: [[UInt8]])
    }

    private struct Browse: Hashable {
        let engine: Int
        let id: BrowseID
    }

    struct Conditions {
        /// Of 100 datagrams to one receiver, how many are lost, and how many are duplicated.
        var loss = 0
        var twice = 0
        var delay: ClosedRange<Int64> = 200_000...400_000
        /// The groups of engines, which receive only from their own group; empty: all receive from all.
        var groups: [Int: Int] = [:]
    }

    struct Sent {
        let at: Duration
        let engine: Int
        let scope: UInt32
        let way: OutgoingMessage.Destination
        let count: Int
        let message: DNSMessage
    }

    private struct UnderWay {
        let at: Moment
        let to: Int
        let bytes: [UInt8]
        let arrival: PacketInfo
    }

    /// Creates a link; with `isShared` all engines have the address of one machine's loopback interface.
    init(seed: UInt64 = 1, isShared: Bool = false) {
        dice = Jitter(seed: seed)
        self.isShared = isShared
    }

    static let origin = Moment(nanoseconds: 1_000_000_000)

    /// The time since the beginning.
    var time: Duration { now - VirtualLink.origin }

    func scope(_ id: UInt32, of engine: Int) -> Scope {
        if isShared {
            return Scope(
                id: id, isLoopback: true, addresses: [Scope.Address([127, 0, 0, 1], prefix: 8)],
                families: [.v4], mtu: 65_536)
        }
        let address = [10, 0, UInt8(id), UInt8(engine + 1)]
        return Scope(id: id, addresses: [Scope.Address(address, prefix: 24)], families: [.v4], mtu: 1_500)
    }

    /// Adds an engine, and returns its number.
    @discardableResult
    mutating func add(on links: [UInt32] = [1], knownUnique: Bool = true, hostTTL: UInt32 = 120) -> Int {
        let engine = engines.count
        engines.append(
            MulticastDNS(host: dice.next(), seed: dice.next(), hostTTL: hostTTL, knownUnique: knownUnique))
        deadlines.append(nil)
        for link in links { attach(engine, to: link) }
        return engine
    }

    mutating func attach(_ engine: Int, to link: UInt32) {
        members[link, default: []].append(engine)
        use(engine) {
            $0.scopeChanged($2, at: $1)
        } with: {
            $0.scope(link, of: engine)
        }
    }

    mutating func detach(_ engine: Int, from link: UInt32) {
        members[link]?.removeAll { $0 == engine }
        use(engine) { engine, now, _ in
            engine.scopeGone(link, at: now)
        } with: { _ in
        }
    }

    /// Kills the process of an engine, without a goodbye.
    mutating func kill(_ engine: Int) {
        stopped.insert(engine)
        underWay.removeAll { $0.to == engine }
    }

    /// Resumes an engine that was stopped, and received nothing meanwhile.
    mutating func resume(_ engine: Int) { stopped.remove(engine) }

    /// Calls an engine, and carries out its actions.
    @discardableResult
    mutating func with<Result, Failure: Error>(
        _ engine: Int, _ body: (inout MulticastDNS, Moment) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try body(&engines[engine], now)
        carryOut(engine)
        return result
    }

    private mutating func use<Value>(
        _ engine: Int, _ body: (inout MulticastDNS, Moment, Value) -> Void, with value: (VirtualLink) -> Value
    ) {
        let value = value(self)
        with(engine) { body(&$0, $1, value) }
    }

    /// Sends bytes on a link that come from no engine.
    mutating func inject(_ bytes: [UInt8], on link: UInt32 = 1, from: [UInt8], port: UInt16 = 5353) {
        let arrival = PacketInfo(scope: link, family: .v4, from: from, port: port)
        for member in members[link] ?? [] { deliver(bytes, arrival, to: member) }
    }

    mutating func inject(
        _ message: DNSMessage, on link: UInt32 = 1, from: [UInt8] = [10, 0, 1, 99], port: UInt16 = 5353
    ) throws {
        inject(try message.encoded(), on: link, from: from, port: port)
    }
}

/// Time.
extension VirtualLink {
    mutating func run(for duration: Duration) {
        let end = now + duration
        while let next = nextMoment, next <= end {
            now = max(now, next)
            step()
        }
        now = end
    }

    /// Runs until the condition holds; records an issue when it does not in time.
    mutating func run(
        within duration: Duration, until isSo: (VirtualLink) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let end = now + duration
        while !isSo(self) {
            guard let next = nextMoment, next <= end else {
                now = end
                #expect(isSo(self), "not within \(duration)", sourceLocation: sourceLocation)
                return
            }
            now = max(now, next)
            step()
        }
    }

    private var nextMoment: Moment? {
        var next: Moment?
        for engine in deadlines.indices where !stopped.contains(engine) {
            guard let deadline = deadlines[engine] else { continue }
            next = min(next ?? deadline, deadline)
        }
        for datagram in underWay { next = min(next ?? datagram.at, datagram.at) }
        return next
    }

    private mutating func step() {
        let due = underWay.filter { $0.at <= now }
        underWay.removeAll { $0.at <= now }
        for datagram in due where !stopped.contains(datagram.to) {
            engines[datagram.to].receive(datagram.bytes.span, datagram.arrival, at: now)
            carryOut(datagram.to)
        }
        for engine in engines.indices where !stopped.contains(engine) {
            guard let deadline = deadlines[engine], deadline <= now else { continue }
            engines[engine].advance(to: now)
            carryOut(engine)
            if let again = deadlines[engine], again <= now { stuck += 1 }
        }
    }
}

/// Datagrams.
extension VirtualLink {
    private mutating func carryOut(_ engine: Int) {
        defer { deadlines[engine] = engines[engine].deadline }
        for action in engines[engine].takeActions() {
            switch action {
            case .multicast(let bytes, let scope, _):
                note(bytes, engine, scope, .multicast)
                send(bytes, engine, on: scope, port: 5353)
            case .ask(let bytes, let scope, _):
                note(bytes, engine, scope, .ask)
                send(bytes, engine, on: scope, port: oneShotPort(engine))
            case .unicast(let bytes, let scope, let family, let address, let port):
                note(bytes, engine, scope, .unicast(to: address, port: port))
                let from = self.scope(scope, of: engine).addresses[0].bytes
                let arrival = PacketInfo(
                    scope: scope, family: family, from: from, port: 5353, isOneShot: true)
                for member in members[scope] ?? [] where oneShotPort(member) == port {
                    let isMine = self.scope(scope, of: member).addresses.contains { $0.bytes == address }
                    if isMine, canHear(engine, member) { deliver(bytes, arrival, to: member) }
                }
            case .registered(let id): told.append((time, engine, .registered(id)))
            case .renamed(let id): told.append((time, engine, .renamed(id)))
            case .browse(let id, let uid, let peer):
                for event in browses[Browse(engine: engine, id: id), default: BrowseReader()].note(uid, peer)
                {
                    told.append((time, engine, .browse(id, event)))
                }
            case .returned: break
            case .resolved(let id, let resolution): told.append((time, engine, .resolved(id, resolution)))
            case .duplicated(let uid, let addresses):
                told.append((time, engine, .duplicated(uid, by: addresses)))
            }
        }
    }

    private func oneShotPort(_ engine: Int) -> UInt16 { UInt16(40_000 + engine) }

    private func canHear(_ one: Int, _ other: Int) -> Bool {
        conditions.groups[one] == conditions.groups[other]
    }

    /// Delivers a copy to every engine, including the sender, whose copy is never lost or changed.
    private mutating func send(_ bytes: [UInt8], _ engine: Int, on link: UInt32, port: UInt16) {
        let from = scope(link, of: engine).addresses[0].bytes
        let arrival = PacketInfo(scope: link, family: .v4, from: from, port: port)
        for member in members[link] ?? [] {
            if member == engine {
                underWay.append(UnderWay(at: now, to: member, bytes: bytes, arrival: arrival))
            } else if canHear(engine, member) {
                deliver(bytes, arrival, to: member)
            }
        }
    }

    private mutating func deliver(_ bytes: [UInt8], _ arrival: PacketInfo, to engine: Int) {
        if Int.random(in: 0..<100, using: &dice) < conditions.loss { return }
        let copies = Int.random(in: 0..<100, using: &dice) < conditions.twice ? 2 : 1
        for _ in 0..<copies {
            let delay = Duration.nanoseconds(Int64.random(in: conditions.delay, using: &dice))
            underWay.append(UnderWay(at: now + delay, to: engine, bytes: bytes, arrival: arrival))
        }
    }

    private mutating func note(
        _ bytes: [UInt8], _ engine: Int, _ scope: UInt32, _ way: OutgoingMessage.Destination
    ) {
        guard let message = try? DNSMessage(bytes.span) else {
            Issue.record("engine \(engine) sent what it cannot read")
            return
        }
        sent.append(
            Sent(at: time, engine: engine, scope: scope, way: way, count: bytes.count, message: message))
    }

    mutating func clearLog() {
        sent = []
        told = []
    }
}
