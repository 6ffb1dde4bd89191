package import MultipeerFraming
package import MultipeerIntroduction

/// Where invitations of one peer arrive: listening sockets, TLS, and the questions that come of it. Spec 12.
///
/// An actor pinned to its loop. What it may do is decided by an `Invitee`.
package actor InvitationListener: LoopClient {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated package let poke = Poke()

    nonisolated package let peer: PeerID
    /// What the application is asked. It ends with `stop`.
    nonisolated package let questions = Questions()

    private let listening: [SocketAddress]

    /// - Parameters:
    ///   - peer: who is invited here.
    ///   - listening: where; port 0 lets the system choose one for all of them. Empty is everywhere, IPv4 and IPv6.
    package init(peer: PeerID, listening: [SocketAddress] = []) throws(SessionFault) {
        self.peer = peer
        self.listening = listening
        loop = try SessionFault.network { () throws(SocketFault) in try EventLoop.next() }
    }

    /// Listens from here on; answers the port, which is the same at every address. Once.
    package func start() async throws(SessionFault) -> UInt16 { throw .noAddress }

    /// Says yes: the inviter hears `data`, and its own data is the answer. Throws `InvitationFault.alreadyAnswered`,
    /// `.timedOut`, `.withdrawn`, `.protocolError` or `.cancelled` when the listener has stopped.
    package func accept(
        _ id: Question.ID, with data: ConnectionData
    ) async throws(InvitationFault) -> ConnectionData { throw .cancelled }

    /// Says no, with DECLINED, FULL, BUSY or POLICY. Throws `InvitationFault.alreadyAnswered`, `.timedOut`, `.withdrawn`,
    /// or `.cancelled` when the listener has stopped.
    package func refuse(_ id: Question.ID, _ code: CloseCode = .declined) async throws(InvitationFault) {
        throw .cancelled
    }

    /// Ends listening and tells everybody who waits, at both ends.
    package func stop() async {}

    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {}
    nonisolated package func deadlineReached() {}
    nonisolated package func poked() {}
    nonisolated package func turnEnded() {}
}
