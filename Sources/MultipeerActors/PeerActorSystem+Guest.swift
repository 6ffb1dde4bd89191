import Multipeer
package import MultipeerCore
package import MultipeerLink
package import MultipeerMesh
package import MultipeerTransport

// MARK: events of the session, on its loop

extension PeerActorSystem: SubprotocolHandler {
    package var mark: UInt32 { Envelope.mark }

    package func linkMade(to peer: PeerID) { meet(peer) }

    package func linkEnded(to peer: PeerID, _ reason: DisconnectReason) {
        changeOnLoop { $0.linkEnded(to: peer.uid, reason) }
        transfers.linkEnded(to: peer, reason)
    }

    package func arrived(_ messages: [IncomingMessage], from peer: PeerID) {
        changeOnLoop { exchange in
            for message in messages {
                exchange.receive(message.storage.span.extracting(message.range), from: peer.uid)
            }
        }
    }

    package func takes(_ event: Session.Event) -> Bool { transfers.take(event) }
}

// MARK: actions of the exchange

extension PeerActorSystem {
    /// What waits for the answer of a call.
    struct Caller: Sendable {
        let outcome = Promise<CallOutcome>()
        /// Streams and files that belong to the call, and are sent after it.
        let attachments: Attachments
        let callee: PeerID
    }

    typealias CallExchange = Exchange<Caller, Task<Void, Never>>

    func meet(_ peer: PeerID) {
        transfers.linkMade(to: peer)
        // Before the loop delivers anything of this link, and before decisions made in the meantime are carried out.
        let hello = exchange.withLock { $0.linkMade(to: peer, isOwn: peer == self.peer) }
        post(hello, to: peer.uid, .notice)
        timer.wake()
    }

    /// Advances the exchange after a deadline; on the loop.
    func advance() {
        let now = EventLoop.currentMoment()
        changeOnLoop { $0.advance(to: now) }
    }

    /// Changes the exchange, on any thread. Its decisions are carried out on the loop, in the order in which they
    /// were made.
    @discardableResult
    func change<Result>(_ body: (inout CallExchange) -> Result) -> Result {
        let (result, hasActions, moment) = exchange.withLock { exchange in
            (body(&exchange), exchange.hasActions, exchange.earlierDeadline())
        }
        if let moment { timer.set(moment) }
        if hasActions { timer.wake() }
        return result
    }

    /// Does the same on the loop, where no wakeup is needed.
    private func changeOnLoop(_ body: (inout CallExchange) -> Void) {
        let (actions, moment) = exchange.withLock { exchange in
            body(&exchange)
            return (exchange.takeActions(), exchange.earlierDeadline())
        }
        if let moment { timer.set(moment) }
        carryOut(actions)
    }

    /// Carries out the decisions of other threads; on the loop.
    func carryOut() { carryOut(exchange.withLock { $0.takeActions() }) }

    private func carryOut(_ actions: [CallExchange.Action]) {
        var turn = Turn()
        for action in actions { carryOut(action, &turn) }
        // From here on calls are sent by their own threads again.
        if turn.hasTold { exchange.withLock { $0.haveTold() } }
        if !turn.begun.isEmpty {
            // So that the calls that run can be cancelled; one lock for all that arrived together.
            turn.stopped += exchange.withLock { exchange in
                turn.begun.filter { !exchange.began($0.call, $0.task) }.map(\.task)
            }
        }
        if turn.stopped.isEmpty { return }
        // Cancellation handlers are the application's code, and do not run on the loop.
        Task.followingDetached { [stopped = turn.stopped] in for task in stopped { task.cancel() } }
    }

    /// The results of the actions that were carried out together.
    private struct Turn {
        var begun: [(call: IncomingCall, task: Task<Void, Never>)] = []
        var stopped: [Task<Void, Never>] = []
        var hasTold = false
    }

    private func carryOut(_ action: CallExchange.Action, _ turn: inout Turn) {
        switch action {
        case .send(let bytes, let uid, let purpose):
            post(bytes, to: uid, purpose)
            if case .notice = purpose { turn.hasTold = true }
        case .settle(let caller, let outcome):
            if outcome.isWithoutCall { caller.attachments.giveUp() }
            caller.outcome.send(outcome)
        case .execute(let call, let incoming):
            if let task = begin(call, as: incoming) { turn.begun.append((incoming, task)) }
        case .stop(let work): turn.stopped.append(work)
        case .arrived(let checkIn, let peer): checkInRegistry.arrived(checkIn, peer).wake()
        case .left(let checkIn, let peer): checkInRegistry.left(checkIn, peer).wake()
        }
    }

    /// Sends without waiting: the exchange keeps to the peer's limits, which are far below what may be queued here.
    func post(_ bytes: [UInt8], to uid: UID, _ purpose: CallExchange.Purpose) {
        do throws(SendFault) {
            switch purpose {
            case .notice: try post(bytes, to: uid, limit: PeerActorSystem.noticeBacklog)
            case .refusal: try post(bytes, to: uid, limit: .standard)
            case .call(_, let caller):
                try post(bytes, to: uid, limit: .standard)
                transfers.send(caller.attachments, to: caller.callee)
            }
        } catch {
            // The peer does without a refusal for which there is no room. A notice has more room: when even that is
            // full, the peer has not read for a long time, or the link has ended. The next link begins with
            // everything that holds then.
            guard case .call(let number, _) = purpose else { return }
            let fault = CallFault(error)
            change { $0.notSent(number, to: uid, fault) }
        }
    }

    private func post(_ bytes: [UInt8], to uid: UID, limit: Backlog) throws(SendFault) {
        if uid == peer.uid { return change { $0.receive(bytes.span, from: uid) } }
        try session.driver.queues.post(bytes, to: uid, limit: limit, fromHandler: true)
    }

    /// The backlog for notices is twice the one for messages of the application and calls.
    static let noticeBacklog = Backlog(
        messages: 2 * Backlog.standard.messages, bytes: 2 * Backlog.standard.bytes)

    /// Checks the actor in. This side finds its own at once, in the order in which the exchange receives them.
    func checkIn(_ checkIn: Envelope.CheckIn) {
        change { $0.checkIn(checkIn) ? checkInRegistry.arrived(checkIn, peer) : CheckInRegistry.Wakeups() }
            .wake()
    }

    func checkOut(_ checkIn: Envelope.CheckIn) {
        change { $0.checkOut(checkIn) ? checkInRegistry.left(checkIn, peer) : CheckInRegistry.Wakeups() }
            .wake()
    }

    /// Calls in progress: this side's, and those of peers here.
    package var underway: (own: Int, others: Int) {
        exchange.withLock { ($0.ownCalls, $0.callsOfOthers) }
    }
}

extension CallFault {
    fileprivate init(_ fault: SendFault) {
        self =
            switch fault {
            case .notLinked: .notLinked
            case .tooLong(let count, let limit): .tooLarge(count, limit: limit)
            case .ended(let reason): .ended(reason)
            case .cancelled: .cancelled
            // The other is for messages of the application alone.
            case .full, .reserved: .busy
            }
    }
}

extension CallOutcome {
    /// Whether the attachments of a call or answer belong to no method, or to a call for whose answer nothing waits.
    fileprivate var isWithoutCall: Bool {
        switch self {
        case .failed: true
        case .answered(.failure(let failure, _, _)): failure != .thrown
        case .answered: false
        }
    }
}
