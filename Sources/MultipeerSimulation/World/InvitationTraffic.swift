import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh

/// InvitationTraffic: both ends, and the applications that ask and answer.
final class InvitationTraffic: Subsystem {
    let world: World

    init(_ world: World) { self.world = world }

    /// The port for invitations, at every node.
    static let port: UInt16 = 30_000

    /// Lets the application invite a peer, which will answer as `answer` states.
    func invite(_ from: Int, _ to: Int, within timeout: Int, _ answer: Scenario.Answer) {
        let (node, target) = (nodes[from], nodes[to])
        guard node.isRunning, node.isHonest, node.uid != target.uid else { return }
        if node.engine.isLeaving {
            return post(.invite(from: from, to: to, timeout, answer), after: Applications.leavingPause)
        }
        say("\(from) invites \(to)")
        let end = moment(node) + .milliseconds(Int64(timeout))
        let request = begin(node, target.uid)
        guard node.engine.hasRoom(for: target.uid) else { return over(request, of: node, nil) }
        let address = Candidate(address: [127, 0, 0, UInt8(to + 1)], port: InvitationTraffic.port)
        guard
            let inviter = try? Inviter(
                target.peer, at: [address].compactMap { $0 }, as: node.peer, context: answer.bytes,
                within: .milliseconds(Int64(timeout)), id: random.bytes(16), seed: random.next(),
                at: moment(node))
        else { return over(request, of: node, nil) }
        node.asking.append(InviterEnd(request, of: target.peer, until: end, inviter))
        settle(node)
    }

    /// Cancels the application's invitations of this peer.
    func withdraw(_ node: Node, _ uid: UID) {
        for asking in node.asking where asking.peer.uid == uid {
            asking.engine.machine.cancel(at: moment(node))
            node.engine.cancel(asking.request, at: moment(node))
        }
    }

    private func begin(_ node: Node, _ uid: UID) -> ConnectRequestID {
        let request = node.engine.beginInvitation(of: uid)
        node.application.requests[request] = uid
        return request
    }

    /// Handles the outcome of an invitation: each has exactly one.
    private func over(_ request: ConnectRequestID, of node: Node, _ reason: DisconnectReason?) {
        guard let uid = node.application.requests.removeValue(forKey: request) else {
            return fail(.outcomes, "peer \(node.index) has a second outcome of an invitation")
        }
        _ = node.engine.endInvitation(request)
        if !node.isWanted(uid), !node.mesh.awaits(uid), node.link(to: uid) == nil {
            node.application.wantedPeers.remove(uid)
        }
        if let reason { say("\(node.index) has no link by an invitation: \(reason)") }
    }

    // MARK: actions of the engines

    /// Carries out the actions of invitations. Returns whether there were any, which may have led to actions of the
    /// session, too.
    func carryOutInvitations(_ node: Node) -> Bool {
        var hasActed = carryOut(node.asked, node) { event in
            switch event {
            case .ask(let asked): ask(asked, node)
            case .contested: break
            case .end(let question, let ending): ended(question, ending, node)
            case .code: break
            }
        }
        for asking in node.asking {
            let acted = carryOut(asking, node) { event in
                switch event {
                case .makeData: supply(asking, node)
                case .end(let result): ended(asking, result, node)
                }
            }
            hasActed = hasActed || acted
        }
        node.asking.removeAll { !$0.engine.hasConnections && node.application.requests[$0.request] == nil }
        return hasActed && failure == nil
    }

    private func carryOut<Machine>(
        _ end: InvitationMachineEnd<Machine>, _ node: Node, _ tell: (Machine.Event) -> Void
    ) -> Bool {
        var hasActed = false
        while failure == nil, case let outputs = end.engine.takeOutputs(), !outputs.isEmpty {
            hasActed = true
            for output in outputs where failure == nil {
                switch output {
                case .connection(let order): carryOut(order, of: end, node)
                case .tell(let event): tell(event)
                }
            }
        }
        return hasActed
    }

    private func carryOut(_ order: ConnectionAction, of end: InvitationEnd, _ node: Node) {
        switch order {
        case .dial(let id, let candidate, accepting: _): network.dial(id, candidate, nil, from: node, of: end)
        case .finish(let id): end.sockets[id]?.isFinishing = true
        case .drop(let id): if let socket = end.sockets[id] { sessions.close(socket, of: node) }
        }
    }

    // MARK: the inviter

    private func supply(_ asking: InviterEnd, _ node: Node) {
        guard !node.engine.isLeaving, let data = invitationData(of: node, for: asking.peer.uid) else {
            return asking.engine.machine.failed(.system("no data"), at: moment(node))
        }
        asking.engine.machine.supply(data, at: moment(node))
    }

    private func ended(_ asking: InviterEnd, _ result: Result<ConnectionData, InvitationFault>, _ node: Node)
    {
        switch result {
        case .success(let theirs):
            asking.isAgreed = true
            connect(asking.request, with: theirs, until: asking.end, node)
        case .failure(let fault):
            say("\(node.index) has its invitation of \(asking.peer.displayName) end: \(fault)")
            over(asking.request, of: node, nil)
        }
    }

    private func invitationData(of node: Node, for uid: UID) -> ConnectionData? {
        try? node.engine.invitationData(
            for: uid, candidates: applications.candidates(of: node), tokens: random.bytes(64),
            at: moment(node))
    }

    // MARK: the invitee

    private func ask(_ asked: Invitee.InvitationRequest, _ node: Node) {
        let answer = Scenario.Answer(bytes: asked.context ?? [])
        node.asked.questions[asked.question] = asked
        guard let delay = answer.delay else { return }
        post(
            .answer(node: node.index, life: node.process.life, question: asked.question.rawValue),
            after: Int64(delay) * 1_000_000)
    }

    func answer(_ node: Node, _ life: Int, _ number: UInt64, _ event: SimulationEvent) {
        guard node.process.life == life, let asked = node.asked.questions[QuestionID(rawValue: number)] else {
            return
        }
        if node.process.isPaused { return node.process.backlog.append(event) }
        if node.engine.isLeaving { return post(event, after: Applications.leavingPause) }
        node.asked.questions[asked.question] = nil
        let isYes = Scenario.Answer(bytes: asked.context ?? []).isYes
        say("\(node.index) \(isYes ? "accepts" : "declines") \(asked.inviter.displayName)")
        if isYes { accept(asked, node) } else { refuse(asked.question, .declined, node) }
        settle(node)
    }

    private func refuse(_ question: QuestionID, _ code: CloseCode, _ node: Node) {
        // The inviter may have gone meanwhile.
        try? node.asked.engine.machine.refuse(question, code, at: moment(node))
    }

    private func accept(_ asked: Invitee.InvitationRequest, _ node: Node) {
        let request = begin(node, asked.inviter.uid)
        guard node.engine.hasRoom(for: asked.inviter.uid) else {
            refuse(asked.question, .full, node)
            return over(request, of: node, nil)
        }
        do {
            guard let data = invitationData(of: node, for: asked.inviter.uid) else {
                throw InvitationFault.busy
            }
            try node.asked.engine.machine.accept(asked.question, with: data, at: moment(node))
            let connection = node.asked.sockets[asked.connection]?.connection.number
            node.asked.accepted[asked.question] = InviteeEnd.AcceptedInvitation(
                request: request, asked: asked, connection: connection)
        } catch {
            over(request, of: node, nil)
        }
    }

    private func ended(_ question: QuestionID, _ ending: Invitee.Ending, _ node: Node) {
        node.asked.questions[question] = nil
        guard let accepted = node.asked.accepted.removeValue(forKey: question) else { return }
        guard case .completed(let theirs) = ending else {
            if !accepted.isAbandoned { watchAgreement(accepted, node) }
            return over(accepted.request, of: node, nil)
        }
        let end = max(accepted.asked.deadline, moment(node) + .seconds(5)) + .seconds(1)
        connect(accepted.request, with: theirs, until: end, node)
    }

    /// Checks that without a fault both sides agree, or neither does. A session that abandoned the invitation because it left, also
    /// for the cap, is left out: COMPLETE may be in flight to it.
    private func watchAgreement(_ accepted: InviteeEnd.AcceptedInvitation, _ node: Node) {
        for far in nodes where !observer.isTroubled(node, far, since: now) {
            guard let connection = accepted.connection,
                far.asking.contains(where: { $0.isAgreed && $0.connections.contains(connection) })
            else { continue }
            fail(.outcomes, "peer \(far.index) was notified that \(node.index) agreed, which did not")
        }
    }

    /// Connects two peers that agreed.
    private func connect(
        _ request: ConnectRequestID, with data: ConnectionData, until end: Moment, _ node: Node
    ) {
        let uid = data.peer.uid
        if !data.flags.contains(.mesh) {
            fail(.joins, "peer \(node.index) received data without a mesh by an invitation")
        }
        node.application.wantedPeers.insert(uid)
        node.application.invitationEnds[uid] = end
        // The timeout of an attempt starts again.
        if node.application.connecting[uid] != nil { node.application.connecting[uid] = moment(node) }
        node.engine.connect(request, with: data, until: end, at: moment(node))
    }

    // MARK: events of the session

    /// Handles the outcome of an application's call: each has exactly one.
    func connectEnded(_ request: ConnectRequestID, _ reason: DisconnectReason?, of node: Node) {
        let uid = node.application.connects[request] ?? node.application.requests[request]
        if reason == nil, let uid, node.link(to: uid) == nil {
            fail(.outcomes, "peer \(node.index) was notified of a link to \(uid), but has none")
        }
        if let uid = node.application.connects.removeValue(forKey: request) {
            let isOwn = reason?.code == .cancelled && reason?.closeCode == nil
            if isOwn, !node.engine.isLeaving, !node.application.withdrawn.contains(uid) {
                fail(.outcomes, "peer \(node.index) was notified that it cancelled an attempt, but did not")
            }
            return
        }
        // It timed out: a decision of the application.
        if reason != nil { trouble(node.index) }
        over(request, of: node, reason)
    }

    /// Withdraws and ends an invitation whose session leaves.
    func abandoned(_ request: ConnectRequestID, of node: Node) {
        for asking in node.asking where asking.request == request {
            asking.engine.machine.cancel(at: moment(node))
        }
        for (question, accepted) in node.asked.accepted where accepted.request == request {
            node.asked.accepted[question]?.isAbandoned = true
            node.asked.engine.machine.cancel(question, at: moment(node))
        }
    }
}

extension Scenario.Answer {
    /// Its encoding, as the context of the invitation.
    fileprivate var bytes: [UInt8] { Array(description.utf8) }

    fileprivate init(bytes: [UInt8]) {
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ").map { String($0) }
        self = Scenario.Answer(words: words) ?? .never
    }

    fileprivate var delay: Int? {
        switch self {
        case .accepts(let delay), .declines(let delay): delay
        case .never: nil
        }
    }

    fileprivate var isYes: Bool { if case .accepts = self { true } else { false } }
}
