import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

/// Peers, the network between them and the time. Everything that happens follows from a seed.
///
/// Each node runs the engine that a session runs. What the session does with sockets, TLS and timers, the world does with
/// numbers. It has the clock, the schedule, the random source and the nodes; its subsystems have the rest.
final class World {
    /// Nanoseconds of the network's clock.
    var now: Int64 = World.start
    var schedule = EventSchedule()
    var random: SeededRandom
    var nodes: [Node] = []
    /// The most peers that a mesh may have.
    let cap: Int
    /// The subsystems, set until `dismantle`: each of them holds the world, too.
    private var whole: Subsystems?

    struct Subsystems {
        let network: ConnectionNetwork
        let datagrams: DatagramNetwork
        let sessions: SessionRunner
        let applications: Applications
        let channels: ChannelTraffic
        let invitations: InvitationTraffic
        let byzantinePeers: ByzantinePeers
        let observer: Observer
    }

    var subsystems: Subsystems {
        guard let whole else { preconditionFailure("a world that was dismantled has no subsystems") }
        return whole
    }

    static let start: Int64 = 1_000_000_000_000

    init(seed: UInt64, cap: Int = Limits.peers, conditions: NetworkConditions = .fair) {
        random = SeededRandom(seed)
        self.cap = cap
        whole = Subsystems(
            network: ConnectionNetwork(self), datagrams: DatagramNetwork(self), sessions: SessionRunner(self),
            applications: Applications(self), channels: ChannelTraffic(self),
            invitations: InvitationTraffic(self),
            byzantinePeers: ByzantinePeers(self), observer: Observer(self))
        network.conditions = conditions
    }

    /// Releases everything: connections and their ends hold each other, and so do the world and its subsystems. The world must
    /// not be used after that.
    func dismantle() {
        for connection in network.connections { connection.sockets = [nil, nil] }
        for node in nodes {
            node.sockets = [:]
            for end in node.ends { end.sockets = [:] }
            node.links = []
        }
        whole = nil
    }
}

// MARK: time

extension World {
    /// Runs everything until `end`, or until an invariant breaks.
    func run(until end: Int64, _ act: (Int) -> Void = { _ in }) {
        while failure == nil, let next = schedule.next, next <= end, let (moment, event) = schedule.pop() {
            now = moment
            observer.counts.events += 1
            happen(event, act)
        }
        if failure == nil { now = max(now, end) }
    }

    private func happen(_ event: SimulationEvent, _ act: (Int) -> Void) {
        switch event {
        case .dialArrived(let connection, let attempt):
            network.dialArrived(network.connections[connection], attempt)
        case .arrive(let connection, let end): network.arrive(network.connections[connection], end)
        case .retransmit(let connection, let end, let since, let pause):
            network.retransmit(network.connections[connection], end, since, after: pause)
        case .lost(let connection, let end): network.noticed(network.connections[connection], end, event)
        case .unacknowledged(let connection, let end, let since):
            network.unacknowledged(network.connections[connection], end, since)
        case .wake(let node, let life): wake(nodes[node], life)
        case .resume(let node, let life): if nodes[node].process.life == life { resume(nodes[node]) }
        case .offer(let from, let to, let kind): applications.offer(nodes[from], nodes[to], kind)
        case .connect(let node, let data): applications.connect(nodes[node], data, event)
        case .step(let number): act(number)
        case .invite(let from, let to, let timeout, let answer):
            invitations.invite(from, to, within: timeout, answer)
        case .answer(let node, let life, let question):
            invitations.answer(nodes[node], life, question, event)
        case .chatter(let node, let life): applications.chatter(nodes[node], life)
        case .take(let node, let life): applications.take(nodes[node], life)
        case .heal(let number): network.heal(number)
        case .lie(let node, let life): byzantinePeers.lie(nodes[node], life)
        case .look: observer.look()
        case .read(let connection, let channel, let life):
            channels.read(network.connections[connection], channel, life)
        case .decide(let node, let life, let id): applications.decide(nodes[node], life, id)
        case .agree(let connection, let end, let life):
            applications.agree(network.connections[connection], end, life)
        case .datagram(let number): datagrams.arrive(number, event)
        }
    }

    /// Posts the next wake of a node, unless an earlier one is posted already.
    func setTimer(_ node: Node) {
        guard node.isRunning else { return }
        var deadline = Moment.earlier(node.engine.deadline, node.asked.deadline)
        for end in node.asking { deadline = .earlier(deadline, end.deadline) }
        guard let earliest = deadline, earliest != .distantFuture else { return }
        let due = max(now, earliest.nanoseconds - node.host.offset)
        guard due < node.process.wakeAt else { return }
        node.process.wakeAt = due
        node.process.hurry = due == now && node.process.hurriedAt == now ? node.process.hurry + 1 : 0
        node.process.hurriedAt = now
        if node.process.hurry > 20 {
            let whose = node.mesh.deadline.map { $0 <= earliest } == true ? "the mesh" : "a link"
            fail(
                .deadlines, "\(whose) of peer \(node.index) requests the same deadline repeatedly")
        }
        schedule.post(.wake(node: node.index, life: node.process.life), at: due)
    }

    private func wake(_ node: Node, _ life: Int) {
        guard node.process.life == life, node.process.wakeAt <= now else { return }
        node.process.wakeAt = .max
        guard node.isRunning else { return }
        advance(node)
    }

    /// Passes the time to the engine, as the loop does at a deadline.
    func advance(_ node: Node) {
        node.engine.advance(to: moment(node))
        for end in node.asking { end.advance(to: moment(node)) }
        node.asked.advance(to: moment(node))
        settle(node)
    }
}

// MARK: peers

extension World {
    /// Returns nil for a name that no peer may have.
    @discardableResult
    func add(_ profile: Scenario.Peer, named name: String) -> UID? {
        let index = nodes.count
        var uid = UID(high: UInt64(profile.rank) << 32 | random.next() >> 32, low: random.next()).asRandom
        var certificate = random.bytes(32)
        if profile.isKeyed {
            certificate.replaceSubrange(..<UID.byteCount, with: uid.bytes)
            uid = SimulatedSignatures.keyedUID(of: certificate) ?? uid
        }
        if case .twin(let other) = profile.role, other < index { uid = nodes[other].uid }
        guard let peer = try? PeerID(validating: uid, displayName: name) else { return nil }
        let signer = profile.preference == .none ? nil : SimulatedSignatures.signer(certificate)
        let engine = SessionEngine(local(peer, profile, signer), configuration(profile), seed: random.next())
        nodes.append(Node(index, peer, profile, signer, engine))
        network.reachability.add()
        begin(nodes[index])
        return uid
    }

    private func local(_ peer: PeerID, _ profile: Scenario.Peer, _ signer: Signer?) -> LocalPeer {
        var limits = LinkLimits.standard
        limits.messageCredit = profile.credit
        limits.channelCredit = profile.window
        var local = LocalPeer(
            peer: peer, instance: random.next(), preference: profile.preference,
            hasIdentity: profile.hasIdentity,
            fingerprint: signer.flatMap { Fingerprint(SHA256.hash($0.certificate)) }, limits: limits,
            agent: nil)
        local.signer = signer
        local.verifier = SimulatedSignatures.verifier
        return local
    }

    private func configuration(_ profile: Scenario.Peer) -> SessionEngineConfiguration {
        var timing = DatagramPath.Timing()
        timing.rest = World.pathRest
        return SessionEngineConfiguration(
            peers: cap, takesDatagrams: profile.datagrams != .none, datagramTiming: timing,
            memory: profile.memory)
    }

    /// Shorter than a session's, so that a path can come up before the network is quiescent.
    private static let pathRest = Duration.seconds(8)

    /// Starts the process of the node.
    func begin(_ node: Node) {
        node.process.isUp = true
        node.host.isUp = true
        node.process.life += 1
        node.process.wakeAt = .max
        if applications.chats {
            post(
                .chatter(node: node.index, life: node.process.life),
                after: Int64(random.uniform(0...999)) * 1_000_000)
        }
        settle(node)
    }

    /// Starts a new instance in the same process: the previous one has left.
    func renew(_ node: Node) {
        node.engine.restart(local(node.peer, node.profile, node.signer), seed: random.next())
        forget(node)
    }

    private func forget(_ node: Node) {
        node.application.isDeparting = false
        node.application.connects = [:]
        node.application.heard = [:]
        node.application.connecting = [:]
        node.application.wantedPeers = []
        node.departed = [:]
        node.lost = [:]
    }

    /// Ends the process without a message of its own. Its system ends the connections, unless `isSilent`.
    func crash(_ node: Node, isSilent: Bool) {
        guard node.process.isUp else { return }
        trouble(node.index)
        say("\(node.index) crashes\(isSilent ? " with its computer" : "")")
        for socket in node.everySocket {
            socket.phase = .over
            socket.connection.sockets[socket.end] = nil
            if isSilent {
                network.die(socket.connection)
            } else {
                network.send(.fin, on: socket.connection, toward: 1 - socket.end)
            }
        }
        node.sockets = [:]
        node.asking = []
        node.asked = InviteeEnd(Invitee(node.peer, seed: node.uid.low))
        node.application.requests = [:]
        node.application.questions = [:]
        node.application.connects = [:]
        for socket in node.links { channels.endFlows(socket) }
        node.links = []
        node.application.codeRequests = [:]
        node.application.flushRequests = [:]
        node.process.backlog = []
        node.process.isUp = false
        node.process.isPaused = false
        node.application.isSlow = false
        node.application.unreadInput = UnreadInput()
        node.host.isUp = !isSilent
        node.process.life += 1
        node.byzantine = nil
        if applications.keepsJournal { node.application.journal.append(.crashed) }
    }

    func start(_ node: Node) {
        guard !node.process.isUp else { return }
        say("\(node.index) starts")
        trouble(node.index)
        node.engine = SessionEngine(
            local(node.peer, node.profile, node.signer), configuration(node.profile), seed: random.next())
        forget(node)
        begin(node)
    }

    func pause(_ node: Node) {
        guard node.isRunning else { return }
        say("\(node.index) is stopped")
        trouble(node.index)
        node.process.isPaused = true
    }

    /// Resumes a node: sockets first, then the time.
    func resume(_ node: Node) {
        guard node.process.isUp, node.process.isPaused else { return }
        say("\(node.index) goes on")
        node.process.isPaused = false
        node.disturb(at: now)
        observer.disturbance = now
        trouble(node.index)
        let waiting = node.process.backlog
        node.process.backlog = []
        for event in waiting { happen(event) { _ in } }
        node.process.wakeAt = .max
        advance(node)
    }

    /// After a clock jump longer than this, every peer is overdue, and each is probed.
    private static let sleep: Int64 = 16_000_000_000

    func jump(_ node: Node, by nanoseconds: Int64) {
        say("the clock of \(node.index) jumps by \(nanoseconds / 1_000_000) ms")
        trouble(node.index)
        node.host.offset += nanoseconds
        node.disturb(at: now)
        if nanoseconds > World.sleep {
            node.host.sleptUntil = now
            node.host.wokeAt = now + node.host.offset
        }
        node.process.wakeAt = .max
        guard node.isRunning else { return }
        setTimer(node)
    }
}
