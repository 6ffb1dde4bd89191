import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

/// Two sessions that connect to each other, 0 and 1, and a network that an attacker controls: nothing arrives unless
/// the attacker delivers it, and what is in flight may be changed, invented and replayed.
///
/// Whatever the network does, a side links only after it got a HELLO and a CONFIRM that the other side made for it;
/// with TLS, only on a connection that ends at the other side. The invariants of the simulation hold throughout, except
/// those about a network without an attacker.
package final class HostileNetwork {
    package enum Answerer { case peer, attacker, nobody }

    /// The proofs that both ends of one connection have sent and received.
    private struct Proofs {
        var received: [Set<[UInt8]>] = [[], []]
        var hello: [[UInt8]?] = [nil, nil]
    }

    private let world: World
    private let isEncrypted: Bool
    private var data: [ConnectionData?] = [nil, nil]
    private var proofs: [Int: Proofs] = [:]
    /// Every HELLO and CONFIRM that a side ever sent, and that it ever received.
    private var sent: [Set<[UInt8]>] = [[], []]
    private var received: [Set<[UInt8]>] = [[], []]

    package init(isEncrypted: Bool) {
        self.isEncrypted = isEncrypted
        world = World(seed: isEncrypted ? 1 : 0)
        world.applications.chats = false
        world.network.isHeld = true
        world.network.latency = 0...0
        for side in [0, 1] {
            let profile = Scenario.Peer(preference: isEncrypted ? .required : .none, rank: side)
            world.add(profile, named: ["ann", "bob"][side])
            world.nodes[side].application.trust = .never
        }
        world.network.interceptor = self
        for side in [0, 1] { issue(side) }
        for side in [0, 1] { connect(side) }
    }

    deinit { world.dismantle() }

    /// The first invariant that broke.
    package var failure: InvariantViolation? { world.failure }
    /// How often a side had a link.
    package var links: Int { world.observer.counts.links }
}

// MARK: the network

extension HostileNetwork {
    package func deliver(on choice: Int, to side: Int) {
        guard let (connection, end) = pick(choice, side, where: { _, _ in true }) else { return }
        world.network.release(connection, toward: end)
    }

    package func deliverEverything() {
        for _ in 0..<8 {
            for connection in world.network.connections {
                for end in [0, 1] where connection.sockets[end] != nil {
                    world.network.release(connection, toward: end)
                }
            }
        }
    }

    package func answerDial(of side: Int, _ choice: Int, by answerer: Answerer) {
        let dials = world.network.connections.filter {
            $0.nodes[0] == side && $0.sockets[0]?.phase == .connecting
        }
        guard !dials.isEmpty else { return }
        let connection = dials[choice % dials.count]
        switch answerer {
        case .nobody: lose(connection, 0)
        case .peer:
            world.network.dialArrived(connection, 0)
            passHandshake(connection)
        case .attacker:
            world.network.meddled(with: connection)
            connection.nodes[1] = -1
            connection.keys[1] = HostileNetwork.key
            world.network.send(.connected, on: connection, toward: 0)
            world.network.send(.serverHello, on: connection, toward: 0)
            passHandshake(connection)
        }
    }

    /// The attacker dials a side.
    package func intrude(on side: Int) {
        guard world.network.connections.count < 100 else { return }
        let connection = world.network.addConnection(
            from: nil, to: side, showing: isEncrypted ? HostileNetwork.key : nil)
        world.network.meddled(with: connection)
        world.network.send(.clientHello, on: connection, toward: 1)
        world.network.send(.finished, on: connection, toward: 1)
        passHandshake(connection)
    }

    /// Delivers the flights before the frames: an attacker gains nothing from them.
    private func passHandshake(_ connection: SimulatedConnection) {
        for _ in 0..<4 {
            for end in [1, 0] where connection.nodes[end] >= 0 {
                while let next = connection.inFlight[end].next, next.isHandshake, failure == nil {
                    world.network.release(connection, toward: end)
                }
            }
        }
    }

    package func flip(on choice: Int, to side: Int, bit: Int) {
        guard let (connection, end) = pick(choice, side, where: { !$0.inFlight[$1].isEmpty }) else { return }
        let isForged = connection.inFlight[end].forge { frame in
            let count = frame.count - FrameHeader.byteCount
            guard count > 0 else { return }
            frame[FrameHeader.byteCount + bit / 8 % count] ^= 1 << UInt8(bit % 8)
        }
        if isForged { world.network.meddled(with: connection) }
    }

    package func inject(on choice: Int, to side: Int, _ frame: [UInt8]) {
        // Inside TLS only the holder of the keys can send anything.
        guard !isEncrypted, let (connection, end) = pick(choice, side, where: { _, _ in true }) else {
            return
        }
        world.network.meddled(with: connection)
        connection.inFlight[end].inject(frame, at: world.now)
    }

    /// Replays on one connection what was once sent on any, proofs first.
    package func replay(on choice: Int, to side: Int, _ which: Int) {
        let known = (sent[0].union(sent[1])).sorted { $0.lexicographicallyPrecedes($1) }
        guard !known.isEmpty else { return }
        inject(on: choice, to: side, known[which % known.count])
    }

    /// Kills a connection; both ends notice.
    package func cut(_ choice: Int) {
        let open = world.network.connections.filter { !$0.isDead && $0.sockets.contains { $0 != nil } }
        guard !open.isEmpty else { return }
        let connection = open[choice % open.count]
        world.network.die(connection)
        for end in [0, 1] { lose(connection, end) }
    }

    private func lose(_ connection: SimulatedConnection, _ end: Int) {
        world.network.noticed(connection, end, .lost(connection: connection.number, end: end))
    }
}

// MARK: the applications and the clock

extension HostileNetwork {
    package func decide(on side: Int, isTrusted: Bool) {
        let node = world.nodes[side]
        guard let id = node.application.questions.keys.min() else { return }
        world.applications.decide(node, node.process.life, id.rawValue, isTrusted: isTrusted)
    }

    package func pass(_ duration: Duration) { world.run(until: world.now + duration.wholeNanoseconds) }

    package func connect(_ side: Int) {
        let node = world.nodes[side]
        guard let theirs = data[1 - side], !node.engine.isLeaving else { return }
        do throws(LinkEstablishment.Refusal) {
            try world.applications.connect(node, with: theirs, within: HandshakeTiming.attempt)
        } catch {
            world.say("\(side) cannot connect: \(error)")
        }
    }

    package func cancel(_ side: Int) {
        world.applications.cancel(world.nodes[side], world.nodes[1 - side].uid)
    }

    /// Restarts the process of a side: the same peer, a new instance.
    package func restart(_ side: Int) {
        world.crash(world.nodes[side], isSilent: false)
        world.start(world.nodes[side])
        issue(side)
        for side in [0, 1] { connect(side) }
    }

    /// Notifies this side that the connection of its link is gone, and the other side, too, with `noticedByBoth`.
    package func loseLink(of side: Int, noticedByBoth: Bool) {
        guard let link = world.nodes[side].links.first else { return }
        if noticedByBoth { lose(link.connection, 1 - link.end) }
        lose(link.connection, link.end)
    }

    /// Lets the session of a side leave, and start again once that is done.
    package func leave(_ side: Int) { world.applications.disconnect(world.nodes[side]) }

    private func issue(_ side: Int) {
        data[side] = try? world.applications.data(of: world.nodes[side], for: nil, joinsMesh: false)
        world.settle(world.nodes[side])
    }
}

// MARK: what is checked

extension HostileNetwork: Interceptor {
    func forward(_ frame: [UInt8], from socket: SimulatedSocket) -> [UInt8]? {
        guard isProof(frame) else { return frame }
        let side = socket.connection.nodes[socket.end]
        sent[side].insert(frame)
        if frame[3] == FrameKind.hello.rawValue {
            proofs[socket.connection.number, default: Proofs()].hello[socket.end] = frame
        }
        return frame
    }

    func arrived(_ bytes: [UInt8], at socket: SimulatedSocket) {
        guard socket.linkState == nil, isProof(bytes) else { return }
        received[socket.connection.nodes[socket.end]].insert(bytes)
        proofs[socket.connection.number, default: Proofs()].received[socket.end].insert(bytes)
    }

    func told(_ output: SessionOutput, to node: Node) {
        // The network alone is reason enough for a link to end.
        world.observer.disturbance = world.now
        world.trouble(node.index)
        switch output {
        case .connection(.dial(_, _, accepting: let key)):
            if (key != nil) != isEncrypted {
                world.fail(.proof, "peer \(node.index) dials for another outcome")
            }
        case .linked(let id, _, remote: _, isMesh: _):
            if let socket = node.sockets[id] { judge(socket, of: node) }
        default: break
        }
    }

    /// Checks a connection that becomes a link.
    private func judge(_ socket: SimulatedSocket, of node: Node) {
        let said = proofs[socket.connection.number] ?? Proofs()
        let other = 1 - node.index
        let honest = said.received[socket.end].intersection(sent[other])
        let isProved = Set(honest.map { $0[3] }) == [FrameKind.hello.rawValue, FrameKind.confirm.rawValue]
        expect(isProved, socket, "without a HELLO and a CONFIRM of the peer")
        expect(said.received[socket.end] == honest, socket, "and got forged ones")
        let isHeard = said.hello[socket.end].map { received[other].contains($0) } ?? false
        expect(isHeard, socket, "and its own HELLO did not arrive as it was")
        expect(!isEncrypted || socket.remote >= 0, socket, "to an attacker, inside TLS")
    }

    private func expect(_ condition: Bool, _ socket: SimulatedSocket, _ text: String) {
        if !condition { world.fail(.proof, "\(world.name(socket)) becomes a link \(text)") }
    }

    private func isProof(_ frame: [UInt8]) -> Bool {
        guard frame.count >= FrameHeader.byteCount else { return false }
        return frame[3] == FrameKind.hello.rawValue || frame[3] == FrameKind.confirm.rawValue
    }

    /// Returns an open connection of this side, and which end of it that is.
    private func pick(_ choice: Int, _ side: Int, where fits: (SimulatedConnection, Int) -> Bool) -> (
        SimulatedConnection, Int
    )? {
        var fitting: [(SimulatedConnection, Int)] = []
        for connection in world.network.connections where !connection.isDead {
            guard let end = connection.nodes.firstIndex(of: side), connection.sockets[end]?.phase == .framed,
                fits(connection, end)
            else { continue }
            fitting.append((connection, end))
        }
        return fitting.isEmpty ? nil : fitting[choice % fitting.count]
    }

    /// The key that the attacker shows.
    private static let key = Fingerprint([UInt8](repeating: 0xEE, count: 32))
}

extension InFlightQueue.Contents {
    fileprivate var isHandshake: Bool {
        switch self {
        case .connected, .clientHello, .serverHello, .finished, .alert: true
        case .bytes, .fin: false
        }
    }
}

extension ConnectionNetwork {
    /// Adds a connection to a node from a peer that is no node.
    fileprivate func addConnection(from dialler: Int?, to target: Int, showing key: Fingerprint?)
        -> SimulatedConnection
    {
        let node = nodes[target]
        guard let address = node.candidate() else { preconditionFailure("a node has an address") }
        let connection = SimulatedConnection(
            connections.count, from: dialler ?? -1, to: target, address,
            key: key == nil ? nil : node.fingerprint,
            bases: [0, 0], rate: nil, at: now, showing: key, binding: random.bytes(32))
        connection.life = node.process.life
        connections.append(connection)
        return connection
    }
}
