package import MultipeerCore
import MultipeerEngine
package import MultipeerHandshake
package import MultipeerSecurity

/// One outgoing invitation. Spec 12.
///
/// An actor pinned to a loop. An `Inviter` makes its decisions.
package actor InvitationClient: InvitationDriver {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated package let wakeup = Wakeup()

    nonisolated let tls: InvitationTLS
    nonisolated let invitee: UID?
    let sockets: Sockets
    /// Final for the same reason as `SessionDriver.engine`.
    final var engine: InvitationEngine<Inviter>
    private let makeData: @Sendable (PeerID) async throws(MultipeerError) -> ConnectionData
    private var making: Task<Void, Never>?
    private let outcome = Promise<Result<ConnectionData, InvitationFault>>()

    private init(
        _ loop: EventLoop, _ tls: InvitationTLS, _ inviter: Inviter,
        data: @escaping @Sendable (PeerID) async throws(MultipeerError) -> ConnectionData
    ) {
        self.loop = loop
        sockets = Sockets(loop)
        self.tls = tls
        invitee = inviter.peer?.uid
        engine = InvitationEngine(inviter)
        makeData = data
    }

    /// Invites a peer and returns its connection data once it has accepted and has ours.
    ///
    /// Cancelling the task closes the connection and throws `InvitationFault.cancelled`.
    /// - Parameters:
    ///   - peer: the peer to invite; a host that responds for another peer is not asked. Nil for the one at the address.
    ///   - addresses: the addresses of its advertisement, at most 16, the likeliest first.
    ///   - local: the inviting peer.
    ///   - identity: what proves the inviting peer's uid, if that is keyed.
    ///   - context: data for the peer's application, at most 32 KiB; a host that impersonates a peer with a random uid reads it,
    ///     too.
    ///   - timeout: how long to wait for the answer: 1 to 600 s.
    ///   - code: what the peer has to prove before it is sent anything.
    ///   - prefix: the digits with which its keyed uid has to begin, proven before it is sent anything.
    ///   - keyLog: receives the TLS secrets; nil, as it should be, for none.
    ///   - host: the simulated machine from which it is sent; nil for this one.
    ///   - data: makes the data for the peer, which it gets; called only after the peer has accepted.
    /// - Returns: the peer's connection data.
    /// - Throws: `InvitationFault`; `.system` when the application's data could not be made.
    package static func invite(
        _ peer: PeerID?, at addresses: [SocketAddress], as local: PeerID, identity: Identity? = nil,
        context: [UInt8]? = nil, within timeout: Duration = .seconds(30), code: InvitationCode? = nil,
        proving prefix: UIDPrefix? = nil, keyLog: KeyLog? = nil, on host: VirtualHost? = nil,
        data: @escaping @Sendable (PeerID) async throws(MultipeerError) -> ConnectionData
    ) async throws(InvitationFault) -> ConnectionData {
        var randomness = SystemRandomness()
        let proof = try proof(of: code)
        let inviter = try Inviter(
            peer, at: addresses.flatMap(\.candidates), as: local, context: context, within: timeout,
            code: proof, proving: prefix, id: randomness.bytes(16), seed: randomness.next(),
            at: EventLoop.currentMoment())
        let call: InvitationClient
        do throws(SessionFault) {
            let loop = try SessionFault.network { () throws(SocketFault) in try EventLoop.next(on: host) }
            let tls = try SessionFault.security { () throws(SecurityFault) in
                try InvitationTLS(for: local.uid, with: identity, keyLog: keyLog)
            }
            call = InvitationClient(loop, tls, inviter, data: data)
        } catch {
            throw .system("\(error)")
        }
        return try await call.run()
    }

    private static func proof(of code: InvitationCode?) throws(InvitationFault) -> CodeProof? {
        do throws(SecurityFault) {
            return if let code { try CodeProof(code) } else { nil }
        } catch {
            throw .system("\(error)")
        }
    }

    private func run() async throws(InvitationFault) -> ConnectionData {
        loop.wantsTurnEnd(self)
        let result = await outcome.value(onCancel: { Task.following { await self.cancel() } })
        return try result.get()
    }

    private func cancel() {
        engine.machine.cancel(at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }
}

// MARK: what the loop calls

extension InvitationClient {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.ready(connection: token, readiness) }
    }

    nonisolated package func deadlineReached() { assumeIsolated { $0.advance() } }
    nonisolated package func wokenUp() {}
    nonisolated package func turnEnded() { assumeIsolated { $0.endTurn() } }

    private func advance() {
        engine.advance(to: loop.now)
        lookAtDialled()
    }

    private func endTurn() {
        settle()
        loop.setDeadline(self, .earlier(engine.deadline, sockets.nextLook))
    }

    func carryOut(_ event: Inviter.Event) {
        switch event {
        case .makeData: make()
        case .end(let result):
            making?.cancel()
            outcome.send(result.mapError { explained($0) })
        }
    }

    /// Distinguishes why an invitation timed out, and adds to the addresses that were tried which ones of this machine were used.
    private func explained(_ fault: InvitationFault) -> InvitationFault {
        if fault == .timedOut, engine.machine.wasAsking { return .unanswered }
        if sockets.dialledFrom.isEmpty { return fault }
        let own = sockets.dialledFrom.map(\.description).sorted().joined(separator: " and ")
        return switch fault {
        case .unreachable(let problem): .unreachable("\(problem) (tried from \(own))")
        case .foreignKey(let problem): .foreignKey("\(problem) (tried from \(own))")
        default: fault
        }
    }

    private func make() {
        guard let peer = engine.machine.peer else { return }
        making = Task.followingDetached { [makeData, weak self] in
            do throws(MultipeerError) {
                await self?.made(.success(try await makeData(peer)))
            } catch {
                await self?.made(.failure(error))
            }
        }
    }

    private func made(_ result: Result<ConnectionData, MultipeerError>) {
        let now = EventLoop.currentMoment()
        switch result {
        case .success(let data): engine.machine.supply(data, at: now)
        case .failure(let error): engine.machine.failed(.system(error.description), at: now)
        }
        loop.wantsTurnEnd(self)
    }
}

extension SocketAddress {
    /// Returns an address as the candidates of a dial plan: one, on the interface that the address names.
    fileprivate var candidates: [Candidate] {
        var zone: UInt32 = 0
        if case .v6(_, _, let scope) = host { zone = scope }
        return Candidate(self)?.tried(on: [zone]) ?? []
    }
}
