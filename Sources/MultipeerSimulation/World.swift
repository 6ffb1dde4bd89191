import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

/// Peers, the network between them and the time. Everything that happens follows from a seed.
///
/// Each node runs the engine that a session runs. What the session does with sockets, TLS and timers, the world does with
/// numbers.
final class World {
    /// Nanoseconds of the network's clock.
    var now: Int64 = World.start
    var agenda = Agenda()
    var dice: Dice
    var nodes: [Node] = []
    var wires: [Wire] = []
    var paths: Paths
    var weather: Weather
    let cap: Int
    /// Connection data on its way from one application to another.
    var handed: [ConnectionData] = []
    var trace = Trace()
    var failure: Failure?
    var counts = Counts()
    /// Applications send what they like, and what they hear is kept for them.
    var keepsJournal = false
    /// The faults are over: whatever goes wrong now has no excuse.
    var isCalm = false
    var chats = true
    var partitions: [Partition] = []
    /// When a fault began or ended last.
    var disturbance: Int64 = 0
    /// When the lying member began to lie.
    var liesSince: Int64?
    /// Bit n: something else happened to node n while a member lied, so it may lose links.
    var excused: UInt32 = 0

    static let start: Int64 = 1_000_000_000_000

    struct Counts: Sendable {
        var events = 0
        var links = 0
        var messages = 0
        var entries = 0
        var evictions = 0
    }

    init(seed: UInt64, cap: Int = Limits.peers, weather: Weather = .fair) {
        dice = Dice(seed)
        paths = Paths()
        self.weather = weather
        self.cap = cap
    }

    /// Lets go of everything: connections and their ends hold each other.
    func dismantle() {
        for wire in wires { wire.sockets = [nil, nil] }
        for node in nodes {
            node.sockets = [:]
            node.links = []
        }
    }

    func post(_ happening: Happening, after delay: Int64) { agenda.post(happening, at: now + delay) }

    func fail(_ invariant: Invariant, _ detail: @autoclosure () -> String) {
        guard failure == nil else { return }
        let failure = Failure(invariant: invariant, moment: now - World.start, detail: detail())
        self.failure = failure
        trace.say(now - World.start, "FAILED \(failure)")
        for node in nodes { trace.say(now - World.start, picture(node)) }
    }

    /// Who a peer thinks is there: its links, its component, its entries.
    private func picture(_ node: Node) -> String {
        func name(_ endpoint: Endpoint) -> String {
            guard let known = nodes.first(where: { $0.uid == endpoint.uid }) else { return "?" }
            return "\(known.index)" + (known.endpoint == endpoint ? "" : "'")
        }
        guard node.isUp else { return "\(node.index) is down" }
        let links = node.links.map { "\($0.remote)\($0.seat?.isMesh == true ? "" : "d")" }
        let entries = node.mesh.entries.map { entry in
            "\(name(entry.origin))#\(entry.sequence)[\(entry.members.map(name).joined(separator: " "))]"
        }
        return "\(node.index) links [\(links.joined(separator: " "))] component "
            + "[\(node.mesh.component.map(name).joined(separator: " "))] entries \(entries.joined(separator: " "))"
    }

    func say(_ text: @autoclosure () -> String) { trace.say(now - World.start, text()) }
}

// MARK: time

extension World {
    /// Lets everything happen until then, or until an invariant breaks.
    func run(until end: Int64, _ act: (Int) -> Void = { _ in }) {
        while failure == nil, let next = agenda.next, next <= end, let (moment, happening) = agenda.pop() {
            now = moment
            counts.events += 1
            happen(happening, act)
        }
        if failure == nil { now = max(now, end) }
    }

    private func happen(_ happening: Happening, _ act: (Int) -> Void) {
        switch happening {
        case .knock(let wire, let attempt): knock(wires[wire], attempt)
        case .arrive(let wire, let end): arrive(wires[wire], end)
        case .retransmit(let wire, let end): retransmit(wires[wire], end)
        case .lost(let wire, let end): noticed(wires[wire], end, happening)
        case .unacknowledged(let wire, let end, let since): unacknowledged(wires[wire], end, since)
        case .wake(let node, let life): wake(nodes[node], life)
        case .resume(let node, let life): if nodes[node].life == life { resume(nodes[node]) }
        case .offer(let from, let to, let kind): offer(nodes[from], nodes[to], kind)
        case .seek(let node, let data): seek(nodes[node], data, happening)
        case .step(let number): act(number)
        case .chatter(let node, let life): chatter(nodes[node], life)
        case .take(let node, let life): take(nodes[node], life)
        case .heal(let number): heal(number)
        case .lie(let node, let life): lie(nodes[node], life)
        case .look: look()
        }
    }

    /// What the node's clock shows.
    func moment(_ node: Node) -> Moment { Moment(nanoseconds: now + node.offset) }

    /// Posts the next wake of a node, unless an earlier one is posted already.
    func setTimer(_ node: Node) {
        guard node.isRunning else { return }
        let earliest = node.engine.deadline ?? .distantFuture
        guard earliest != .distantFuture else { return }
        let due = max(now, earliest.nanoseconds - node.offset)
        guard due < node.wakeAt else { return }
        node.wakeAt = due
        node.hurry = due == now && node.hurriedAt == now ? node.hurry + 1 : 0
        node.hurriedAt = now
        if node.hurry > 20 {
            let whose = node.mesh.deadline.map { $0 <= earliest } == true ? "the mesh" : "a link"
            fail(
                .deadlines, "\(whose) of peer \(node.index) wants to be advanced to a moment again and again")
        }
        agenda.post(.wake(node: node.index, life: node.life), at: due)
    }

    private func wake(_ node: Node, _ life: Int) {
        guard node.life == life, node.wakeAt <= now else { return }
        node.wakeAt = .max
        guard node.isRunning else { return }
        advance(node)
    }

    /// Tells the engine the time, like the loop at a deadline.
    func advance(_ node: Node) {
        node.engine.advance(to: moment(node))
        settle(node)
    }
}

// MARK: peers

extension World {
    /// Answers nil for a name that no peer may have.
    @discardableResult
    func add(_ profile: Scenario.Peer, named name: String) -> UID? {
        let index = nodes.count
        var uid = UID(high: UInt64(profile.rank) << 32 | dice.next() >> 32, low: dice.next())
        let key = Fingerprint(dice.bytes(32))
        if case .twin(let other) = profile.role, other < index { uid = nodes[other].uid }
        guard let peer = try? PeerID(uid: uid, displayName: name) else { return nil }
        let fingerprint = profile.preference == .none ? nil : key
        let engine = SessionEngine(
            local(peer, profile, fingerprint), SessionEngine.Configuration(peers: cap), seed: dice.next())
        nodes.append(Node(index, peer, profile, fingerprint, engine))
        paths.add()
        begin(nodes[index])
        return uid
    }

    private func local(
        _ peer: PeerID, _ profile: Scenario.Peer, _ fingerprint: Fingerprint?
    ) -> LocalPeer {
        var limits = LinkLimits.standard
        limits.messageCredit = profile.credit
        return LocalPeer(
            peer: peer, instance: dice.next(), preference: profile.preference,
            hasIdentity: profile.hasIdentity,
            fingerprint: fingerprint, limits: limits, agent: nil)
    }

    /// The process of the node begins.
    func begin(_ node: Node) {
        node.isUp = true
        node.isHostUp = true
        node.life += 1
        node.wakeAt = .max
        if chats {
            post(.chatter(node: node.index, life: node.life), after: Int64(dice.roll(0...999)) * 1_000_000)
        }
        settle(node)
    }

    /// A new instance in the same process: the one before has left.
    func renew(_ node: Node) {
        node.engine.restart(local(node.peer, node.profile, node.fingerprint), seed: dice.next())
        forget(node)
    }

    private func forget(_ node: Node) {
        node.isDeparting = false
        node.attempts = [:]
        node.heard = [:]
        node.connecting = [:]
        node.sought = []
        node.departed = [:]
    }

    /// The process ends without a word of its own. Its system ends the connections, unless `isSilent`.
    func crash(_ node: Node, isSilent: Bool) {
        guard node.isUp else { return }
        trouble(node.index)
        say("\(node.index) crashes\(isSilent ? " with its computer" : "")")
        for id in node.sockets.keys.sorted() {
            guard let socket = node.sockets[id] else { continue }
            socket.phase = .over
            socket.wire.sockets[socket.end] = nil
            if isSilent { die(socket.wire) } else { send(.fin, on: socket.wire, toward: 1 - socket.end) }
        }
        node.sockets = [:]
        node.links = []
        node.backlog = []
        node.isUp = false
        node.isPaused = false
        node.isSlow = false
        node.isHostUp = !isSilent
        node.life += 1
        node.liar = nil
        if keepsJournal { node.journal.append(.crashed) }
    }

    func start(_ node: Node) {
        guard !node.isUp else { return }
        say("\(node.index) starts")
        trouble(node.index)
        node.engine = SessionEngine(
            local(node.peer, node.profile, node.fingerprint), SessionEngine.Configuration(peers: cap),
            seed: dice.next())
        forget(node)
        begin(node)
    }

    func pause(_ node: Node) {
        guard node.isRunning else { return }
        say("\(node.index) is stopped")
        trouble(node.index)
        node.isPaused = true
    }

    /// Goes on: sockets first, then the time.
    func resume(_ node: Node) {
        guard node.isUp, node.isPaused else { return }
        say("\(node.index) goes on")
        node.isPaused = false
        node.disturb(at: now)
        disturbance = now
        trouble(node.index)
        let waiting = node.backlog
        node.backlog = []
        for happening in waiting { happen(happening) { _ in } }
        node.wakeAt = .max
        advance(node)
    }

    func jump(_ node: Node, by nanoseconds: Int64) {
        say("the clock of \(node.index) jumps by \(nanoseconds / 1_000_000) ms")
        trouble(node.index)
        node.offset += nanoseconds
        node.disturb(at: now)
        node.wakeAt = .max
        guard node.isRunning else { return }
        setTimer(node)
    }
}
