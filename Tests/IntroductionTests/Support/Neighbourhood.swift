import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity
import TestSupport
import Testing

/// Peers, the connections between them, and the time: what drivers and a network are to `Introductions`. A seed decides
/// everything.
final class Neighbourhood {
    var now = Moment(nanoseconds: 1_000_000_000)
    var nodes: [Node] = []
    var wires: [Wire] = []
    var dice: Seeded
    /// One way, in milliseconds.
    var latency = 1...20
    /// Changes a frame on its way; nil loses it.
    var interfere: ([UInt8], _ sender: Int) -> [UInt8]? = { frame, _ in frame }
    /// Sees each frame that is sent, with its sender and its connection.
    var listen: (_ kind: FrameKind, _ sender: Int, _ wire: Int) -> Void = { _, _, _ in }
    /// Addresses that never answer.
    var silentAddresses: Set<[UInt8]> = []
    /// What was broken that must hold always.
    var complaints: [String] = []

    struct Item {
        let moment: Moment
        let order: Int
        let act: () -> Void
    }
    var agenda: [Item] = []
    var posted = 0
    var places: [Int: [ConnectionID: (wire: Int, end: Int)]] = [:]

    /// Peers in ascending order of their uids.
    init(
        _ preferences: [EncryptionPreference] = [.optional, .optional], identities: Set<Int> = [],
        seats: Int = 7,
        seed: UInt64
    ) throws {
        dice = Seeded(seed)
        for (number, preference) in preferences.enumerated() {
            let uid = UID(high: UInt64(number) << 32 | dice.next() >> 32, low: dice.next())
            nodes.append(
                try Node(
                    number, preference: preference, hasIdentity: identities.contains(number), seats: seats,
                    uid: uid, seed: dice.next()))
        }
    }
}

extension Neighbourhood {
    /// The data that `issuer` has for `holder`.
    @discardableResult
    func data(from issuer: Int, for holder: Int, isOpen: Bool = false, candidates: [Candidate]? = nil) throws
        -> ConnectionData
    {
        let own = try #require(Candidate(address: nodes[issuer].address, port: nodes[issuer].port))
        let token = dice.bytes(32)
        return try nodes[issuer].machine.connectionData(
            for: isOpen ? nil : nodes[holder].uid, candidates: candidates ?? [own], token: token, at: now)
    }

    /// `one` seeks `other`; both have issued their data by then.
    @discardableResult
    func connect(
        _ one: Int, to other: Int, with given: ConnectionData? = nil, within patience: Duration = .seconds(30)
    ) throws -> Bool {
        if given == nil { try data(from: one, for: other) }
        let data = try given ?? self.data(from: other, for: one)
        let isNew = try nodes[one].machine.connect(with: data, zones: [1, 2], within: patience, at: now)
        nodes[one].held[data.peer.uid] = data
        if isNew { nodes[one].open.insert(data.peer.uid) }
        carryOut(one)
        return isNew
    }

    /// The application lets go of a link.
    func hangUp(_ one: Int, on other: Int) throws {
        let id = try #require(nodes[one].links[nodes[other].uid])
        let (wire, end) = try #require(places[one]?[id])
        post(Frame.close(.goodbye, reason: ""), on: wire, from: end)
        finish(wire, end)
        endLink(one, id, mayResume: false)
    }

    func cancel(_ one: Int, _ other: Int) {
        nodes[one].machine.cancel(nodes[other].uid, at: now)
        carryOut(one)
    }

    func after(_ delay: Duration, _ act: @escaping () throws -> Void) {
        schedule(now + delay) {
            do { try act() } catch { self.complaints.append("\(error)") }
        }
    }

    func run(for duration: Duration) {
        let end = now + duration
        while let next = nextMoment, next <= end {
            now = max(now, next)
            if let item = popDue() {
                item.act()
            } else {
                for index in nodes.indices where nodes[index].machine.deadline.map({ $0 <= now }) == true {
                    nodes[index].machine.advance(to: now)
                    if let again = nodes[index].machine.deadline, again <= now {
                        complaints.append("peer \(index) has a deadline in the past after advancing")
                        return
                    }
                    carryOut(index)
                }
            }
        }
        now = end
    }

    /// Both hold one link to each other, and it is the same connection.
    func areLinked(_ one: Int, _ other: Int) -> Bool {
        guard let here = nodes[one].links[nodes[other].uid], let there = nodes[other].links[nodes[one].uid],
            let place = places[one]?[here], let far = places[other]?[there]
        else { return false }
        return place.wire == far.wire && place.end != far.end && !wires[place.wire].isDead
    }

    func linkedWire(_ one: Int, _ other: Int) -> Int? {
        nodes[one].links[nodes[other].uid].flatMap { places[one]?[$0]?.wire }
    }

    /// Starts a new session of the same peer; the connections of the old one die, without a word if `isSilent`.
    func restart(_ one: Int, isSilent: Bool) throws {
        let old = nodes[one]
        for wire in wires.indices where !wires[wire].isDead && wires[wire].nodes.contains(one) {
            wires[wire].isDead = true
            for end in [0, 1] {
                if wires[wire].nodes[end] == one {
                    wires[wire].isOver[end] = true
                } else if !isSilent {
                    notice(wire, end, after: dice.milliseconds(latency))
                }
            }
        }
        places[one] = [:]
        nodes[one] = try Node(
            one, preference: old.local.preference, hasIdentity: old.local.hasIdentity, seats: 7, uid: old.uid,
            seed: dice.next())
    }
}

extension Neighbourhood {
    func schedule(_ moment: Moment, _ act: @escaping () -> Void) {
        posted += 1
        agenda.append(Item(moment: moment, order: posted, act: act))
    }

    var nextMoment: Moment? {
        (agenda.map(\.moment) + nodes.compactMap(\.machine.deadline)).min()
    }

    func popDue() -> Item? {
        let due = agenda.indices.filter { agenda[$0].moment <= now }
        guard
            let first = due.min(by: {
                (agenda[$0].moment, agenda[$0].order) < (agenda[$1].moment, agenda[$1].order)
            })
        else { return nil }
        return agenda.remove(at: first)
    }
}
