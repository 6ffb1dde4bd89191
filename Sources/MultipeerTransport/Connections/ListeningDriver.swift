import MultipeerCore

/// A driver that others connect to: the session, and the invited end of invitations.
protocol ListeningDriver: ConnectionDriver {
    /// Returns the engine's number of a connection that was accepted from this address at that time; nil when it takes none now.
    func accepted(from address: [UInt8], at time: Moment) -> ConnectionID?
}

extension ListeningDriver {
    /// Starts listening. Throws `tooManyFiles` when no connection could be accepted: it would only be refused.
    func listen(at acceptor: Acceptor) throws(SocketFault) {
        let mayAccept = loop.host != nil || Descriptors.isFree(leaving: Self.left)
        sockets.acceptor = acceptor
        do throws(SocketFault) {
            guard mayAccept else { throw .tooManyFiles }
            try beginAccepting()
        } catch {
            stopListening()
            throw error
        }
    }

    /// What an accepted connection leaves: the reserve, and two for a connection that learns why there is no room for it, and for its
    /// copy on a shared port.
    private static var left: Int { Descriptors.reserved + 2 }

    func stopListening() {
        sockets.acceptor?.deregister(from: loop)
        sockets.acceptor?.sharedPort?.release(by: self)
        sockets.acceptor = nil
    }

    /// A session has come to the port, or has left it.
    func sessionChanged() {
        switch sockets.acceptor?.phase {
        case .left where !hasSession: resume()
        case .accepting where hasSession, .paused where hasSession: leaveAccepting()
        default: break
        }
        loop.wantsTurnEnd(self)
    }

    /// Whether a session shares the port, which then takes all connections: only it sees which are for invitations, and it has limits for
    /// expected peers.
    private var hasSession: Bool {
        guard let session = sockets.acceptor?.sharedPort?.session else { return false }
        return session !== self
    }

    /// Accepts the connections of the listening socket with this token.
    func accept(from token: Int) {
        guard let listener = sockets.acceptor?.listeners[token] else { return }
        if hasSession { return leaveAccepting() }
        let mayGoOn = listener.accept(leaving: Self.left) { socket, remote in
            _ = admit(socket, from: remote, at: loop.now)
        }
        if mayGoOn { return }
        _ = listener.accept(atMost: 1, leaving: Self.left - 1) { socket, remote in
            _ = admit(socket, from: remote, at: loop.now, isRefused: true)
        }
        AcceptShortage.shared.note()
        pauseAccepting()
    }

    /// Takes a connection that another driver accepted on the same port.
    func take(_ passed: PassedConnection) {
        guard sockets.acceptor != nil, let socket = passed.takeSocket() else { return }
        let id = admit(socket, from: passed.remote, at: passed.time, isRefused: passed.isRefused)
        if let id { absorb(passed.received, on: id) }
        loop.wantsTurnEnd(self)
    }

    private func admit(
        _ socket: consuming Socket, from remote: SocketAddress, at time: Moment, isRefused: Bool = false
    ) -> ConnectionID? {
        guard let id = accepted(from: remote.host.unmapped.bytes, at: time) else { return nil }
        admit(id, socket, from: remote)
        sockets.connections[id]?.acceptTime = time
        sockets.connections[id]?.isRefused = isRefused
        // A connection that has to be dropped for it is dropped now: descriptors are few.
        carryOut()
        return id
    }

    private func beginAccepting() throws(SocketFault) {
        if hasSession { return leaveAccepting() }
        try sockets.acceptor?.register(on: loop, for: self)
        sockets.acceptor?.phase = .accepting
    }

    /// Leaves the connections to the session. This one's loop does not even learn of them.
    private func leaveAccepting() {
        sockets.acceptor?.deregister(from: loop)
        sockets.acceptor?.phase = .left
    }

    /// Pauses accepting, also when no descriptor is left: unauthenticated peers wait in the backlog for a while, or until a connection
    /// is closed, and the loop does not spin over them.
    private func pauseAccepting() {
        sockets.acceptor?.deregister(from: loop)
        sockets.acceptor?.phase = .paused(until: loop.now + .milliseconds(250))
    }

    /// Resumes accepting when the pause is over.
    func resumeAccepting() {
        if let resumes = sockets.acceptResumes, resumes <= loop.now { resume() }
    }

    private func resume() {
        do throws(SocketFault) { try beginAccepting() } catch { pauseAccepting() }
    }
}
