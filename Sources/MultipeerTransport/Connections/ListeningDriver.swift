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
            try acceptor.register(on: loop, for: self)
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
        sockets.acceptResumes = nil
    }

    /// Accepts the connections of the listening socket with this token.
    func accept(from token: Int) {
        guard let listener = sockets.acceptor?.listeners[token] else { return }
        // Only a session sees which connections are for invitations, and it has limits for expected peers: while one shares the
        // port, it takes all of them.
        if let session = sockets.acceptor?.sharedPort?.session, session !== self { return pauseAccepting() }
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

    /// Pauses accepting, also when no descriptor is left: unauthenticated peers wait in the backlog for a while, or until a connection
    /// is closed, and the loop does not spin over them.
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
