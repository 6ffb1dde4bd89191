import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

/// The connections between nodes, below their frames: which node reaches which, how long that takes, and what is lost.
final class ConnectionNetwork: Subsystem {
    let world: World
    var connections: [SimulatedConnection] = []
    var reachability = Reachability()
    var conditions = NetworkConditions.fair
    /// The exact delay in each direction, in nanoseconds; when nil, the conditions decide.
    var latency: ClosedRange<Int>?
    /// Whether nothing arrives by itself, dials included: the owner of a held network releases what is on its way.
    var isHeld = false
    weak var interceptor: (any Interceptor)?
    var partitions: [Partition] = []
    /// Pairs of peers whose next connection breaks as soon as one of them holds it as its link.
    var fragile: Set<Set<Int>> = []

    init(_ world: World) { self.world = world }

    /// The time after which a system gives up a connection on which nothing was acknowledged.
    static let userTimeout: Int64 = 10_000_000_000
    /// The pause before the first retransmission, besides the round trip; doubled each time.
    private static let firstRetransmission: Int64 = 200_000_000
    /// The longest pause: 1 s where TCP_RTO_MAX_MS is set, 120 s on older systems.
    var longestRetransmission: Int64 = 1_000_000_000
    /// How often the first packet of a connection is retransmitted.
    private static let synRetransmissions = 6
    /// In place of its number: not the packet, but what the system has found out about its target.
    private static let verdict = -1
    /// The time after which a dial into a dead network fails; nil if it is silent. An interface that is down reports that at
    /// once, a host that does not answer ARP after 3 s, and a switch or a router perhaps never.
    var unreachableAfter: Int64?

    /// Draws what depends on the systems and on the network, and not on the weather.
    func drawSystems(_ seed: UInt64) {
        longestRetransmission = seed & 1 == 0 ? 1_000_000_000 : 120_000_000_000
        unreachableAfter = [nil, 1_000_000, 3_060_000_000][Int(seed >> 1 & 0xFFFF) % 3]
    }

    func dial(
        _ id: ConnectionID, _ candidate: Candidate, _ key: Fingerprint?, from node: Node,
        of owner: InvitationEnd? = nil
    ) {
        let target = nodes.firstIndex { candidate.address == [127, 0, 0, UInt8($0.index + 1)] } ?? -1
        let connection = SimulatedConnection(
            connections.count, from: node.index, to: target, candidate, key: key,
            bases: [base(), base()],
            rate: [node.profile.rate, target < 0 ? nil : nodes[target].profile.rate].compactMap { $0 }.min(),
            at: now,
            showing: node.fingerprint,
            binding: random.bytes(32))
        connections.append(connection)
        let socket = SimulatedSocket(id, connection, 0, of: owner)
        connection.sockets[0] = socket
        if let owner { owner.sockets[id] = socket } else { node.sockets[id] = socket }
        (owner as? InviterEnd)?.connections.insert(connection.number)
        if target >= 0 { connection.life = nodes[target].process.life }
        if isHeld { return }
        world.schedule.post(
            .dialArrived(connection: connection.number, attempt: 0), at: now + delay(connection, toward: 1))
    }

    private func base() -> Int64 { latency.map { Int64(random.uniform($0)) } ?? conditions.base(&random) }

    func delay(_ connection: SimulatedConnection, toward end: Int) -> Int64 {
        latency == nil
            ? conditions.delay(base: connection.inFlight[end].base, &random) : connection.inFlight[end].base
    }

    /// Handles the first packet of a connection. It is retransmitted after 1, 2, 4 … seconds, as by any system.
    func dialArrived(_ connection: SimulatedConnection, _ attempt: Int) {
        guard !connection.isDead, connection.sockets[0] != nil else { return }
        let (from, to) = (connection.nodes[0], connection.nodes[1])
        guard to >= 0 else {
            // An address that no node has: one in two networks reports that.
            if connection.dialled.port & 1 == 0 {
                post(.lost(connection: connection.number, end: 0), after: delay(connection, toward: 0))
            }
            return
        }
        let target = nodes[to]
        guard reachability.isOpen(from, to), reachability.isOpen(to, from), target.host.isUp else {
            return missed(connection, attempt)
        }
        if attempt == ConnectionNetwork.verdict { return }
        switch reachability.firewall(from, to) {
        case .silent: return
        case .refusing:
            return post(.lost(connection: connection.number, end: 0), after: delay(connection, toward: 0))
        case .open: break
        }
        guard target.process.isUp, connection.isInvitation || target.host.port == connection.dialled.port
        else {
            return post(.lost(connection: connection.number, end: 0), after: delay(connection, toward: 0))
        }
        connection.life = target.process.life
        send(.connected, on: connection, toward: 0)
    }

    /// Handles a first packet that was lost on its way.
    private func missed(_ connection: SimulatedConnection, _ attempt: Int) {
        if attempt == ConnectionNetwork.verdict {
            guard connection.sockets[0]?.phase == .connecting else { return }
            return noticed(connection, 0, .lost(connection: connection.number, end: 0))
        }
        if attempt == 0, let unreachableAfter {
            post(
                .dialArrived(connection: connection.number, attempt: ConnectionNetwork.verdict),
                after: unreachableAfter)
        }
        guard attempt < ConnectionNetwork.synRetransmissions else { return }
        post(
            .dialArrived(connection: connection.number, attempt: attempt + 1),
            after: min(1_000_000_000 << Int64(attempt), longestRetransmission))
    }

    /// Sends something toward `end`.
    func send(_ contents: InFlightQueue.Contents, on connection: SimulatedConnection, toward end: Int) {
        guard connection.nodes[end] >= 0 else { return }
        guard !connection.isDead else { return writtenInVain(connection, from: 1 - end) }
        if connection.inFlight[end].isAbandoned { return }
        let sent = connection.inFlight[end].pass(contents, rate: connection.rate, at: now)
        let moment = connection.inFlight[end].append(
            contents, arriving: sent + delay(connection, toward: end))
        if isHeld { return }
        world.schedule.post(.arrive(connection: connection.number, end: end), at: moment)
    }

    /// Handles a write to a connection that died without either end being notified: the system finds out at last.
    private func writtenInVain(_ connection: SimulatedConnection, from end: Int) {
        guard !connection.isNoticed[end] else { return }
        connection.isNoticed[end] = true
        let far = connection.nodes[1 - end]
        let isReset =
            far >= 0 && nodes[far].host.isUp && reachability.isOpen(connection.nodes[end], far)
            && nodes[far].process.life != connection.life && random.chance(oneIn: 2)
        let wait = isReset ? 2 * delay(connection, toward: end) : ConnectionNetwork.userTimeout
        post(.lost(connection: connection.number, end: end), after: wait)
    }

    func arrive(_ connection: SimulatedConnection, _ end: Int) {
        guard !connection.isDead, !connection.inFlight[end].isStalled, !connection.inFlight[end].isEmpty,
            !connection.inFlight[end].isAbandoned
        else { return }
        let (from, to) = (connection.nodes[1 - end], connection.nodes[end])
        let node = nodes[to]
        guard reachability.isOpen(from, to), node.host.isUp else {
            connection.inFlight[end].isStalled = true
            return oweAcknowledgement(connection, toward: end)
        }
        if node.process.isPaused {
            return node.process.backlog.append(.arrive(connection: connection.number, end: end))
        }
        if !reachability.isOpen(to, from) { oweAcknowledgement(connection, toward: end) }
        while !connection.isDead, let contents = connection.inFlight[end].take(by: now) {
            sessions.deliver(contents, connection, end, node)
            if failure != nil { return }
        }
        hasTaken(connection, end, node)
    }

    /// Handles the delivery of something that was in flight.
    private func hasTaken(_ connection: SimulatedConnection, _ end: Int, _ node: Node) {
        // What the sender's window held back can be sent now.
        let from = connection.nodes[1 - end]
        if connection.inFlight[end].isFull, let sender = connection.sockets[1 - end], nodes[from].isRunning {
            connection.inFlight[end].isFull = false
            sessions.flush(sender, of: nodes[from])
            settle(nodes[from])
        }
        settle(node)
    }

    /// Delivers what is next in flight to this end, in a network that is held.
    func release(_ connection: SimulatedConnection, toward end: Int) {
        guard !connection.isDead, let contents = connection.inFlight[end].take(by: .max) else { return }
        let node = nodes[connection.nodes[end]]
        sessions.deliver(contents, connection, end, node)
        if failure == nil { hasTaken(connection, end, node) }
    }

    /// Handles something that arrived nowhere, or whose acknowledgement did not: from now on its sender retransmits, in its own
    /// time, whatever the network does, until it gives up.
    private func oweAcknowledgement(_ connection: SimulatedConnection, toward end: Int) {
        guard connection.inFlight[end].unacknowledged == nil else { return }
        connection.inFlight[end].unacknowledged = now
        post(
            .unacknowledged(connection: connection.number, end: 1 - end, since: now),
            after: ConnectionNetwork.userTimeout)
        let roundTrip = connection.inFlight[0].base + connection.inFlight[1].base
        post(
            .retransmit(
                connection: connection.number, end: end, since: now,
                pause: ConnectionNetwork.firstRetransmission),
            after: ConnectionNetwork.firstRetransmission + roundTrip)
    }

    func unacknowledged(_ connection: SimulatedConnection, _ end: Int, _ since: Int64) {
        guard !connection.isDead, connection.inFlight[1 - end].unacknowledged == since else { return }
        connection.inFlight[1 - end].isAbandoned = true
        noticed(connection, end, .lost(connection: connection.number, end: end))
    }

    /// Notifies the process at this end, as its system does, that the connection is gone.
    func noticed(_ connection: SimulatedConnection, _ end: Int, _ event: SimulationEvent) {
        guard connection.nodes[end] >= 0, let socket = connection.sockets[end] else { return }
        let node = nodes[connection.nodes[end]]
        if node.process.isPaused {
            return node.process.backlog.append(.lost(connection: connection.number, end: end))
        }
        sessions.lost(socket, .lost, of: node)
        settle(node)
    }

    /// Loses everything in flight, without notifying the ends.
    func die(_ connection: SimulatedConnection) { connection.isDead = true }

    func retransmit(_ connection: SimulatedConnection, _ end: Int, _ since: Int64, after pause: Int64) {
        guard !connection.isDead, !connection.inFlight[end].isAbandoned,
            connection.inFlight[end].unacknowledged == since
        else { return }
        let (from, to) = (connection.nodes[1 - end], connection.nodes[end])
        let arrives = reachability.isOpen(from, to) && nodes[to].host.isUp
        if arrives, reachability.isOpen(to, from) {
            connection.inFlight[end].unacknowledged = nil
        } else {
            let next = min(2 * pause, longestRetransmission)
            post(.retransmit(connection: connection.number, end: end, since: since, pause: next), after: next)
        }
        guard arrives, connection.inFlight[end].isStalled else { return }
        connection.inFlight[end].isStalled = false
        arrive(connection, end)
    }
}
