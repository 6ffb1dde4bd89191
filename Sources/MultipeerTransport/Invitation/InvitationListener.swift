package import MultipeerCore
import MultipeerEngine
package import MultipeerFraming
package import MultipeerHandshake
package import MultipeerSecurity

/// Receives the invitations of one peer: listening sockets, TLS, and the resulting questions. Spec 12.
///
/// An actor pinned to its loop. An `Invitee` makes its decisions. It lives until `stop`, and until all invitations answered by
/// then are over.
package actor InvitationListener: InvitationDriver, ListeningDriver {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated package let wakeup = Wakeup()

    nonisolated package let peer: PeerID
    /// The questions for the application. The sequence ends with `stop`.
    nonisolated package let questions = ReceivedInvitations()
    /// What happens to the code. The sequence ends with `stop`.
    nonisolated package let codeEvents = CodeEvents()
    /// How often the code that inviters have to prove may be used; nil when there is none.
    nonisolated package let codeValidity: InvitationCode.Validity?

    private let listening: [SocketAddress]
    private let sharedPort: SharedPort?
    nonisolated let tls: InvitationTLS
    nonisolated let invitee: UID? = nil
    let sockets: Sockets
    /// Final for the same reason as `SessionDriver.engine`.
    final var engine: InvitationEngine<Invitee>
    private var isStopped = false
    /// The questions whose answers are on their way here.
    private let claimed = Locked<Set<QuestionID>>([])
    /// The questions without an answer.
    private var unanswered: [QuestionID: ReceivedInvitation] = [:]
    /// The outcomes of the accepted questions.
    private var outcomes: [QuestionID: Promise<Result<ConnectionData, InvitationFault>>] = [:]

    /// Creates a listener; the network is not used before `start`.
    ///
    /// - Parameters:
    ///   - peer: the invited peer.
    ///   - identity: what proves its uid, if that is keyed.
    ///   - listening: the addresses to listen at; port 0 lets the system choose one for all of them. Empty is everywhere, IPv4
    ///     and IPv6.
    ///   - sharedPort: the port to listen at, which a session may use, too; nil for one of its own.
    ///   - code: what inviters have to prove before they are asked anything, and how often it may be used.
    ///   - keyLog: receives the TLS secrets; nil, as it should be, for none.
    ///   - host: the simulated machine that runs it; nil for this one.
    /// - Throws: `SessionFault` when the system provides no loop, or OpenSSL no key, or when `peer` has a keyed uid that `identity`
    ///   does not prove.
    package init(
        peer: PeerID, identity: Identity? = nil, listening: [SocketAddress] = [],
        sharedPort: SharedPort? = nil,
        code: (InvitationCode, valid: InvitationCode.Validity)? = nil, keyLog: KeyLog? = nil,
        on host: VirtualHost? = nil
    ) throws(SessionFault) {
        self.peer = peer
        self.listening = listening
        self.sharedPort = host == nil ? sharedPort : nil
        codeValidity = code?.valid
        loop = try SessionFault.network { () throws(SocketFault) in try EventLoop.next(on: host) }
        sockets = Sockets(loop)
        tls = try SessionFault.security { () throws(SecurityFault) in
            try InvitationTLS(for: peer.uid, with: identity, keyLog: keyLog)
        }
        let advertised = try SessionFault.security { () throws(SecurityFault) -> AdvertisedCode? in
            guard let code else { return nil }
            return AdvertisedCode(try CodeProof(code.0), valid: code.valid)
        }
        var randomness = SystemRandomness()
        engine = InvitationEngine(Invitee(peer, code: advertised, seed: randomness.next()))
        host?.onEnd { [weak self] in
            guard let self else { return }
            Task.following { await self.stop() }
        }
    }
}

// MARK: what its owner calls

extension InvitationListener {
    /// Starts listening; returns the port, which is the same at every address.
    package func start() async throws(SessionFault) -> UInt16 {
        guard sockets.acceptor == nil, !isStopped else {
            throw .invalidArgument("invitations are listened for once")
        }
        let acceptor =
            if let sharedPort {
                try sharedPort.open(for: self, at: listening)
            } else {
                try SessionFault.network { () throws(SocketFault) in
                    try Acceptor.onOnePort(listening, on: loop)
                }
            }
        try SessionFault.network { () throws(SocketFault) in try listen(at: acceptor) }
        guard let port = acceptor.listeners.values.first?.address.port else { throw .noAddress }
        return port
    }

    /// Announces a call of `accept` or `refuse`, which `stop` no longer prevents.
    nonisolated package func claim(_ id: ReceivedInvitation.ID) { claimed.withLock { _ = $0.insert(id) } }

    /// Accepts: the inviter receives `data`, and its own data is returned. Throws `InvitationFault.alreadyAnswered`, `.timedOut`,
    /// `.withdrawn`, `.protocolError`, `.incompatible`, or `.cancelled` when the listener has stopped or the task was cancelled:
    /// then the inviter is notified, too.
    package func accept(
        _ id: ReceivedInvitation.ID, with data: ConnectionData
    ) async throws(InvitationFault) -> ConnectionData {
        defer { loop.wantsTurnEnd(self) }
        claimed.withLock { _ = $0.remove(id) }
        try engine.machine.accept(id, with: data, at: EventLoop.currentMoment())
        unanswered.removeValue(forKey: id)?.ending.send(nil)
        let outcome = Promise<Result<ConnectionData, InvitationFault>>()
        outcomes[id] = outcome
        loop.wantsTurnEnd(self)
        let result = await outcome.value(onCancel: { Task.following { await self.cancel(id) } })
        return try result.get()
    }

    /// Refuses, with DECLINED, FULL, BUSY or POLICY. Throws `InvitationFault.alreadyAnswered`, `.timedOut`, `.withdrawn`, or
    /// `.cancelled` when the listener has stopped.
    package func refuse(_ id: ReceivedInvitation.ID, _ code: CloseCode = .declined)
        async throws(InvitationFault)
    {
        defer { loop.wantsTurnEnd(self) }
        claimed.withLock { _ = $0.remove(id) }
        try engine.machine.refuse(id, code, at: EventLoop.currentMoment())
    }

    /// Stops listening and ends every unanswered question, at both ends. Accepted and claimed ones go on; their connections end
    /// with them.
    package func stop() async {
        isStopped = true
        stopListening()
        engine.machine.stop(sparing: claimed.withLock { $0 }, at: EventLoop.currentMoment())
        questions.finish()
        codeEvents.finish()
        endTurn()
    }

    /// Ends the wait of the task that has accepted.
    private func cancel(_ id: QuestionID) {
        engine.machine.cancel(id, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }
}

// MARK: what the loop calls

extension InvitationListener {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.handle(token, readiness) }
    }

    nonisolated package func deadlineReached() { assumeIsolated { $0.advance() } }
    nonisolated package func wokenUp() {}
    nonisolated package func turnEnded() { assumeIsolated { $0.endTurn() } }

    private func handle(_ token: Int, _ readiness: Readiness) {
        if token < 0 { accept(from: token) } else { ready(connection: token, readiness) }
    }

    func accepted(from address: [UInt8], at time: Moment) -> ConnectionID? {
        engine.accepted(from: address, at: time)
    }

    private func advance() {
        engine.advance(to: loop.now)
        resumeAccepting()
    }

    private func endTurn() {
        settle()
        loop.setDeadline(self, .earlier(engine.deadline, sockets.acceptResumes))
    }

    func carryOut(_ event: Invitee.Event) {
        switch event {
        case .ask(let asked): ask(asked)
        case .contested(let question): unanswered[question]?.contest.send(())
        case .end(let question, let ending): end(question, ending)
        case .code(.used): codeEvents.used()
        case .code(.guessedWrong(let id, let isLast)):
            let remote = sockets.connections[id].map { "\($0.remote)" }
            codeEvents.guessedWrong(from: remote ?? "", isLast: isLast)
        }
    }

    private func ask(_ asked: Invitee.InvitationRequest) {
        guard let remote = sockets.connections[asked.connection]?.remote else { return }
        let question = ReceivedInvitation(
            id: asked.question, inviter: asked.inviter, isVerified: asked.isVerified,
            context: asked.context, timeout: asked.timeout,
            deadline: asked.deadline, remote: remote, ending: Promise(), contest: Promise())
        if asked.isContested { question.contest.send(()) }
        unanswered[asked.question] = question
        questions.push(question)
    }

    private func end(_ question: QuestionID, _ ending: Invitee.Ending) {
        questions.remove(question)
        let told = unanswered.removeValue(forKey: question)?.ending
        let outcome = outcomes.removeValue(forKey: question)
        switch ending {
        case .completed(let data): outcome?.send(.success(data))
        case .refused: told?.send(nil)
        case .failed(let fault):
            told?.send(fault)
            outcome?.send(.failure(fault))
        }
    }
}
