import MultipeerCore
import MultipeerEngine
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

// MARK: dialling and accepting

extension SessionDriver {
    func dial(_ id: ConnectionID, _ candidate: Candidate, accepting: Fingerprint?) {
        guard let address = SocketAddress(candidate) else {
            return engine.ended(id, .unreachable("not an address"), at: loop.now)
        }
        do throws(SocketFault) {
            let wire = Wire(
                id, try Socket.connecting(to: address), to: address, dialled: true, accepting: accepting)
            try loop.register(wire.socket.descriptor, for: self, token: Int(id.rawValue), interest: .writable)
            wires[id] = wire
        } catch {
            engine.ended(id, .unreachable("\(address): \(error)"), at: loop.now)
        }
    }

    func finishDialling(_ wire: Wire) {
        if let fault = wire.socket.connectionResult() {
            return lost(wire, .unreachable("\(wire.remote): \(fault)"))
        }
        do throws(SecurityFault) {
            if let accepting = wire.accepting, let tls {
                wire.channel = try SecureChannel.tls(tls, role: .client, accepting: [accepting])
            } else {
                wire.channel = SecureChannel.plain()
            }
            wire.phase = .securing
            want(.readable, of: wire)
            _ = try wire.channel?.handshake()
            dirty.insert(wire.id)
        } catch {
            lost(wire, .security(error))
        }
    }

    func accept(from token: Int) {
        guard let listener = acceptor?.listeners[token] else { return }
        let mayGoOn = listener.accept { socket, remote in admit(socket, from: remote) }
        if !mayGoOn { pauseAccepting() }
    }

    private func admit(_ socket: consuming Socket, from remote: SocketAddress) {
        guard let id = engine.accepted(from: remote.host.unmapped.bytes, at: loop.now) else { return }
        let wire = Wire(id, socket, to: remote, dialled: false, accepting: nil)
        do throws(SocketFault) {
            try loop.register(wire.socket.descriptor, for: self, token: Int(id.rawValue), interest: .readable)
            wires[id] = wire
        } catch {
            engine.ended(id, .unreachable("\(error)"), at: loop.now)
        }
        carryOut()
    }

    /// Out of descriptors: strangers wait in the backlog for a while, and the loop does not spin over them.
    private func pauseAccepting() {
        acceptor?.deregister(from: loop)
        acceptResumes = loop.now + .milliseconds(250)
    }

    func resumeAccepting() {
        acceptResumes = nil
        guard let acceptor else { return }
        do throws(SocketFault) { try acceptor.register(on: loop, for: self) } catch { pauseAccepting() }
    }

    func listen() throws(SessionFault) {
        guard acceptor == nil else { return }
        guard !isOver else { throw .refused(EndReason(code: .left)) }
        do throws(SocketFault) {
            let fresh = try Acceptor(configuration.listening)
            acceptor = fresh
            try fresh.register(on: loop, for: self)
        } catch {
            stopListening()
            throw .network(error)
        }
    }

    func stopListening() {
        acceptor?.deregister(from: loop)
        acceptor = nil
        acceptResumes = nil
    }
}
