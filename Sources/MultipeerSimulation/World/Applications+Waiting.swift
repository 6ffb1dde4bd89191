import MultipeerCore
import MultipeerEngine
import MultipeerHandshake

/// A request of an application for a verification code.
struct CodeRequest {
    let connection: SimulatedConnection
    let end: Int
    let since: Moment
    let timeout: Duration
}

/// A request of an application to wait until the peer has received everything that was sent before.
struct FlushRequest {
    let connection: SimulatedConnection
    let end: Int
    let since: Int64
    /// The number of messages that were sent before.
    let sent: Int
}

// MARK: - Verification codes

extension Applications {
    func requestCode(of node: Node, within milliseconds: Int) {
        guard node.isRunning, !node.engine.isLeaving, !node.links.isEmpty else { return }
        requestCode(on: random.pick(node.links), of: node, within: .milliseconds(milliseconds))
    }

    func requestCode(on socket: SimulatedSocket, of node: Node, within timeout: Duration) {
        guard let uid = socket.linkState?.peer.uid else { return }
        lastRequest += 1
        node.application.codeRequests[lastRequest] = CodeRequest(
            connection: socket.connection, end: socket.end, since: moment(node), timeout: timeout)
        socket.connection.record.hasAsked[socket.end] = true
        say("\(node.index) asks for the code of \(name(socket))")
        do throws(VerificationFault) {
            try node.engine.requestCode(of: uid, lastRequest, within: timeout, at: moment(node))
        } catch {
            node.application.codeRequests[lastRequest] = nil
            let isPlain = error == .notEncrypted && socket.connection.key == nil
            if !isPlain { fail(.waiters, "\(name(socket)) has no code: \(error)") }
        }
        settle(node)
    }

    /// Handles a request of the peer's application: this one does its part, mostly.
    func codeIsAsked(by peer: PeerID, of node: Node) {
        node.engine.eventsTaken(1, of: peer.uid)
        guard let socket = node.link(to: peer.uid), socket.connection.record.hasAsked[1 - socket.end] else {
            return fail(.codes, "peer \(node.index) is notified that \(peer.displayName) asks for a code")
        }
        guard random.chance(oneIn: 4) else {
            return post(
                .agree(connection: socket.connection.number, end: socket.end, life: node.process.life),
                after: Int64(random.uniform(10...3_000)) * 1_000_000)
        }
    }

    func agree(_ connection: SimulatedConnection, _ end: Int, _ life: Int) {
        let node = nodes[connection.nodes[end]]
        guard node.process.life == life, node.isRunning, !node.engine.isLeaving,
            let socket = connection.sockets[end]
        else {
            return
        }
        requestCode(on: socket, of: node, within: .seconds(20))
    }

    func verified(_ numbers: [UInt64], _ result: Result<String, VerificationFault>, of node: Node) {
        for number in numbers {
            guard let request = node.application.codeRequests.removeValue(forKey: number) else {
                return fail(.waiters, "peer \(node.index) is notified of a code for which no caller waits")
            }
            let record = request.connection.record
            switch result {
            case .success(let code):
                request.connection.record.codes[request.end] = code
                observer.counts.codes += 1
                let other = record.codes[1 - request.end] ?? code
                let own = record.codes[request.end] ?? code
                let isRight =
                    code.count == 12 && code == other && code == own && !record.hasAsked.contains(false)
                if !isRight {
                    fail(.codes, "connection \(request.connection.number) has the codes \(code) and \(other)")
                }
            case .failure(.timedOut):
                if moment(node) < request.since + request.timeout {
                    fail(.waiters, "peer \(node.index) waited too short a time for a code")
                }
            case .failure(.ended): break
            case .failure(let fault): fail(.waiters, "peer \(node.index) has no code: \(fault)")
            }
        }
    }
}

// MARK: - Marks

extension Applications {
    func flushMessages(of node: Node) {
        guard node.isRunning, !node.engine.isLeaving else { return }
        for socket in node.links {
            lastRequest += 1
            node.application.flushRequests[lastRequest] = FlushRequest(
                connection: socket.connection, end: socket.end, since: now,
                sent: socket.connection.record.sent[socket.end])
            node.engine.links.mark(lastRequest, on: socket.id)
        }
        settle(node)
    }

    func markReached(_ number: UInt64, of node: Node) {
        guard let mark = node.application.flushRequests.removeValue(forKey: number) else {
            return fail(.waiters, "peer \(node.index) is notified of a mark that was not made, or twice")
        }
        observer.counts.marks += 1
        let received = mark.connection.record.received[1 - mark.end]
        if received < mark.sent {
            fail(
                .marks,
                "connection \(mark.connection.number) brought \(received) messages of \(mark.sent) before a mark"
            )
        }
    }
}

// MARK: - The end of a link

extension Applications {
    /// Checks that requests on a link have had their outcome by the link's end; it settles marks.
    func endWaiting(_ socket: SimulatedSocket, of node: Node) {
        node.application.flushRequests = node.application.flushRequests.filter {
            $0.value.connection !== socket.connection
        }
        if node.application.codeRequests.values.contains(where: { $0.connection === socket.connection }) {
            fail(.waiters, "\(name(socket)) ended, but the caller that waits for its code was not notified")
        }
    }
}
