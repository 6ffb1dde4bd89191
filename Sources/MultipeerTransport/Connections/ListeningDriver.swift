import MultipeerCore

/// A driver that others connect to: the session, and the invited end of invitations.
protocol ListeningDriver: ConnectionDriver {
    /// Returns the engine's number of a connection that was accepted from this address at that time; nil when it takes none now.
    func accepted(from address: [UInt8], at time: Moment) -> ConnectionID?
}

extension ListeningDriver {
    /// Starts listening.
    func listen(at acceptor: Acceptor) throws(SocketFault) {
        sockets.acceptor = acceptor
        do throws(SocketFault) { try acceptor.register(on: loop, for: self) } catch {
            stopListening()
            throw error
        }
    }

    func stopListening() {
        sockets.acceptor?.deregister(from: loop)
        sockets.acceptor?.sharedPort?.release(by: self)
        sockets.acceptor = nil
        sockets.acceptResumes = nil
    }

    /// Accepts the connections of the listening socket with this token.
    func accept(from token: Int) {
        guard let listener = sockets.acceptor?.listeners[token] else { return }
        // Only a session sees which connections are for invitations, and it has limits for expected peers: while one shares the
        // port, it takes all of them.
        if let session = sockets.acceptor?.sharedPort?.session, session !== self { return pauseAccepting() }
        let mayGoOn = listener.accept { socket, remote in
            _ = admit(socket, from: remote, at: loop.now)
        }
        if !mayGoOn { pauseAccepting() }
    }

    /// Takes a connection that another driver accepted on the same port.
    func take(_ passed: PassedConnection) {
        guard sockets.acceptor != nil, let socket = passed.takeSocket() else { return }
        if let id = admit(socket, from: passed.remote, at: passed.time) { absorb(passed.received, on: id) }
        loop.wantsTurnEnd(self)
    }

    private func admit(
        _ socket: consuming Socket, from remote: SocketAddress, at time: Moment
    ) -> ConnectionID? {
        guard let id = accepted(from: remote.host.unmapped.bytes, at: time) else { return nil }
        admit(id, socket, from: remote)
        sockets.connections[id]?.acceptTime = time
        // A connection that has to be dropped for it is dropped now: descriptors are few.
        carryOut()
        return id
    }

    /// Pauses accepting, also when no descriptor is left: unauthenticated peers wait in the backlog for a while, and the loop does
    /// not spin over them.
    private func pauseAccepting() {
        sockets.acceptor?.deregister(from: loop)
        sockets.acceptResumes = loop.now + .milliseconds(250)
    }

    /// Resumes accepting when the pause is over.
    func resumeAccepting() {
        guard let resumes = sockets.acceptResumes, resumes <= loop.now else { return }
        sockets.acceptResumes = nil
        guard let acceptor = sockets.acceptor else { return }
        do throws(SocketFault) { try acceptor.register(on: loop, for: self) } catch { pauseAccepting() }
    }
}
