import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

/// The connections between nodes, below their frames: who reaches whom, how long that takes, and what is lost.
final class ConnectionNetwork: Part {
    let world: World
    var wires: [Wire] = []
    var paths = Paths()
    var weather = Weather.fair
    /// What every way takes, exactly, in nanoseconds; otherwise the weather says.
    var latency: ClosedRange<Int>?
    /// Nothing arrives by itself, and no dial: who holds the network releases what is on its way.
    var isHeld = false
    weak var interceptor: (any Interceptor)?
    var partitions: [Partition] = []
    /// Pairs of peers whose next connection breaks as soon as one of them holds it as its link.
    var fragile: Set<Set<Int>> = []

    init(_ world: World) { self.world = world }

    static let userTimeout: Int64 = 10_000_000_000

    func dial(
        _ id: ConnectionID, _ candidate: Candidate, _ key: Fingerprint?, from node: Node,
        of owner: InvitationEnd? = nil
    ) {
        let target = nodes.firstIndex { candidate.address == [127, 0, 0, UInt8($0.index + 1)] } ?? -1
        let wire = Wire(
            wires.count, from: node.index, to: target, candidate, key: key,
            bases: [base(), base()],
            rate: [node.profile.rate, target < 0 ? nil : nodes[target].profile.rate].compactMap { $0 }.min(),
            at: now,
            showing: node.fingerprint,
            binding: dice.bytes(32))
        wires.append(wire)
        let socket = Socket(id, wire, 0, of: owner)
        wire.sockets[0] = socket
        if let owner { owner.sockets[id] = socket } else { node.sockets[id] = socket }
        (owner as? Asking)?.wires.insert(wire.number)
        if target >= 0 { wire.life = nodes[target].process.life }
        if isHeld { return }
        world.agenda.post(.knock(wire: wire.number, attempt: 0), at: now + delay(wire, toward: 1))
    }

    private func base() -> Int64 { latency.map { Int64(dice.roll($0)) } ?? weather.base(&dice) }

    func delay(_ wire: Wire, toward end: Int) -> Int64 {
        latency == nil ? weather.delay(base: wire.pipes[end].base, &dice) : wire.pipes[end].base
    }

    /// The first packet of a connection. It is sent again after 1, 2, 4 … seconds, like by any kernel.
    func knock(_ wire: Wire, _ attempt: Int) {
        guard !wire.isDead, wire.sockets[0] != nil else { return }
        let (from, to) = (wire.nodes[0], wire.nodes[1])
        guard to >= 0 else {
            // An address that nobody has: one in two networks says so.
            if wire.dialled.port & 1 == 0 {
                post(.lost(wire: wire.number, end: 0), after: delay(wire, toward: 0))
            }
            return
        }
        let target = nodes[to]
        guard paths.isOpen(from, to), paths.isOpen(to, from), target.host.isUp else {
            if attempt < 4 {
                post(.knock(wire: wire.number, attempt: attempt + 1), after: 1_000_000_000 << Int64(attempt))
            }
            return
        }
        switch paths.door(from, to) {
        case .silent: return
        case .refusing: return post(.lost(wire: wire.number, end: 0), after: delay(wire, toward: 0))
        case .open: break
        }
        guard target.process.isUp, wire.isInvitation || target.host.port == wire.dialled.port else {
            return post(.lost(wire: wire.number, end: 0), after: delay(wire, toward: 0))
        }
        wire.life = target.process.life
        send(.connected, on: wire, toward: 0)
    }

    /// Puts something on the way to `end`.
    func send(_ contents: Pipe.Contents, on wire: Wire, toward end: Int) {
        guard wire.nodes[end] >= 0 else { return }
        guard !wire.isDead else { return writtenInVain(wire, from: 1 - end) }
        let sent = wire.pipes[end].pass(contents, rate: wire.rate, at: now)
        let moment = wire.pipes[end].append(contents, arriving: sent + delay(wire, toward: end))
        if isHeld { return }
        world.agenda.post(.arrive(wire: wire.number, end: end), at: moment)
    }

    /// Written to a connection that is dead without anybody having said so: the system finds out at last.
    private func writtenInVain(_ wire: Wire, from end: Int) {
        guard !wire.isNoticed[end] else { return }
        wire.isNoticed[end] = true
        let far = wire.nodes[1 - end]
        let isReset =
            far >= 0 && nodes[far].host.isUp && paths.isOpen(wire.nodes[end], far)
            && nodes[far].process.life != wire.life && dice.hits(oneIn: 2)
        let wait = isReset ? 2 * delay(wire, toward: end) : ConnectionNetwork.userTimeout
        post(.lost(wire: wire.number, end: end), after: wait)
    }

    func arrive(_ wire: Wire, _ end: Int) {
        guard !wire.isDead, !wire.pipes[end].isStalled, !wire.pipes[end].isEmpty else { return }
        let (from, to) = (wire.nodes[1 - end], wire.nodes[end])
        let node = nodes[to]
        guard paths.isOpen(from, to), node.host.isUp else {
            wire.pipes[end].isStalled = true
            return oweAcknowledgement(wire, from: 1 - end)
        }
        if node.process.isPaused { return node.process.backlog.append(.arrive(wire: wire.number, end: end)) }
        if !paths.isOpen(to, from) { oweAcknowledgement(wire, from: 1 - end) }
        while !wire.isDead, let contents = wire.pipes[end].take(by: now) {
            sessions.deliver(contents, wire, end, node)
            if failure != nil { return }
        }
        hasTaken(wire, end, node)
    }

    /// Something that was under way has been delivered.
    private func hasTaken(_ wire: Wire, _ end: Int, _ node: Node) {
        // What the sender's window held back can go now.
        let from = wire.nodes[1 - end]
        if wire.pipes[end].isFull, let sender = wire.sockets[1 - end], nodes[from].isRunning {
            wire.pipes[end].isFull = false
            sessions.flush(sender, of: nodes[from])
            settle(nodes[from])
        }
        settle(node)
    }

    /// Delivers what is next on its way to this end of a network that is held.
    func release(_ wire: Wire, toward end: Int) {
        guard !wire.isDead, let contents = wire.pipes[end].take(by: .max) else { return }
        let node = nodes[wire.nodes[end]]
        sessions.deliver(contents, wire, end, node)
        if failure == nil { hasTaken(wire, end, node) }
    }

    private func oweAcknowledgement(_ wire: Wire, from end: Int) {
        guard wire.pipes[1 - end].unacknowledged == nil else { return }
        wire.pipes[1 - end].unacknowledged = now
        post(.unacknowledged(wire: wire.number, end: end, since: now), after: ConnectionNetwork.userTimeout)
    }

    func unacknowledged(_ wire: Wire, _ end: Int, _ since: Int64) {
        guard !wire.isDead, wire.pipes[1 - end].unacknowledged == since else { return }
        noticed(wire, end, .lost(wire: wire.number, end: end))
    }

    /// The system of this end tells its process that the connection is gone.
    func noticed(_ wire: Wire, _ end: Int, _ happening: Happening) {
        guard wire.nodes[end] >= 0, let socket = wire.sockets[end] else { return }
        let node = nodes[wire.nodes[end]]
        if node.process.isPaused { return node.process.backlog.append(.lost(wire: wire.number, end: end)) }
        sessions.lost(socket, .lost, of: node)
        settle(node)
    }

    /// Everything under way is lost; nobody is told.
    func die(_ wire: Wire) { wire.isDead = true }

    func retransmit(_ wire: Wire, _ end: Int) {
        guard !wire.isDead, wire.pipes[end].isStalled, paths.isOpen(wire.nodes[1 - end], wire.nodes[end])
        else {
            return
        }
        wire.pipes[end].isStalled = false
        if paths.isOpen(wire.nodes[end], wire.nodes[1 - end]) { wire.pipes[end].unacknowledged = nil }
        arrive(wire, end)
    }

    /// Something about the paths has changed for the better.
    func recover() {
        for wire in wires where !wire.isDead && wire.nodes[1] >= 0 {
            for end in [0, 1] where paths.isOpen(wire.nodes[1 - end], wire.nodes[end]) {
                if wire.pipes[end].isStalled {
                    post(
                        .retransmit(wire: wire.number, end: end),
                        after: Int64(dice.roll(100...1_600)) * 1_000_000)
                } else if paths.isOpen(wire.nodes[end], wire.nodes[1 - end]) {
                    wire.pipes[end].unacknowledged = nil
                }
            }
        }
    }
}
