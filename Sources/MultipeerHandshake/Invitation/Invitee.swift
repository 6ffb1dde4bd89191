package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// All invitations to one peer, at the invitee. Spec 12.
///
/// Per connection:
/// ```
/// securing ──secured──▶ greeting ──INVITE──▶ asking ──accept──▶ agreed ──COMPLETE──▶ over
///    └─────────────────────┴───────────────────┴──────────────────┴──deadline, CLOSE, fault──▶ over
/// ```
///
/// With a code, INVITE is admitted after the exchange that proves it; see `Invitee+Code.swift`.
///
/// Every `ask` is followed by exactly one `end`.
package struct Invitee: InvitationMachine {
    package static var takesInvite: Bool { true }

    package enum Event: Equatable, Sendable {
        case ask(InvitationRequest)
        /// A peer at another address claims the id of this question's inviter.
        case contested(QuestionID)
        case end(QuestionID, Ending)
        case code(CodeEvent)
    }

    /// A question to the application.
    package struct InvitationRequest: Equatable, Sendable {
        package let question: QuestionID
        package let inviter: PeerID
        /// Whether the inviter has proven the code.
        package let isVerified: Bool
        package let context: [UInt8]?
        package let timeout: Duration
        package let deadline: Moment
        /// The connection on which it arrived.
        package let connection: ConnectionID
        /// Whether an open question, from another address, has the same inviter: one of the two poses as the other.
        package let isContested: Bool
    }

    /// The result of a question.
    package enum Ending: Equatable, Sendable {
        /// The application accepted, and this is the inviter's connection data.
        case completed(ConnectionData)
        /// The application declined.
        case refused(CloseCode)
        /// The inviter no longer waits for the answer, or for what follows it.
        case failed(InvitationFault)
    }

    package enum Phase: Equatable, Sendable {
        case securing
        case greeting
        /// SHARE came and was sent.
        case confirming(SPAKE2.Keys)
        /// The inviter has proven the code.
        case proven
        case asking(PendingQuestion)
        /// This data was sent to the inviter.
        case agreed(PendingQuestion, ConnectionData)
    }

    /// An invitation on which the application was asked to decide.
    package struct PendingQuestion: Equatable, Sendable {
        package let question: QuestionID
        let inviter: UID
        /// The id that the inviter gave it.
        let id: [UInt8]
        let since: Moment
    }

    struct Connection: Sendable {
        /// The address from which it came, without a port.
        let origin: [UInt8]
        /// The keyed uid that the key of its certificate hashes to.
        var keyedUID: UID?
        var phase: Phase
        var deadline: Moment
        /// The time for the steps up to INVITE, and for COMPLETE.
        var timer: StepTimer
        var secrets: CodeSecrets?
        var group: AddressGroup { AddressGroup(origin) }
    }

    package let local: PeerID
    var code: AdvertisedCode?
    var connections: [ConnectionID: Connection] = [:]
    var actions: [Action] = []
    private var unauthenticated: UnauthenticatedConnections
    private var refused = RefusedAddresses()
    var random: Jitter
    /// The fault to throw for a further answer to a question, the oldest first.
    private var ends: [(question: QuestionID, fault: InvitationFault)] = []
    private var lastConnection: UInt32 = 0
    private var lastQuestion: UInt64 = 0
    private var isStopped = false

    /// Creates an invitee without questions. `code`: what inviters have to prove. `seed` feeds the draws that make room.
    package init(_ local: PeerID, code: AdvertisedCode? = nil, seed: UInt64) {
        self.local = local
        self.code = code
        random = Jitter(seed: seed)
        unauthenticated = UnauthenticatedConnections(seed: ~seed)
    }

    package var needsSecrets: Bool { code != nil }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var deadline: Moment? { connections.values.lazy.map(\.deadline).min() }
}

// MARK: input from the network

extension Invitee {
    /// Registers an unauthenticated connection from this address (4 or 16 bytes). It has 5 s for each step up to its INVITE, and 15 s
    /// for all. Returns nil when there is no room for it.
    package mutating func accepted(from origin: [UInt8], at now: Moment) -> ConnectionID? {
        // [invite.pending]
        guard let place = unauthenticated.makeRoom(for: origin, at: now) else { return nil }
        if let dropped = place.dropped { end(dropped, .busy, .withdrawn) }
        let id = nextConnection()
        unauthenticated.add(id, in: place, at: now)
        let timer = StepTimer.accepted(at: now)
        connections[id] = Connection(
            origin: origin, phase: .securing, deadline: timer.deadline, timer: timer)
        if isStopped { end(id, .cancelled, .cancelled) }
        return id
    }

    /// Does nothing but advance the time: this end accepts connections that are already established.
    package mutating func connected(_ id: ConnectionID, at now: Moment) { advance(to: now) }

    package mutating func secured(
        _ id: ConnectionID, keyedUID: UID? = nil, _ secrets: CodeSecrets? = nil, at now: Moment
    ) {
        advance(to: now)
        guard connections[id]?.phase == .securing else { return }
        connections[id]?.phase = .greeting
        moved(id, at: now)
        connections[id]?.keyedUID = keyedUID
        connections[id]?.secrets = secrets
    }

    package mutating func receive(
        _ id: ConnectionID, _ header: FrameHeader, _ payload: Span<UInt8>, at now: Moment
    ) {
        advance(to: now)
        guard connections[id] != nil else { return }
        let frame: Frame
        do {
            frame = try Frame(header, payload)
        } catch {
            return violated(id, error.closeCode, at: now)
        }
        switch frame {
        case .share(let number, let point): shared(id, number, point, at: now)
        case .confirmation(let theirs): confirmed(id, theirs, at: now)
        case .invite(let invite): invited(id, invite, at: now)
        case .complete(let complete): completed(id, complete)
        case .close(let code, reason: _): closed(id, code)
        case .ignorable: break
        default: violated(id, .protocolError, at: now)  // [invite.order]
        }
    }

    package mutating func violated(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        advance(to: now)
        end(id, code, .protocolError)
    }

    package mutating func lost(_ id: ConnectionID, _ connectionFailure: ConnectionFailure, at now: Moment) {
        advance(to: now)
        guard let gone = remove(id) else { return }
        settle(gone, .failed(.withdrawn))  // [invite.cancel]
    }

    package mutating func advance(to now: Moment) {
        guard let deadline, deadline <= now else { return }
        for id in connections.filter({ $0.value.deadline <= now }).keys.sorted() {
            end(id, .timeout, .timedOut)  // [invite.deadline] [invite.timeout]
        }
    }
}

// MARK: calls of the application

extension Invitee {
    /// Accepts an invitation for the application. `data` is this side's, for the inviter. Throws the reason when the
    /// inviter no longer waits.
    package mutating func accept(
        _ question: QuestionID, with data: ConnectionData, at now: Moment
    ) throws(InvitationFault) {
        advance(to: now)
        let (id, waiting) = try answerable(question)
        guard data.isFrom(local.uid, to: waiting.inviter) else { throw .foreignData }
        let answer = Answer(id: waiting.id, code: .ok, connectionData: data.bytes)  // [invite.consent]
        actions.append(.send(id, Frame.answer(answer).encoded))
        if let address = connections[id]?.group { refused.accepted(address) }
        connections[id]?.phase = .agreed(waiting, data)
        if let timer = connections[id]?.timer {
            connections[id]?.deadline = now + timer.limit(atLeast: InvitationTiming.completion)
        }
    }

    /// Declines an invitation for the application. Throws the reason when the inviter no longer waits.
    package mutating func refuse(
        _ question: QuestionID, _ code: CloseCode, at now: Moment
    ) throws(InvitationFault) {
        advance(to: now)
        guard code != .ok else { throw .invalid("OK is not a refusal") }
        let (id, waiting) = try answerable(question)
        answer(id, waiting.id, code)
        guard let gone = remove(id) else { return }
        if code == .declined { refused.refused(gone.group, at: now) }
        settle(gone, .refused(code))
    }

    /// Cancels an invitation that the application has accepted.
    package mutating func cancel(_ question: QuestionID, at now: Moment) {
        advance(to: now)
        guard let agreed = held.first(where: { $0.isAgreed && $0.waiting.question == question }) else {
            return
        }
        end(agreed.id, .cancelled, .cancelled)
    }

    /// Stops asking the application: both ends of every waiting invitation are notified. Accepted invitations continue to
    /// their end, and so do questions that the application is about to answer.
    package mutating func stop(sparing answered: Set<QuestionID> = [], at now: Moment) {
        advance(to: now)
        isStopped = true
        let spared = held.filter { $0.isAgreed || answered.contains($0.waiting.question) }.map(\.id)
        for id in connections.keys.sorted() where !spared.contains(id) {
            end(id, .cancelled, .cancelled)  // [invite.cancel]
        }
    }

    private func answerable(
        _ question: QuestionID
    ) throws(InvitationFault) -> (ConnectionID, PendingQuestion) {
        for (id, connection) in connections {
            switch connection.phase {
            case .asking(let waiting) where waiting.question == question: return (id, waiting)
            case .agreed(let waiting, _) where waiting.question == question: throw .alreadyAnswered
            default: continue
            }
        }
        throw ends.last { $0.question == question }?.fault ?? .withdrawn  // [invite.once]
    }
}

// MARK: consequences

extension Invitee {
    /// Notes a step of a connection that has not sent INVITE. [invite.deadline]
    mutating func moved(_ id: ConnectionID, at now: Moment) {
        guard var timer = connections[id]?.timer else { return }
        timer.moved(at: now)
        connections[id]?.timer = timer
        connections[id]?.deadline = timer.deadline
    }

    private mutating func nextConnection() -> ConnectionID {
        repeat { lastConnection &+= 1 } while connections[ConnectionID(rawValue: lastConnection)] != nil
        return ConnectionID(rawValue: lastConnection)
    }

    private mutating func invited(_ id: ConnectionID, _ invite: Invite, at now: Moment) {
        guard let connection = connections[id], connection.takesInvite,
            InvitationTiming.timeouts.contains(invite.timeout)  // [invite.timeout]
        else { return violated(id, .protocolError, at: now) }  // [invite.order]
        guard let inviter = try? PeerID(validating: invite.inviter, displayName: invite.inviterName) else {
            return violated(id, .protocolError, at: now)
        }
        guard inviter != local else { return turnAway(id, invite, .itself) }  // [invite.recipient]
        guard invite.recipient == local.uid || invite.recipient == .unspecified else {
            return turnAway(id, invite, .unknownPeer)  // [invite.address]
        }
        guard !inviter.uid.isKeyed || inviter.uid == connection.keyedUID else {
            return turnAway(id, invite, .policy)  // [uid.proof]
        }
        if let refusal = refusalForCode(connection, inviter.uid) { return turnAway(id, invite, refusal) }
        // [invite.quiet]
        if refused.isQuiet(connection.group, at: now) { return turnAway(id, invite, .busy) }
        switch place(for: inviter.uid, from: connection.origin, at: now) {
        case .none: turnAway(id, invite, .busy)  // [invite.pending]
        case .instead(let old, let waiting): replace(old, waiting, with: id, invite)
        case .free(let evicted):
            if let evicted { evict(evicted) }
            ask(inviter, id, invite, at: now)
        }
    }

    private mutating func ask(_ inviter: PeerID, _ id: ConnectionID, _ invite: Invite, at now: Moment) {
        lastQuestion += 1
        let deadline = now + .seconds(Int64(invite.timeout))
        let waiting = PendingQuestion(
            question: QuestionID(rawValue: lastQuestion), inviter: inviter.uid, id: invite.id, since: now)
        let rivals = held.filter { $0.waiting.inviter == inviter.uid }
        connections[id]?.phase = .asking(waiting)
        connections[id]?.deadline = deadline
        unauthenticated.remove(id)
        let asked = InvitationRequest(
            question: waiting.question, inviter: inviter, isVerified: code != nil, context: invite.context,
            timeout: .seconds(Int64(invite.timeout)), deadline: deadline, connection: id,
            isContested: !rivals.isEmpty)
        // [invite.contested]
        for rival in rivals { actions.append(.tell(.contested(rival.waiting.question))) }
        actions.append(.tell(.ask(asked)))
    }

    /// Declines without asking the application.
    private mutating func turnAway(_ id: ConnectionID, _ invite: Invite, _ code: CloseCode) {
        _ = remove(id)
        answer(id, invite.id, code)
    }

    private mutating func remove(_ id: ConnectionID) -> Connection? {
        unauthenticated.remove(id)
        return connections.removeValue(forKey: id)
    }

    /// Moves a question to the newest connection of its inviter, which gets the answer; the question and its timeout
    /// stay unchanged.
    private mutating func replace(
        _ old: ConnectionID, _ waiting: PendingQuestion, with id: ConnectionID, _ invite: Invite
    ) {
        guard let former = remove(old) else { return }
        unauthenticated.remove(id)
        actions.append(.close(old, .duplicate))  // [invite.pending]
        connections[id]?.phase = .asking(
            PendingQuestion(
                question: waiting.question, inviter: waiting.inviter, id: invite.id, since: waiting.since))
        connections[id]?.deadline = former.deadline
    }

    /// Frees this place for another question.
    private mutating func evict(_ id: ConnectionID) {
        guard let gone = remove(id) else { return }
        if case .asking(let waiting) = gone.phase { answer(id, waiting.id, .busy) }
        settle(gone, .failed(.withdrawn))
    }

    private mutating func completed(_ id: ConnectionID, _ complete: Complete) {
        guard case .agreed(let waiting, let ours)? = connections[id]?.phase, complete.id == waiting.id,
            let data = ConnectionData(complete.connectionData, of: waiting.inviter, for: local.uid)
        else { return end(id, .protocolError, .protocolError) }  // [invite.order] [invite.data]
        guard data.fits(ours) else { return end(id, .policy, .incompatible) }
        guard let done = remove(id) else { return }
        actions.append(.close(id, .ok))
        settle(done, .completed(data))
        useCode()
    }

    private mutating func closed(_ id: ConnectionID, _ code: CloseCode) {
        guard let gone = remove(id) else { return }
        actions.append(.close(id, .ok))
        let fault: InvitationFault =
            switch code {
            case .timeout: .timedOut
            case .policy: .incompatible
            default: .withdrawn  // [invite.cancel]
            }
        settle(gone, .failed(fault))
    }

    /// Ends the connection with this code; the application receives the fault, if it was asked.
    mutating func end(_ id: ConnectionID, _ code: CloseCode, _ fault: InvitationFault) {
        guard let gone = remove(id) else { return }
        actions.append(.close(id, code))
        settle(gone, .failed(fault))
    }

    /// Sends a refusal and ends the connection.
    private mutating func answer(_ id: ConnectionID, _ invitation: [UInt8], _ code: CloseCode) {
        actions.append(.send(id, Frame.answer(Answer(id: invitation, code: code)).encoded))
        actions.append(.close(id, .ok))
    }

    /// Reports the end of the question of a connection that has ended, once. [invite.once]
    private mutating func settle(_ gone: Connection, _ ending: Ending) {
        switch (gone.phase, ending) {
        case (.securing, _), (.greeting, _), (.confirming, _), (.proven, _): break
        case (.asking(let waiting), .failed(let fault)):
            remember(waiting.question, fault)
            actions.append(.tell(.end(waiting.question, ending)))
        case (.asking(let waiting), _), (.agreed(let waiting, _), _):
            remember(waiting.question, .alreadyAnswered)
            actions.append(.tell(.end(waiting.question, ending)))
        }
    }

    private mutating func remember(_ question: QuestionID, _ fault: InvitationFault) {
        if ends.count == InvitationLimits.rememberedEnds { ends.removeFirst() }
        ends.append((question, fault))
    }
}
