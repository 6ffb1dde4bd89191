import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity
import Testing

/// Peers, the connections between them, and the time: what drivers and a network are to `Introductions`. A seed decides
/// everything.
final class Neighbourhood {
    private(set) var now = Moment(nanoseconds: 1_000_000_000)
    var nodes: [Node] = []
    var wires: [Wire] = []
    var dice: Dice
    /// One way, in milliseconds.
    var latency = 1...20
    /// Changes a frame on its way; nil loses it.
    var interfere: ([UInt8], _ sender: Int) -> [UInt8]? = { frame, _ in frame }
    /// What was broken that must hold always.
    private(set) var complaints: [String] = []

    private struct Item {
        let moment: Moment
        let order: Int
        let act: () -> Void
    }
    private var agenda: [Item] = []
    private var posted = 0
    private var places: [Int: [ConnectionID: (wire: Int, end: Int)]] = [:]

    /// Peers in ascending order of their uids.
    init(
        _ preferences: [EncryptionPreference] = [.optional, .optional], identities: Set<Int> = [], seats: Int = 7,
        seed: UInt64
    ) throws {
        dice = Dice(seed: seed)
        for (number, preference) in preferences.enumerated() {
            let uid = UID(high: UInt64(number) << 32 | dice.next() >> 32, low: dice.next())
            nodes.append(
                try Node(
                    number, preference: preference, hasIdentity: identities.contains(number), seats: seats,
                    uid: uid, seed: dice.next()))
        }
    }
}

// MARK: what tests do

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

// MARK: what the machines ask for

extension Neighbourhood {
    func carryOut(_ index: Int) {
        while case let actions = nodes[index].machine.takeActions(), !actions.isEmpty {
            for action in actions { carryOut(action, of: index) }
        }
    }

    private func carryOut(_ action: Introductions.Action, of index: Int) {
        switch action {
        case .dial(let id, let candidate, let key): dial(id, candidate, key, from: index)
        case .send(let id, let frame):
            guard let (wire, end) = places[index]?[id] else { return complaints.append("sent on no connection") }
            post(frame, on: wire, from: end)
        case .close(let id, let code): close(id, code, of: index)
        case .ask(let uid, let id): ask(uid, id, of: index)
        case .link(let id, let data, remote: _): link(id, data.peer.uid, of: index)
        case .supersede(let id): leaveLink(id, of: index, .duplicate) { .superseded($0, id) }
        case .unanswered(let id): leaveLink(id, of: index, .timeout) { .unanswered($0, id) }
        case .probe(let id):
            guard let (wire, end) = places[index]?[id] else { return complaints.append("probed no link") }
            post(Frame.ping(7), on: wire, from: end)
        case .seek(let uid):
            nodes[index].events.append(.sought(uid))
            if !nodes[index].open.insert(uid).inserted, nodes[index].links[uid] != nil {
                complaints.append("sought while linked")
            }
        case .fail(let uid, let failure):
            if nodes[index].open.remove(uid) == nil { complaints.append("failed without an attempt") }
            nodes[index].events.append(.failed(uid, failure))
            insist(index, on: uid)
        }
    }

    private func dial(_ id: ConnectionID, _ candidate: Candidate, _ key: Fingerprint?, from index: Int) {
        nodes[index].dials.append(Node.Dial(moment: now, candidate: candidate, key: key))
        let wire = wires.count
        let delay = dice.milliseconds(latency)
        let target = nodes.firstIndex { $0.address == candidate.address && $0.port == candidate.port }
        wires.append(Wire(dialler: index, target: target ?? index, key: key, latency: delay))
        places[index, default: [:]][id] = (wire, 0)
        wires[wire].ids[0] = id
        schedule(now + delay) { [self] in
            guard !wires[wire].isOver[0], !wires[wire].isDead else { return }
            guard let target, nodes[target].isListening else {
                return schedule(now + delay) { [self] in lose(wire, 0, .unreachable("refused")) }
            }
            accept(wire, at: target)
        }
    }

    private func accept(_ wire: Int, at target: Int) {
        let id = nodes[target].machine.accepted(at: now)
        wires[wire].ids[1] = id
        places[target, default: [:]][id] = (wire, 1)
        carryOut(target)
        schedule(now + wires[wire].latency * 2) { [self] in secure(wire) }
    }

    /// What TLS, or the preface, comes to at the acceptor; the dialler learns of it a little later.
    private func secure(_ wire: Int) {
        guard !wires[wire].isDead, !wires[wire].isOver[1] else { return }
        guard !wires[wire].isOver[0] else { return lose(wire, 1, .lost) }
        let (dialler, acceptor) = (nodes[wires[wire].nodes[0]], nodes[wires[wire].nodes[1]])
        var channels = [SecuredChannel.plain, .plain]
        if let key = wires[wire].key {
            guard let own = dialler.local.fingerprint, acceptor.local.fingerprint == key,
                acceptor.machine.acceptedFingerprints.contains(own)
            else { return refuse(wire, .peer(.strangerCertificate)) }
            let binding = dice.bytes(32)
            channels = [.encrypted(key, binding: binding), .encrypted(own, binding: binding)]
        } else {
            guard acceptor.machine.awaitsPlain else { return refuse(wire, .peer(.notTLS)) }
        }
        wires[wire].isSecured = [true, true]
        let nonces = [dice.bytes(32), dice.bytes(32)]
        deliver(wire, to: 0) { [self] in
            guard let id = wires[wire].ids[0] else { return }
            nodes[wires[wire].nodes[0]].machine.secured(id, channels[0], nonce: nonces[0], at: now)
            carryOut(wires[wire].nodes[0])
        }
        guard let id = wires[wire].ids[1] else { return }
        nodes[wires[wire].nodes[1]].machine.secured(id, channels[1], nonce: nonces[1], at: now)
        carryOut(wires[wire].nodes[1])
    }

    private func refuse(_ wire: Int, _ fault: SecurityFault) {
        lose(wire, 1, .security(fault))
        deliver(wire, to: 0) { [self] in lose(wire, 0, .security(fault)) }
    }

    private func close(_ id: ConnectionID, _ code: CloseCode, of index: Int) {
        guard let (wire, end) = places[index]?[id] else { return complaints.append("closed no connection") }
        if wires[wire].isOver[end] { complaints.append("closed a connection that was over") }
        nodes[index].closes.append(code)
        if wires[wire].isSecured[end] { post(Frame.close(code, reason: ""), on: wire, from: end) }
        finish(wire, end)
    }

    private func ask(_ uid: UID, _ id: ConnectionID, of index: Int) {
        nodes[index].questions.append(id)
        let answer = { [self] (isTrusted: Bool) in
            nodes[index].machine.decide(uid, asked: id, isTrusted: isTrusted, at: now)
            carryOut(index)
        }
        switch nodes[index].trust {
        case .yes: answer(true)
        case .no: answer(false)
        case .never: break
        case .yesAfter(let delay): schedule(now + delay) { answer(true) }
        }
    }

    private func link(_ id: ConnectionID, _ uid: UID, of index: Int) {
        if nodes[index].links[uid] != nil { complaints.append("two links to one peer at \(index)") }
        if nodes[index].open.remove(uid) == nil, nodes[index].superseded.remove(uid) == nil {
            complaints.append("linked without an attempt")
        }
        nodes[index].superseded.remove(uid)
        nodes[index].links[uid] = id
        nodes[index].events.append(.linked(uid, id))
        // Like a driver, which tells the members at once.
        if let (wire, end) = places[index]?[id] { post(Frame.ping(1), on: wire, from: end) }
    }

    private func leaveLink(
        _ id: ConnectionID, of index: Int, _ code: CloseCode, _ event: (UID) -> Node.Event
    ) {
        guard let (uid, _) = nodes[index].links.first(where: { $0.value == id }), let (wire, end) = places[index]?[id]
        else { return complaints.append("left no link") }
        nodes[index].links[uid] = nil
        nodes[index].events.append(event(uid))
        if code == .duplicate { nodes[index].superseded.insert(uid) }
        post(Frame.close(code, reason: ""), on: wire, from: end)
        finish(wire, end)
    }

    private func insist(_ index: Int, on uid: UID) {
        guard nodes[index].insists else { return }
        after(.seconds(1)) { [self] in
            guard nodes[index].links[uid] == nil, let data = nodes[index].held[uid] else { return }
            guard let other = nodes.firstIndex(where: { $0.uid == uid }) else { return }
            try connect(index, to: other, with: data)
        }
    }
}

// MARK: the network

extension Neighbourhood {
    private func post(_ frame: Frame, on wire: Int, from end: Int) {
        var buffer = ByteBuffer()
        frame.encode(into: &buffer)
        post(buffer.takeAll(), on: wire, from: end)
    }

    private func post(_ frame: [UInt8], on wire: Int, from end: Int) {
        guard !wires[wire].isOver[end], let frame = interfere(frame, wires[wire].nodes[end]) else { return }
        deliver(wire, to: 1 - end) { [self] in receive(frame, on: wire, at: end == 0 ? 1 : 0) }
    }

    /// In order on each connection and direction, unless the connection dies first.
    private func deliver(_ wire: Int, to end: Int, _ act: @escaping () -> Void) {
        let moment = max(wires[wire].nextDelivery[end], now + wires[wire].latency)
        wires[wire].nextDelivery[end] = moment
        schedule(moment) { [self] in
            if !wires[wire].isDead, !wires[wire].isOver[end] { act() }
        }
    }

    private func receive(_ frame: [UInt8], on wire: Int, at end: Int) {
        let index = wires[wire].nodes[end]
        guard let id = wires[wire].ids[end] else { return }
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        let payload = Array(frame.dropFirst(FrameHeader.byteCount))
        let understood = try? Frame(header, payload.span)
        if case .close(let code, reason: _)? = understood { nodes[index].heard.append(code) }
        guard let uid = nodes[index].links.first(where: { $0.value == id })?.key else {
            nodes[index].machine.receive(id, header, payload.span, at: now)
            return carryOut(index)
        }
        switch understood {
        case .close(let code, reason: _):
            finish(wire, end)
            endLink(index, id, mayResume: !nodes[index].used.contains(id) && code != .goodbye)
        case .ping(let token) where nodes[index].answersProbes:
            nodes[index].used.insert(id)
            post(Frame.pong(token), on: wire, from: end)
        case .pong:
            nodes[index].used.insert(id)
            nodes[index].machine.probeAnswered(by: uid, at: now)
            carryOut(index)
        default: nodes[index].used.insert(id)
        }
    }

    /// This end is done with the connection; the other learns it behind everything that was sent.
    private func finish(_ wire: Int, _ end: Int) {
        wires[wire].isOver[end] = true
        guard wires[wire].ids[1 - end] != nil else { return }
        deliver(wire, to: 1 - end) { [self] in lose(wire, 1 - end, .lost) }
    }

    /// The connection dies: what is under way is lost, and each end notices in its own time.
    func kill(_ wire: Int, noticedWithin milliseconds: Int = 300) {
        guard !wires[wire].isDead else { return }
        wires[wire].isDead = true
        for end in [0, 1] { notice(wire, end, after: dice.milliseconds(0...milliseconds)) }
    }

    func notice(_ wire: Int, _ end: Int, after delay: Duration) {
        schedule(now + delay) { [self] in lose(wire, end, .lost) }
    }

    private func lose(_ wire: Int, _ end: Int, _ setback: Setback) {
        guard !wires[wire].isOver[end], let id = wires[wire].ids[end] else { return }
        wires[wire].isOver[end] = true
        let index = wires[wire].nodes[end]
        if nodes[index].links.values.contains(id) {
            endLink(index, id, mayResume: !nodes[index].used.contains(id))
        } else {
            nodes[index].machine.lost(id, setback, at: now)
            carryOut(index)
        }
    }

    private func endLink(_ index: Int, _ id: ConnectionID, mayResume: Bool) {
        guard let uid = nodes[index].links.first(where: { $0.value == id })?.key else { return }
        nodes[index].links[uid] = nil
        nodes[index].events.append(.ended(uid, id))
        nodes[index].machine.linkEnded(id, of: uid, mayResume: mayResume, at: now)
        carryOut(index)
        if !nodes[index].open.contains(uid) { insist(index, on: uid) }
    }
}

// MARK: the time

extension Neighbourhood {
    private func schedule(_ moment: Moment, _ act: @escaping () -> Void) {
        posted += 1
        agenda.append(Item(moment: moment, order: posted, act: act))
    }

    private var nextMoment: Moment? {
        (agenda.map(\.moment) + nodes.compactMap(\.machine.deadline)).min()
    }

    private func popDue() -> Item? {
        let due = agenda.indices.filter { agenda[$0].moment <= now }
        guard let first = due.min(by: { (agenda[$0].moment, agenda[$0].order) < (agenda[$1].moment, agenda[$1].order) })
        else { return nil }
        return agenda.remove(at: first)
    }
}

/// One connection as the network sees it. End 0 dialled, end 1 accepted.
struct Wire {
    let nodes: [Int]
    var ids: [ConnectionID?] = [nil, nil]
    /// The key that the dialler accepts; nil for plain.
    let key: Fingerprint?
    let latency: Duration
    var isSecured = [false, false]
    var isOver = [false, false]
    var isDead = false
    var nextDelivery = [Moment(nanoseconds: 0), Moment(nanoseconds: 0)]

    init(dialler: Int, target: Int, key: Fingerprint?, latency: Duration) {
        nodes = [dialler, target]
        self.key = key
        self.latency = latency
    }
}
