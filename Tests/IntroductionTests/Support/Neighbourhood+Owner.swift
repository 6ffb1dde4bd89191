import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity
import TestSupport

/// What the owner of each machine does at its bidding.
extension Neighbourhood {
    func carryOut(_ index: Int) {
        while case let actions = nodes[index].machine.takeActions(), !actions.isEmpty {
            for action in actions { carryOut(action, of: index) }
        }
    }

    func carryOut(_ action: Introductions.Action, of index: Int) {
        switch action {
        case .dial(let id, let candidate, let key): dial(id, candidate, key, from: index)
        case .send(let id, let frame):
            guard let (wire, end) = places[index]?[id] else {
                return complaints.append("sent on no connection")
            }
            post(frame, on: wire, from: end)
        case .close(let id, let code): close(id, code, of: index)
        case .ask(let uid, let id): ask(uid, id, of: index)
        case .met: break
        case .link(let id, let data, remote: _, isMesh: _): link(id, data.peer.uid, of: index)
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

    func dial(_ id: ConnectionID, _ candidate: Candidate, _ key: Fingerprint?, from index: Int) {
        nodes[index].dials.append(Node.Dial(moment: now, candidate: candidate, key: key))
        let wire = wires.count
        let delay = dice.milliseconds(latency)
        let target = nodes.firstIndex { $0.address == candidate.address && $0.port == candidate.port }
        wires.append(Wire(dialler: index, target: target ?? index, key: key, latency: delay))
        places[index, default: [:]][id] = (wire, 0)
        wires[wire].ids[0] = id
        schedule(now + delay) { [self] in
            guard !wires[wire].isOver[0], !wires[wire].isDead else { return }
            if silentAddresses.contains(candidate.address) { return }
            guard let target, nodes[target].isListening else {
                return schedule(now + delay) { [self] in lose(wire, 0, .unreachable("refused")) }
            }
            accept(wire, at: target)
        }
    }

    func accept(_ wire: Int, at target: Int) {
        let id = nodes[target].machine.accepted(at: now)
        wires[wire].ids[1] = id
        places[target, default: [:]][id] = (wire, 1)
        carryOut(target)
        schedule(now + wires[wire].latency * 2) { [self] in secure(wire) }
    }

    /// What TLS, or the preface, comes to at the acceptor; the dialler learns of it a little later.
    func secure(_ wire: Int) {
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

    func refuse(_ wire: Int, _ fault: SecurityFault) {
        lose(wire, 1, .security(fault))
        deliver(wire, to: 0) { [self] in lose(wire, 0, .security(fault)) }
    }

    func close(_ id: ConnectionID, _ code: CloseCode, of index: Int) {
        guard let (wire, end) = places[index]?[id] else { return complaints.append("closed no connection") }
        if wires[wire].isOver[end] { complaints.append("closed a connection that was over") }
        nodes[index].closes.append(code)
        if wires[wire].isSecured[end] { post(Frame.close(code, reason: ""), on: wire, from: end) }
        finish(wire, end)
    }

    func ask(_ uid: UID, _ id: ConnectionID, of index: Int) {
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

    func link(_ id: ConnectionID, _ uid: UID, of index: Int) {
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

    func leaveLink(
        _ id: ConnectionID, of index: Int, _ code: CloseCode, _ event: (UID) -> Node.Event
    ) {
        guard let (uid, _) = nodes[index].links.first(where: { $0.value == id }),
            let (wire, end) = places[index]?[id]
        else { return complaints.append("left no link") }
        nodes[index].links[uid] = nil
        nodes[index].events.append(event(uid))
        if code == .duplicate { nodes[index].superseded.insert(uid) }
        post(Frame.close(code, reason: ""), on: wire, from: end)
        finish(wire, end)
        insist(index, on: uid)
    }

    func insist(_ index: Int, on uid: UID) {
        guard nodes[index].insists else { return }
        after(.seconds(1)) { [self] in
            guard nodes[index].links[uid] == nil, let data = nodes[index].held[uid] else { return }
            guard let other = nodes.firstIndex(where: { $0.uid == uid }) else { return }
            try connect(index, to: other, with: data)
        }
    }
}
