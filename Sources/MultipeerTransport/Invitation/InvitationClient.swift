package import MultipeerCore
import MultipeerEngine
package import MultipeerIntroduction
package import MultipeerSecurity

/// One invitation on its way out. Spec 12.
///
/// An actor pinned to a loop. What it does is decided by an `Inviter`.
package actor InvitationClient: InvitationDriver {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated package let wakeup = Wakeup()

    nonisolated let tls: InvitationTLS
    let sockets = Sockets()
    /// Final for the reason that `SessionDriver.engine` has.
    final var engine: InvitationEngine<Inviter>
    private let makeData: @Sendable () async throws(MultipeerError) -> ConnectionData
    private var making: Task<Void, Never>?
    private let outcome = Promise<Result<ConnectionData, InvitationFault>>()

    private init(
        _ loop: EventLoop, _ tls: InvitationTLS, _ inviter: Inviter,
        data: @escaping @Sendable () async throws(MultipeerError) -> ConnectionData
    ) {
        self.loop = loop
        self.tls = tls
        engine = InvitationEngine(inviter)
        makeData = data
    }

    /// Invites a peer and answers its connection data once it has said yes and holds ours.
    ///
    /// Cancelling the task closes the connection and throws `InvitationFault.cancelled`.
    /// - Parameters:
    ///   - peer: whom; whoever answers for another peer is not asked.
    ///   - addresses: where its advertisement says that it is, at most 16, the likeliest first.
    ///   - local: who invites.
    ///   - context: what the peer's application gets to read, at most 32 KiB; whoever pretends to be the peer reads it, too.
    ///   - timeout: how long to wait for the answer: 1 to 600 s.
    ///   - keyLog: where the TLS secrets go; nil, as it should be, for nowhere.
    ///   - host: the simulated machine from which it goes out; nil for this one.
    ///   - data: makes the data for the peer; asked for only after the peer said yes.
    /// - Returns: the peer's connection data.
    /// - Throws: `InvitationFault`; `.system` when the application's data could not be made.
    package static func invite(
        _ peer: PeerID, at addresses: [SocketAddress], as local: PeerID, context: [UInt8]? = nil,
        within timeout: Duration = .seconds(30), keyLog: KeyLog? = nil,
        on host: VirtualHost? = nil,
        data: @escaping @Sendable () async throws(MultipeerError) -> ConnectionData
    ) async throws(InvitationFault) -> ConnectionData {
        var randomness = SystemRandomness()
        let inviter = try Inviter(
            peer, at: addresses.flatMap(\.candidates), as: local, context: context, within: timeout,
            id: randomness.bytes(16), seed: randomness.next(), at: EventLoop.currentMoment())
        let call: InvitationClient
        do throws(SessionFault) {
            let loop = try SessionFault.network { () throws(SocketFault) in try EventLoop.next(on: host) }
            let tls = try SessionFault.security { () throws(SecurityFault) in
                try InvitationTLS(keyLog: keyLog)
            }
            call = InvitationClient(loop, tls, inviter, data: data)
        } catch {
            throw .system("\(error)")
        }
        return try await call.run()
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

// MARK: what the loop brings

extension InvitationClient {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.ready(connection: token, readiness) }
    }

    nonisolated package func deadlineReached() { assumeIsolated { $0.engine.advance(to: $0.loop.now) } }
    nonisolated package func wokenUp() {}
    nonisolated package func turnEnded() { assumeIsolated { $0.endTurn() } }

    private func endTurn() {
        settle()
        loop.setDeadline(self, engine.deadline)
    }

    func carryOut(_ event: Inviter.Event) {
        switch event {
        case .makeData: make()
        case .end(let result):
            making?.cancel()
            outcome.send(result)
        }
    }

    private func make() {
        making = Task.followingDetached { [makeData, weak self] in
            do throws(MultipeerError) {
                await self?.made(.success(try await makeData()))
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
    /// What a dial plan makes of an address: one candidate, on the interface that the address names.
    fileprivate var candidates: [Candidate] {
        var zone: UInt32 = 0
        if case .v6(_, _, let scope) = host { zone = scope }
        return Candidate(self)?.tried(on: [zone]) ?? []
    }
}
