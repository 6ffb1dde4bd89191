import FuzzBodies
import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import TestSupport

/// Members of one or several meshes, and links between them that deliver in order but at times of their own.
///
/// A link comes about when two seek each other and both have room; everything is drawn from one seed.
struct MeshSea {
    /// One direction of a link.
    struct Lane {
        let from: Endpoint
        let to: Endpoint
        var frames: [(at: Moment, entry: Members)] = []
    }

    enum Event {
        case wake(Endpoint)
        case deliver(ConnectionID, Int)
        case end(ConnectionID, Endpoint)
        case meet(Endpoint, Endpoint)
        case expire(Endpoint, UID)
    }

    let cap: Int
    private(set) var now = Moment(nanoseconds: 1_000_000_000)
    private(set) var members: [Endpoint: Membership] = [:]
    /// Both directions of every link that at least one end holds.
    private(set) var lanes: [ConnectionID: [Lane]] = [:]
    /// What is sought, since when.
    private var attempts: [Endpoint: [UID: (data: Endpoint, until: Moment)]] = [:]
    /// Ends that will notice that their link is gone.
    private var endings: [(id: ConnectionID, at: Moment, of: Endpoint, end: Ending)] = []
    private enum Ending { case lost, departed, dismissed }
    private var meetings: [(at: Moment, Endpoint, Endpoint)] = []
    private var wakes: [Endpoint: Moment] = [:]
    private(set) var left: [Endpoint] = []
    private(set) var dismissals = 0
    private(set) var violations: [Violation] = []
    private var lastConnection: UInt32 = 0
    var random: Seeded
    /// Who is no membership but whatever the test makes of it.
    var liar: Endpoint?
    /// Pairs that cannot reach each other.
    var walls: Set<Set<Endpoint>> = []

    init(cap: Int = 8, seed: UInt64) {
        self.cap = cap
        random = Seeded(seed)
    }

    mutating func add(_ endpoint: Endpoint) throws {
        var member = Membership(endpoint, peers: cap, seed: random.next())
        member.publish(try MeshCast.data(of: endpoint), at: now)
        members[endpoint] = member
        wakes[endpoint] = member.deadline
    }

    private mutating func soon(_ range: ClosedRange<Int> = 1...60) -> Moment {
        now + .milliseconds(Int.random(in: range, using: &random))
    }
}

// MARK: links

extension MeshSea {
    func links(of endpoint: Endpoint) -> [Endpoint] {
        lanes.values.flatMap { $0 }.filter { $0.from == endpoint }.map(\.to)
    }

    /// Members of the largest mesh.
    var largest: Int { (members.values.map(\.component.count).max() ?? 0) + 1 }

    func connection(_ one: Endpoint, _ other: Endpoint) -> ConnectionID? {
        lanes.first { $0.value.contains { $0.from == one && $0.to == other } }?.key
    }

    /// An invitation that was accepted, or two that seek each other: HELLO on both sides, and a link if there is room.
    mutating func meet(_ one: Endpoint, _ other: Endpoint) {
        guard connection(one, other) == nil, connection(other, one) == nil else { return }
        members[one]?.met(other, at: now)
        members[other]?.met(one, at: now)
        if admits(one, other), admits(other, one) {
            link(one, other)
        } else {
            for (this, that) in [(one, other), (other, one)] where attempts[this]?[that.uid] != nil {
                attempts[this]?[that.uid] = nil
                members[this]?.attemptEnded(that.uid, isHopeless: false, at: now)
            }
        }
        carryOut(one)
        carryOut(other)
    }

    private func admits(_ one: Endpoint, _ other: Endpoint) -> Bool {
        guard let member = members[one] else { return one == liar }
        let listed = members[other]?.component ?? []
        return links(of: one).count < cap - 1 && member.admits(other, listing: listed)
    }

    private mutating func link(_ one: Endpoint, _ other: Endpoint) {
        lastConnection += 1
        let id = ConnectionID(rawValue: lastConnection)
        lanes[id] = [Lane(from: one, to: other), Lane(from: other, to: one)]
        for lane in lanes[id] ?? [] {
            attempts[lane.from]?[lane.to.uid] = nil
            members[lane.from]?.linked(id, to: lane.to, isMesh: true, at: now)
        }
    }

    /// Nothing gets through any more; each end notices in its own time.
    mutating func cut(_ id: ConnectionID) {
        for lane in lanes[id] ?? [] { endings.append((id, soon(1...9_000), lane.from, .lost)) }
        for place in lanes[id]?.indices ?? 0..<0 { lanes[id]?[place].frames = [] }
    }

    private mutating func leave(_ endpoint: Endpoint) {
        left.append(endpoint)
        members[endpoint] = nil
        attempts[endpoint] = nil
        for (id, pair) in lanes.sorted(by: { $0.key < $1.key })
        where pair.contains(where: { $0.from == endpoint }) {
            lanes[id]?.removeAll { $0.from == endpoint }
            for lane in pair where lane.to == endpoint { endings.append((id, soon(), lane.from, .departed)) }
        }
    }

    private mutating func dismiss(_ id: ConnectionID, by endpoint: Endpoint) {
        dismissals += 1
        for lane in lanes[id] ?? [] where lane.to == endpoint {
            endings.append((id, soon(), lane.from, .dismissed))
        }
        lanes[id]?.removeAll { $0.from == endpoint }
        members[endpoint]?.linkEnded(id, hasDeparted: false, at: now)
    }

    mutating func say(_ entry: Members, from endpoint: Endpoint, on id: ConnectionID) {
        guard !endings.contains(where: { $0.id == id }),
            let place = lanes[id]?.firstIndex(where: { $0.from == endpoint })
        else { return }
        let last = lanes[id]?[place].frames.last?.at ?? now
        let arrival = max(last, soon())
        lanes[id]?[place].frames.append((arrival, entry))
    }
}

// MARK: time

extension MeshSea {
    mutating func run(_ duration: Duration) {
        let end = now + duration
        while let (moment, event) = next(), moment <= end {
            now = max(now, moment)
            handle(event)
        }
        now = end
    }

    private func next() -> (Moment, Event)? {
        var best: (Moment, Event)?
        func offer(_ moment: Moment?, _ event: Event) {
            if let moment, moment < best?.0 ?? .distantFuture { best = (moment, event) }
        }
        for (endpoint, moment) in wakes.sorted(by: { $0.key < $1.key }) { offer(moment, .wake(endpoint)) }
        for (id, pair) in lanes.sorted(by: { $0.key < $1.key }) {
            for place in pair.indices { offer(pair[place].frames.first?.at, .deliver(id, place)) }
        }
        for ending in endings { offer(ending.at, .end(ending.id, ending.of)) }
        for meeting in meetings { offer(meeting.at, .meet(meeting.1, meeting.2)) }
        for (endpoint, sought) in attempts.sorted(by: { $0.key < $1.key }) {
            for (uid, attempt) in sought.sorted(by: { $0.key < $1.key }) {
                offer(attempt.until, .expire(endpoint, uid))
            }
        }
        return best
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .wake(let endpoint):
            members[endpoint]?.advance(to: now)
            carryOut(endpoint)
        case .deliver(let id, let place): deliver(id, place)
        case .end(let id, let endpoint): noticeEnd(of: id, at: endpoint)
        case .meet(let one, let other):
            meetings.removeAll { ($0.1, $0.2) == (one, other) }
            if seeks(one, other), seeks(other, one) { meet(one, other) }
        case .expire(let endpoint, let uid):
            attempts[endpoint]?[uid] = nil
            members[endpoint]?.attemptEnded(uid, isHopeless: false, at: now)
            carryOut(endpoint)
        }
    }

    private mutating func deliver(_ id: ConnectionID, _ place: Int) {
        guard let lane = lanes[id]?[place], let frame = lanes[id]?[place].frames.removeFirst() else { return }
        do throws(Violation) {
            try members[lane.to]?.receive(frame.entry, on: id, at: now)
        } catch {
            if lane.from != liar { violations.append(error) }
        }
        carryOut(lane.to)
    }

    private mutating func noticeEnd(of id: ConnectionID, at endpoint: Endpoint) {
        let ends = endings.filter { $0.id == id && $0.of == endpoint }.map(\.end)
        endings.removeAll { $0.id == id && $0.of == endpoint }
        lanes[id]?.removeAll { $0.from == endpoint }
        if lanes[id]?.isEmpty == true { lanes[id] = nil }
        members[endpoint]?.linkEnded(
            id, hasDeparted: ends.contains(.departed), isDismissed: ends.contains(.dismissed), at: now)
        carryOut(endpoint)
    }

    private func seeks(_ one: Endpoint, _ other: Endpoint) -> Bool {
        if one == liar { return true }
        return attempts[one]?[other.uid]?.data == other
    }

    private mutating func carryOut(_ endpoint: Endpoint) {
        for action in members[endpoint]?.takeActions() ?? [] {
            switch action {
            case .tell(let id, let entry): say(entry, from: endpoint, on: id)
            case .seek(let data, _):
                attempts[endpoint, default: [:]][data.peer.uid] = (data.endpoint, now + .seconds(30))
                guard seeks(data.endpoint, endpoint), !walls.contains([endpoint, data.endpoint]) else {
                    continue
                }
                meetings.append((soon(), endpoint, data.endpoint))
            case .withdraw(let uid): attempts[endpoint]?[uid] = nil
            case .dismiss(let id): dismiss(id, by: endpoint)
            case .leave: leave(endpoint)
            }
        }
        wakes[endpoint] = members[endpoint]?.deadline
    }
}
