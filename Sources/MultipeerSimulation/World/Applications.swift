import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity

/// What applications do with their sessions, and what they wait for.
final class Applications: Subsystem {
    let world: World
    /// Connection data on its way from one application to another.
    var handed: [ConnectionData] = []
    /// Whether applications send what the caller wants, and their events are kept.
    var keepsJournal = false
    var chats = true
    /// The number of the last request for a code or a mark.
    var lastRequest: UInt64 = 0

    init(_ world: World) { self.world = world }

    /// Returns connection data of a node, as its application requests it.
    func data(of node: Node, for recipient: UID?, joinsMesh: Bool) throws -> ConnectionData {
        try node.engine.connectionData(
            for: recipient, joinsMesh: joinsMesh, candidates: candidates(of: node), tokens: random.bytes(64),
            at: moment(node))
    }

    func candidates(of node: Node) -> [Candidate] {
        var candidates = [node.candidate()].compactMap { $0 }
        // Addresses of other networks, which no node has.
        for number in 0..<node.profile.strayAddresses {
            let stray = Candidate(address: [127, 0, 9, UInt8(node.index + 1)], port: 40_000 + UInt16(number))
            candidates.insert(contentsOf: [stray].compactMap { $0 }, at: 0)
        }
        return candidates
    }

    /// Lets two applications exchange data, which takes each a moment, and connect to each other.
    func join(_ one: Int, _ other: Int, joinsMesh: Bool, isAddressed: Bool) {
        let kind = ConnectionDataOptions(joinsMesh: joinsMesh, isAddressed: isAddressed)
        offer(nodes[one], nodes[other], kind)
        offer(nodes[other], nodes[one], kind)
    }

    func offer(_ from: Node, _ to: Node, _ kind: ConnectionDataOptions) {
        guard from.isRunning else { return }
        if from.engine.isLeaving {
            return post(.offer(from: from.index, to: to.index, kind), after: Applications.leavingPause)
        }
        let recipient = kind.isAddressed ? to.uid : nil
        guard
            let data = try? self.data(of: from, for: recipient, joinsMesh: kind.joinsMesh)
        else { return }
        handed.append(data)
        post(
            .connect(node: to.index, data: handed.count - 1),
            after: Int64(random.uniform(1...400)) * 1_000_000)
        settle(from)
    }

    /// A call of an application to a session that is leaving waits for its next instance, which is checked at this
    /// interval.
    static let leavingPause: Int64 = 50_000_000

    func connect(_ node: Node, _ number: Int, _ event: SimulationEvent) {
        guard node.process.isUp else { return }
        if node.process.isPaused { return node.process.backlog.append(event) }
        if node.engine.isLeaving { return post(event, after: Applications.leavingPause) }
        let data = handed[number]
        do throws(LinkEstablishment.Refusal) {
            try connect(node, with: data, within: HandshakeTiming.attempt)
        } catch {
            say("\(node.index) cannot connect to \(data.peer.displayName): \(error)")
            settle(node)
        }
    }

    func connect(
        _ node: Node, with data: ConnectionData, within timeout: Duration
    ) throws(LinkEstablishment.Refusal) {
        let request = try node.engine.connect(with: data, within: timeout, at: moment(node))
        node.application.wantedPeers.insert(data.peer.uid)
        say("\(node.index) connects to \(data.peer.displayName)\(request == nil ? ", which is linked" : "")")
        if let request {
            node.application.connects[request] = data.peer.uid
            node.application.withdrawn.remove(data.peer.uid)
            node.application.invitationEnds[data.peer.uid] = nil
            if node.application.connecting[data.peer.uid] != nil {
                node.application.connecting[data.peer.uid] = moment(node)
            }
        }
        settle(node)
    }

    /// Asks the application whether the holder of this connection's key may be linked.
    func ask(_ node: Node, _ uid: UID, _ id: ConnectionID) {
        switch node.application.trust {
        case .yes: node.engine.decide(uid, asked: id, isTrusted: true, at: moment(node))
        case .no: node.engine.decide(uid, asked: id, isTrusted: false, at: moment(node))
        case .never: node.application.questions[id] = uid
        case .yesAfter(let delay):
            node.application.questions[id] = uid
            post(.decide(node: node.index, life: node.process.life, connection: id.rawValue), after: delay)
        }
    }

    func decide(_ node: Node, _ life: Int, _ number: UInt32, isTrusted: Bool = true) {
        let id = ConnectionID(rawValue: number)
        guard node.process.life == life, node.isRunning,
            let uid = node.application.questions.removeValue(forKey: id)
        else {
            return
        }
        node.engine.decide(uid, asked: id, isTrusted: isTrusted, at: moment(node))
        settle(node)
    }

    /// Says goodbye to all peers after what was sent; a new instance begins when that is done.
    func disconnect(_ node: Node) {
        guard node.isRunning else { return }
        say("\(node.index) says goodbye")
        trouble(node.index)
        node.application.isDeparting = true
        channels.giveUpFlows(of: node)
        node.engine.leave(within: .seconds(3), at: moment(node))
        settle(node)
    }

    func cancel(_ node: Node, _ uid: UID) {
        guard node.isRunning else { return }
        trouble(node.index)
        node.application.withdrawn.insert(uid)
        node.engine.cancel(uid, at: moment(node))
        invitations.withdraw(node, uid)
        settle(node)
    }

    /// Sends a few numbered messages on one link, and does so again after a while.
    func chatter(_ node: Node, _ life: Int) {
        guard node.process.life == life, chats else { return }
        post(.chatter(node: node.index, life: life), after: Int64(random.uniform(400...4_000)) * 1_000_000)
        guard node.isRunning, !node.engine.isLeaving, !node.links.isEmpty else { return }
        let socket = random.pick(node.links)
        let isLong = random.chance(oneIn: 24)
        chat(node, socket, messages: random.uniform(1...4), longest: isLong ? 70_000 : 200)
        if node.profile.datagrams != .none { datagrams.chatUnreliably(node, socket) }
        settle(node)
    }

    func chat(_ node: Node, _ socket: SimulatedSocket, messages: Int, longest: Int) {
        guard socket.linkState != nil else { return }
        node.engine.links.enqueue(batch(node, socket, messages: messages, longest: longest), on: socket.id)
    }

    /// Returns the next messages of a link.
    func batch(_ node: Node, _ socket: SimulatedSocket, messages: Int, longest: Int) -> [[UInt8]] {
        (0..<messages).map { _ in
            socket.connection.record.sent[socket.end] += 1
            let filling = random.uniform(0...max(0, longest - 32))
            return message(socket.connection.record.sent[socket.end], node, socket, filling: filling)
        }
    }

    func message(_ number: Int, _ node: Node, _ socket: SimulatedSocket, filling: Int) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(32 + filling)
        for value in [
            UInt64(number), UInt64(socket.connection.number), node.endpoint.instance, UInt64(32 + filling),
        ] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                message.append(UInt8(truncatingIfNeeded: value >> shift))
            }
        }
        message.append(contentsOf: repeatElement(UInt8(truncatingIfNeeded: number), count: filling))
        return message
    }

    func take(_ node: Node, _ life: Int) {
        guard node.process.life == life, node.process.isUp else { return }
        node.application.isSlow = false
        for waiting in node.application.unreadInput.costs {
            node.engine.consumed(waiting.cost, on: waiting.id)
        }
        for waiting in node.application.unreadInput.events {
            node.engine.eventsTaken(waiting.count, of: waiting.uid)
        }
        node.application.unreadInput = UnreadInput()
        for socket in node.links {
            guard let linkState = socket.linkState else { continue }
            node.engine.links.consumedDatagrams(linkState.datagrams.unread, on: socket.id)
            linkState.datagrams.unread = 0
        }
        settle(node)
    }
}
