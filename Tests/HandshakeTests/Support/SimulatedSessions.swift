import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity
import TestSupport
import Testing

@testable import MultipeerSimulation

/// Sessions in the simulated network whose applications connect with data that makes no mesh, and do nothing else. A seed
/// determines everything.
final class SimulatedSessions {
    private let world: World
    private(set) var nodes: [SimulatedSession] = []
    /// The random source of a test's own decisions; delays, keys and ids are the world's.
    var dice: Seeded
    /// The one-way latency, in milliseconds.
    var latency = 1...20 {
        didSet {
            world.network.latency = (latency.lowerBound * 1_000_000)...(latency.upperBound * 1_000_000)
        }
    }
    /// Changes a frame in transit; nil drops it.
    var interfere: ([UInt8], _ sender: Int) -> [UInt8]? = { frame, _ in frame }
    /// Called with each frame that is sent, with its sender and its connection.
    var listen: (_ kind: FrameKind, _ sender: Int, _ connection: Int) -> Void = { _, _, _ in }
    private var steps: [() throws -> Void] = []
    private var faults: [String] = []

    /// Creates peers in ascending order of their ids, unless the last one is the `twin` of another one: it has the same
    /// id.
    init(
        _ preferences: [EncryptionPreference] = [.optional, .optional], twin: Int? = nil, slots: Int = 7,
        seed: UInt64
    ) throws {
        dice = Seeded(seed)
        world = World(seed: seed, cap: slots + 1)
        world.applications.chats = false
        for (number, preference) in preferences.enumerated() {
            let isLast = number == preferences.count - 1
            let role = isLast ? twin.map { Scenario.Peer.Role.twin($0) } ?? .honest : .honest
            let profile = Scenario.Peer(preference: preference, role: role, rank: number)
            world.add(profile, named: "peer \(number)")
            nodes.append(SimulatedSession(world.nodes[number], in: world))
        }
        world.network.interceptor = self
        world.post(.look, after: 0)
        latency = 1...20
    }

    deinit { world.dismantle() }

    /// Violations: broken invariants of the simulation, and steps of a test that threw.
    var complaints: [String] { faults + [world.failure?.description].compactMap { $0 } }

    var now: Moment { Moment(nanoseconds: world.now) }
    /// All connections that were ever dialled.
    var connections: [SimulatedConnection] { world.network.connections }
}

// MARK: applications

extension SimulatedSessions {
    /// Returns the data that `issuer` has for `holder`.
    @discardableResult
    func data(from issuer: Int, for holder: Int, candidates: [Candidate]? = nil) throws -> ConnectionData {
        let node = nodes[issuer].node
        let data = try node.engine.connectionData(
            for: nodes[holder].uid, joinsMesh: false,
            candidates: candidates ?? world.applications.candidates(of: node),
            tokens: dice.bytes(64), at: now)
        world.settle(node)
        return data
    }

    /// Connects `one` with data of `other`; both have issued their data by then. Returns whether the data begin an attempt
    /// or change it.
    @discardableResult
    func connect(
        _ one: Int, to other: Int, with given: ConnectionData? = nil,
        within timeLimit: Duration = .seconds(30)
    ) throws -> Bool {
        if given == nil { try data(from: one, for: other) }
        let data = try given ?? self.data(from: other, for: one)
        let neighbour = nodes[one]
        var mesh = neighbour.node.mesh
        let isNew = try mesh.connect(with: data, within: timeLimit, at: now)
        neighbour.held[data.peer.uid] = data
        neighbour.isCalling = true
        defer { neighbour.isCalling = false }
        try world.applications.connect(neighbour.node, with: data, within: timeLimit)
        return isNew
    }

    func cancel(_ one: Int, _ other: Int) { world.applications.cancel(nodes[one].node, nodes[other].uid) }

    func after(_ delay: Duration, _ act: @escaping () throws -> Void) {
        steps.append(act)
        world.post(.step(steps.count - 1), after: delay.wholeNanoseconds)
    }

    func run(for duration: Duration) {
        world.run(until: world.now + duration.wholeNanoseconds) { number in
            do { try steps[number]() } catch { faults.append("\(error)") }
        }
    }
}

// MARK: links

extension SimulatedSessions {
    /// Returns whether both hold one link to each other, on the same connection.
    func areLinked(_ one: Int, _ other: Int) -> Bool {
        guard let connection = linkedConnection(one, other) else { return false }
        return connection == linkedConnection(other, one) && !connections[connection].isDead
    }

    func linkedConnection(_ one: Int, _ other: Int) -> Int? {
        nodes[one].node.links.first { $0.remote == other }?.connection.number
    }

    /// Ends the connection of their link, and both ends notice at once.
    func end(_ one: Int, _ other: Int) throws {
        kill(try #require(linkedConnection(one, other)), noticedWithin: 0)
    }

    /// Drops everything on a connection from now on, without notifying either end.
    func silence(_ connection: Int) {
        world.network.die(connections[connection])
        world.network.meddled(with: connections[connection])
    }

    /// Kills the connection: what is in flight is lost, and each end notices in its own time.
    func kill(_ connection: Int, noticedWithin milliseconds: Int = 300) {
        guard !connections[connection].isDead else { return }
        silence(connection)
        for end in [0, 1] { notice(connection, end, after: dice.milliseconds(0...milliseconds)) }
    }

    func notice(_ connection: Int, _ end: Int, after delay: Duration) {
        world.post(.lost(connection: connection, end: end), after: delay.wholeNanoseconds)
    }

    /// Starts a new session of the same peer; the connections of the old one die, without notification if `isSilent`.
    func restart(_ one: Int, isSilent: Bool) {
        world.observer.disturbance = world.now
        world.crash(nodes[one].node, isSilent: isSilent)
        nodes[one].forget()
        world.start(nodes[one].node)
    }
}

// MARK: what happens

extension SimulatedSessions: Interceptor {
    func forward(_ frame: [UInt8], from socket: SimulatedSocket) -> [UInt8]? {
        let sender = socket.connection.nodes[socket.end]
        listen(FrameKind(rawValue: frame[3]), sender, socket.connection.number)
        if socket.linkState == nil, let code = closeCode(frame) { nodes[sender].closes.append(code) }
        return interfere(frame, sender)
    }

    func arrived(_ bytes: [UInt8], at socket: SimulatedSocket) {
        guard let code = closeCode(bytes) else { return }
        nodes[socket.connection.nodes[socket.end]].heard.append(code)
    }

    private func closeCode(_ frame: [UInt8]) -> CloseCode? {
        guard frame.count >= FrameHeader.byteCount else { return nil }
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        let payload = frame.span.extracting(FrameHeader.byteCount..<frame.count)
        guard header.kind == .close, case .close(let code, reason: _)? = try? Frame(header, payload) else {
            return nil
        }
        return code
    }

    func told(_ output: SessionOutput, to node: Node) {
        let neighbour = nodes[node.index]
        switch output {
        case .ask(_, let id): neighbour.questions.append(id)
        case .linked(let id, let data, remote: _, isMesh: _):
            neighbour.events.append(.linked(data.peer.uid, id))
        case .unlinked(let id, let peer, let reason):
            neighbour.events.append(.ended(peer.uid, id, reason))
            let mesh = node.engine.mesh
            if mesh.awaits(peer.uid), mesh.state(of: peer.uid) == .notConnected {
                neighbour.events.append(.resumed(peer.uid))
            }
            insist(neighbour, on: peer.uid)
        case .settled(let uid, let reason?):
            neighbour.events.append(.failed(uid, reason))
            insist(neighbour, on: uid)
        case .state(let peer, .connecting) where !neighbour.isCalling && !neighbour.hasResumed(peer.uid):
            neighbour.events.append(.resumed(peer.uid))
        default: break
        }
    }

    private func insist(_ neighbour: SimulatedSession, on uid: UID) {
        guard neighbour.insists else { return }
        after(.seconds(1)) { [unowned self] in
            guard let data = neighbour.held[uid], neighbour.node.link(to: uid) == nil,
                let other = nodes.firstIndex(where: { $0.uid == uid })
            else { return }
            try connect(neighbour.node.index, to: other, with: data)
        }
    }
}
