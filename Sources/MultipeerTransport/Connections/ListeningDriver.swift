import MultipeerCore

/// A driver that others connect to: the session, and the invited end of invitations.
protocol ListeningDriver: ConnectionDriver {
    /// Returns the engine's number of a connection that was accepted from this address; nil when it takes none now.
    func accepted(from address: [UInt8]) -> ConnectionID?
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
        sockets.acceptor = nil
        sockets.acceptResumes = nil
    }

    /// Accepts the connections of the listening socket with this token.
    func accept(from token: Int) {
        guard let listener = sockets.acceptor?.listeners[token] else { return }
        let mayGoOn = listener.accept { socket, remote in admit(socket, from: remote) }
        if !mayGoOn { pauseAccepting() }
    }

    private func admit(_ socket: consuming Socket, from remote: SocketAddress) {
        guard let id = accepted(from: remote.host.unmapped.bytes) else { return }
        admit(id, socket, from: remote)
        // A connection that has to be dropped for it is dropped now: descriptors are few.
        carryOut()
    }

    /// Pauses accepting when no descriptor is left: unauthenticated peers wait in the backlog for a while, and the loop does
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
