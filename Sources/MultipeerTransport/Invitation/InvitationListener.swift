package import MultipeerCore
package import MultipeerFraming
package import MultipeerIntroduction
package import MultipeerSecurity

/// Where invitations of one peer arrive: listening sockets, TLS, and the questions that come of it. Spec 12.
///
/// An actor pinned to its loop. What it may do is decided by an `Invitee`. It lives until `stop`, and until what was
/// answered by then has come to its end.
package actor InvitationListener: LoopClient {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated package let poke = Poke()

    nonisolated package let peer: PeerID
    /// What the application is asked. It ends with `stop`.
    nonisolated package let questions = Questions()

    private let listening: [SocketAddress]
    private let wires: InvitationWires
    private var invitee: Invitee
    private var acceptor: Acceptor?
    private var acceptResumes: Moment?
    private var isStopped = false
    /// The questions whose answers are on their way here.
    private let claimed = Locked<Set<QuestionID>>([])
    /// Of the questions that nobody has answered.
    private var endings: [QuestionID: Promise<InvitationFault?>] = [:]
    /// Of those that were answered with yes.
    private var outcomes: [QuestionID: Promise<Result<ConnectionData, InvitationFault>>] = [:]

    /// Nothing touches the network before `start`.
    ///
    /// - Parameters:
    ///   - peer: who is invited here.
    ///   - listening: where; port 0 lets the system choose one for all of them. Empty is everywhere, IPv4 and IPv6.
    ///   - keyLog: where the TLS secrets go; nil, as it should be, for nowhere.
    /// - Throws: `SessionFault` when the system gives no loop, or OpenSSL no key.
    package init(
        peer: PeerID, listening: [SocketAddress] = [], keyLog: KeyLog? = nil
    ) throws(SessionFault) {
        self.peer = peer
        self.listening = listening
        loop = try SessionFault.network { () throws(SocketFault) in try EventLoop.next() }
        let tls = try SessionFault.security { () throws(SecurityFault) in
            try InvitationTLS(keyLog: keyLog)
        }
        wires = InvitationWires(loop, tls, .server)
        invitee = Invitee(peer)
    }
}

// MARK: what its owner calls

extension InvitationListener {
    /// Listens from here on; answers the port, which is the same at every address.
    package func start() async throws(SessionFault) -> UInt16 {
        guard acceptor == nil, !isStopped else { throw .invalidArgument("invitations are listened for once") }
        let fresh = try SessionFault.network { [listening] () throws(SocketFault) in
            try Acceptor.onOnePort(listening)
        }
        acceptor = fresh
        do throws(SocketFault) { try fresh.register(on: loop, for: self) } catch {
            stopListening()
            throw .network(error)
        }
        guard let port = fresh.listeners.values.first?.address.port else { throw .noAddress }
        return port
    }

    /// Says that `accept` or `refuse` is going to be called, which `stop` does not keep from anything any more.
    nonisolated package func claim(_ id: Question.ID) { claimed.withLock { _ = $0.insert(id) } }

    /// Says yes: the inviter hears `data`, and its own data is the answer. Throws `InvitationFault.alreadyAnswered`,
    /// `.timedOut`, `.withdrawn`, `.protocolError`, `.incompatible`, or `.cancelled` when the listener has stopped or the
    /// task was cancelled: then the inviter hears that, too.
    package func accept(
        _ id: Question.ID, with data: ConnectionData
    ) async throws(InvitationFault) -> ConnectionData {
        defer { loop.wantsTurnEnd(self) }
        claimed.withLock { _ = $0.remove(id) }
        try invitee.accept(id, with: data, at: EventLoop.currentMoment())
        endings.removeValue(forKey: id)?.send(nil)
        let outcome = Promise<Result<ConnectionData, InvitationFault>>()
        outcomes[id] = outcome
        loop.wantsTurnEnd(self)
        let result = await outcome.value(onCancel: { Task { await self.cancel(id) } })
        return try result.get()
    }

    /// Says no, with DECLINED, FULL, BUSY or POLICY. Throws `InvitationFault.alreadyAnswered`, `.timedOut`, `.withdrawn`,
    /// or `.cancelled` when the listener has stopped.
    package func refuse(_ id: Question.ID, _ code: CloseCode = .declined) async throws(InvitationFault) {
        defer { loop.wantsTurnEnd(self) }
        claimed.withLock { _ = $0.remove(id) }
        try invitee.refuse(id, code, at: EventLoop.currentMoment())
    }

    /// Ends listening and tells everybody who waits for an answer, at both ends. What was answered with yes, or is claimed,
    /// goes on; its connections end with it.
    package func stop() async {
        isStopped = true
        stopListening()
        invitee.stop(sparing: claimed.withLock { $0 }, at: EventLoop.currentMoment())
        questions.finish()
        settle()
    }

    /// The task that said yes waits no more.
    private func cancel(_ id: QuestionID) {
        invitee.cancel(id, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }
}

// MARK: what the loop brings

extension InvitationListener {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.handle(token, readiness) }
    }

    nonisolated package func deadlineReached() { assumeIsolated { $0.advance() } }
    nonisolated package func poked() {}
    nonisolated package func turnEnded() { assumeIsolated { $0.settle() } }

    private func handle(_ token: Int, _ readiness: Readiness) {
        guard token < 0 else { return wires.ready(token, readiness) }
        guard let listener = acceptor?.listeners[token] else { return }
        let mayGoOn = listener.accept { socket, remote in admit(socket, from: remote) }
        if !mayGoOn { pauseAccepting() }
    }

    private func admit(_ socket: consuming Socket, from remote: SocketAddress) {
        let id = invitee.accepted(from: remote.host.unmapped.bytes, at: loop.now)
        wires.admit(id, socket, from: remote, for: self)
        // Whoever has to go for it goes now: descriptors are few.
        takeEvents()
    }

    private func advance() {
        invitee.advance(to: loop.now)
        guard let acceptResumes, acceptResumes <= loop.now else { return }
        self.acceptResumes = nil
        do throws(SocketFault) { try acceptor?.register(on: loop, for: self) } catch { pauseAccepting() }
    }

    private func takeEvents() {
        carryOut()
        while case let events = wires.takeEvents(), !events.isEmpty {
            for event in events {
                switch event {
                case .connected: break
                case .secured(let id): invitee.secured(id, at: loop.now)
                case .frame(let id, let header, let payload):
                    invitee.receive(id, header, payload.span, at: loop.now)
                case .violated(let id, let code): invitee.violated(id, code, at: loop.now)
                case .lost(let id, _): invitee.lost(id, at: loop.now)
                }
            }
            carryOut()
        }
    }

    private func settle() {
        repeat {
            takeEvents()
            wires.settle()
        } while wires.hasWork
        loop.setDeadline(self, [invitee.deadline, wires.deadline, acceptResumes].compactMap { $0 }.min())
    }

    private func carryOut() {
        for action in invitee.takeActions() {
            switch action {
            case .send(let id, let frame): wires.send(id, frame)
            case .close(let id, let code): wires.close(id, code)
            case .ask(let asked): ask(asked)
            case .end(let question, let ending): end(question, ending)
            }
        }
    }

    private func ask(_ asked: Invitee.Asked) {
        guard let remote = wires.remote(of: asked.connection) else { return }
        let ending = Promise<InvitationFault?>()
        endings[asked.question] = ending
        questions.push(
            Question(
                id: asked.question, inviter: asked.inviter, context: asked.context, timeout: asked.timeout,
                deadline: asked.deadline, remote: remote, ending: ending))
    }

    private func end(_ question: QuestionID, _ ending: Invitee.Ending) {
        questions.remove(question)
        let told = endings.removeValue(forKey: question)
        let outcome = outcomes.removeValue(forKey: question)
        switch ending {
        case .completed(let data): outcome?.send(.success(data))
        case .refused: told?.send(nil)
        case .failed(let fault):
            told?.send(fault)
            outcome?.send(.failure(fault))
        }
    }

    /// Out of descriptors: strangers wait in the backlog for a while, and the loop does not spin over them.
    private func pauseAccepting() {
        acceptor?.deregister(from: loop)
        acceptResumes = loop.now + .milliseconds(250)
    }

    private func stopListening() {
        acceptor?.deregister(from: loop)
        acceptor = nil
        acceptResumes = nil
    }
}
