package import MultipeerIntroduction

/// One invitation on its way out. Spec 12.
package actor InvitationCall: LoopClient {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated package let poke = Poke()

    private init(_ loop: EventLoop) { self.loop = loop }

    /// Invites a peer and answers its connection data once it has said yes and holds ours.
    ///
    /// Cancelling the task closes the connection and throws `InvitationFault.cancelled`.
    /// - Parameters:
    ///   - peer: whom; whoever answers for another peer is not asked.
    ///   - addresses: where its advertisement says that it is, at most 16, the likeliest first.
    ///   - local: who invites.
    ///   - context: what the peer's application gets to read, at most 32 KiB; whoever pretends to be the peer reads it, too.
    ///   - timeout: how long to wait for the answer: 1 to 600 s.
    ///   - data: makes the data for the peer; asked for only after the peer said yes.
    package static func invite(
        _ peer: PeerID, at addresses: [SocketAddress], as local: PeerID, context: [UInt8]? = nil,
        within timeout: Duration = .seconds(30),
        data: @escaping @Sendable () async throws(MultipeerError) -> ConnectionData
    ) async throws(InvitationFault) -> ConnectionData { throw .cancelled }

    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {}
    nonisolated package func deadlineReached() {}
    nonisolated package func poked() {}
    nonisolated package func turnEnded() {}
}
