package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// One invitation, at the inviter. Spec 12.
///
/// ```
/// connecting ──secured──▶ asking ──ANSWER OK──▶ agreeing ──our data──▶ over
///    ▲ └──all unreachable──▶ over  │  └──ANSWER, CLOSE, deadline──▶ over
///    └─────BUSY, connection lost───┘
/// ```
///
/// With a code, `asking` is reached through the exchange that proves it; see `Inviter+Code.swift`.
///
/// There is one `end`, and no event after it.
package struct Inviter: InvitationMachine {
    package static var takesInvite: Bool { false }

    package enum Event: Equatable, Sendable {
        /// The peer accepted: the owner calls `supply` with the connection data for it, or `failed`.
        case makeData
        /// The peer holds our data, and this is its own; or the reason for the failure.
        case end(Result<ConnectionData, InvitationFault>)
    }

    package enum Phase: Equatable, Sendable {
        /// No connection is established: some are being made, or will be after a pause.
        case connecting
        /// SHARE was sent.
        case sharing(ConnectionID, SPAKE2)
        /// CONFIRMATION was sent: from now on the peer may have made a guess.
        case confirming(ConnectionID, SPAKE2.Keys)
        case asking(ConnectionID)
        case agreeing(ConnectionID, ConnectionData)
        case over
    }

    /// A connection that is being made.
    private struct Attempt {
        let candidate: Candidate
        var timer: StepTimer
        /// Whether TCP is established.
        var isConnected = false
    }

    /// The invited peer; nil until it has answered if only its address is known.
    package private(set) var peer: PeerID?
    /// With which digits its uid has to begin, proven by its key before it is sent anything; nil for any uid.
    private let prefix: UIDPrefix?
    /// The keyed uid that the key of the invitee's certificate hashes to.
    private var keyedUID: UID?
    package internal(set) var phase = Phase.connecting
    /// The code that the peer has to prove, and the secrets of the connection on which it does.
    let code: CodeProof?
    var secrets: CodeSecrets?
    private let local: PeerID
    private let context: [UInt8]?
    private let id: [UInt8]
    private var candidates: [Candidate]
    private var plan: DialPlan
    private var attempts: [ConnectionID: Attempt] = [:]
    /// The address of the connection that carries the invitation.
    private var asked: Candidate?
    private var phaseDeadline: Moment
    /// The time for each step of the exchange of the current connection; nil outside it.
    var exchangeTimer: StepTimer?
    private var dialFailures = DialFailures()
    /// Whether a host responded that has not the key of the peer's id.
    private var hadForeignKey = false
    /// Whether the peer's application was being asked when the invitation ended.
    package private(set) var wasAsking = false
    /// How often the connection was lost after INVITE.
    private var losses = 0
    private var jitter: Jitter
    private var lastConnection: UInt32 = 0
    var actions: [Action] = []

    /// Creates an invitation. `peer`: nil for the one that listens at the address. `code` and `prefix`: what the peer has to prove
    /// before it is sent anything. Candidates that must not be dialled are left out, and at most 16 are used. `timeout`: up to
    /// 600 s; `id`: 16 random bytes; `seed`: for pauses alone, nothing secret. Throws `InvitationFault.invalid` for an argument
    /// outside its range.
    package init(
        _ peer: PeerID?, at candidates: [Candidate], as local: PeerID, context: [UInt8]?,
        within timeout: Duration, code: CodeProof? = nil, proving prefix: UIDPrefix? = nil, id: [UInt8],
        seed: UInt64, at now: Moment
    ) throws(InvitationFault) {
        guard peer != local else { throw .invalid("a peer does not invite itself") }
        guard timeout > .zero, timeout <= .seconds(600) else {
            throw .invalid("an invitation waits for 600 s at most")  // [invite.timeout]
        }
        guard context?.count ?? 0 <= Limits.invitationContext else {
            throw .invalid("the context of an invitation has at most 32,768 bytes")  // [invite.context]
        }
        self.peer = peer
        self.local = local
        self.context = context
        self.code = code
        self.prefix = prefix
        self.id = id
        let dialable = candidates.filter { $0.isDialable(allowingLoopback: true) }  // [dial.forbidden]
        self.candidates = Array(dialable.prefix(InvitationLimits.candidates))
        plan = DialPlan(self.candidates, from: now)
        phaseDeadline = now + timeout
        jitter = Jitter(seed: seed)
        if self.candidates.isEmpty {
            end(.failure(.unreachable("no address may be dialled")))
        } else {
            dialWhatIsDue(at: now)
        }
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var deadline: Moment? {
        switch phase {
        case .connecting:
            (attempts.values.map(\.timer.deadline) + [phaseDeadline, plan.deadline].compactMap { $0 }).min()
        case .sharing, .confirming: .earlier(phaseDeadline, exchangeTimer?.deadline)
        case .asking, .agreeing: phaseDeadline
        case .over: nil
        }
    }

    package var needsSecrets: Bool { code != nil }
}

// MARK: input from the network

extension Inviter {
    package mutating func connected(_ id: ConnectionID, at now: Moment) {
        advance(to: now)
        guard attempts[id]?.isConnected == false else { return }
        attempts[id]?.isConnected = true
        plan.connected(id)
        attempts[id]?.timer.moved(at: now)  // [invite.deadline]
    }

    /// Handles an established TLS channel: the first connection to get this far is used. TLS has verified the key of an invitee
    /// with a keyed uid. [uid.proof]
    package mutating func secured(
        _ id: ConnectionID, keyedUID: UID? = nil, _ secrets: CodeSecrets? = nil, at now: Moment
    ) {
        advance(to: now)
        guard phase == .connecting, let attempt = attempts.removeValue(forKey: id) else { return }
        closeAttempts(.cancelled)  // [invite.connections]
        asked = attempt.candidate
        self.keyedUID = keyedUID
        // The context is for no other peer.
        guard prefix == nil || keyedUID.map({ prefix?.matches($0) == true }) == true else {
            actions.append(.close(id, .cancelled))
            return seekElsewhere(Inviter.unproven, at: now)  // [invite.address]
        }
        if let code {
            exchangeTimer = attempt.timer
            share(code, secrets, on: id, at: now)  // [code.order]
        } else {
            invite(on: id, at: now)
        }
    }

    private static let unproven = InvitationFault.unreachable("it has not proven an id with these digits")

    /// What was tried, if no address has answered yet.
    private var silence: String? {
        guard phase == .connecting, !attempts.isEmpty, !attempts.values.contains(where: \.isConnected) else {
            return nil
        }
        var failures = dialFailures
        for place in attempts.values.map(\.candidate.text).sorted() {
            failures.note("\(place): no answer", mayPass: false)
        }
        return failures.text
    }

    func hasEnded(_ deadline: Moment?, at now: Moment) -> Bool { deadline.map { $0 <= now } ?? false }

    mutating func invite(on id: ConnectionID, at now: Moment) {
        phase = .asking(id)
        let left = (phaseDeadline - now).wholeNanoseconds
        let seconds = UInt32(clamping: (left + 999_999_999) / 1_000_000_000)
        let invite = Invite(
            id: self.id, inviter: local.uid, inviterName: local.displayName,
            recipient: peer?.uid ?? .unspecified,
            timeout: min(max(seconds, 1), 600), context: context)  // [invite.timeout] [invite.address]
        actions.append(.send(id, Frame.invite(invite).encoded))
    }

    package mutating func receive(
        _ id: ConnectionID, _ header: FrameHeader, _ payload: Span<UInt8>, at now: Moment
    ) {
        advance(to: now)
        guard isOurs(id) else { return }
        let frame: Frame
        do {
            frame = try Frame(header, payload)
        } catch {
            return violated(id, error.closeCode, at: now)
        }
        switch frame {
        case .share(let number, let point): shared(id, number, point, at: now)
        case .confirmation(let theirs): confirmed(id, theirs, at: now)
        case .answer(let answer): answered(id, answer, at: now)
        case .close(let code, reason: _): told(id, code, at: now)
        case .ignorable: break
        default: violated(id, .protocolError, at: now)  // [invite.order]
        }
    }

    package mutating func violated(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        advance(to: now)
        if attempts[id] != nil {
            actions.append(.close(id, code))
            attemptEnded(id, "not a peer of this protocol", mayPass: false, at: now)
        } else if isOurs(id) {
            fail(id, code, endsGuess ? .wrongCode : .protocolError)
        }
    }

    package mutating func lost(_ id: ConnectionID, _ connectionFailure: ConnectionFailure, at now: Moment) {
        advance(to: now)
        if let attempt = attempts[id] {
            if connectionFailure == .security(.peer(.foreignKey)) { hadForeignKey = true }
            return attemptEnded(
                id, connectionFailure.trouble, mayPass: attempt.isConnected && connectionFailure.mayPass,
                at: now)
        }
        switch phase {
        case .asking(id), .sharing(id, _):
            // Each time the peer's user may be asked again.
            losses += 1
            guard losses <= InvitationLimits.losses else {
                return end(.failure(.unreachable("the connection was lost again and again")))
            }
            seekAgain(isBusy: false, at: now)  // [invite.busy]
        case .confirming(id, _): end(.failure(.wrongCode))  // [code.guess]
        case .agreeing(id, _): end(.failure(.unreachable("the connection was lost")))
        case .connecting, .sharing, .confirming, .asking, .agreeing, .over: break
        }
    }

    package mutating func advance(to now: Moment) {
        if phase == .over { return }
        if phaseDeadline <= now {
            let isBusy = phase == .connecting && dialFailures.wasBusy
            let late = silence.map(InvitationFault.unreachable) ?? .timedOut
            closeAll(.timeout)
            return end(.failure(endsGuess ? .wrongCode : isBusy ? .busy : late))  // [invite.timeout]
        }
        if isExchanging, hasEnded(exchangeTimer?.deadline, at: now) {
            closeAll(.timeout)
            return end(.failure(endsGuess ? .wrongCode : .timedOut))  // [invite.deadline] [code.guess]
        }
        for id in attempts.filter({ $0.value.timer.deadline <= now }).keys.sorted() {
            actions.append(.close(id, .timeout))
            attemptEnded(
                id, "no answer", mayPass: attempts[id]?.isConnected == true, at: now)  // [invite.deadline]
        }
        if phase == .connecting { dialWhatIsDue(at: now) }
    }
}

// MARK: calls of the application

extension Inviter {
    /// Supplies this side's data for the peer, which accepted.
    package mutating func supply(_ data: ConnectionData, at now: Moment) {
        advance(to: now)
        guard case .agreeing(let id, let theirs) = phase else { return }
        guard data.isFrom(local.uid, to: theirs.peer.uid) else { return fail(id, .internal, .foreignData) }
        guard data.fits(theirs) else {
            return fail(id, .policy, .incompatible)  // [invite.data]
        }
        let complete = Complete(id: self.id, connectionData: data.bytes)  // [invite.consent]
        actions += [.send(id, Frame.complete(complete).encoded), .close(id, .ok)]
        end(.success(theirs))
    }

    /// Ends the invitation because there is no data for the peer.
    package mutating func failed(_ fault: InvitationFault, at now: Moment) {
        advance(to: now)
        guard case .agreeing(let id, _) = phase else { return }
        fail(id, .internal, fault)
    }

    package mutating func cancel(at now: Moment) {
        advance(to: now)
        let fault: InvitationFault = endsGuess ? .wrongCode : .cancelled  // [code.guess]
        closeAll(.cancelled)  // [invite.cancel]
        end(.failure(fault))
    }
}

// MARK: consequences

extension Inviter {
    private func isOurs(_ id: ConnectionID) -> Bool {
        switch phase {
        case .connecting: attempts[id] != nil
        case .sharing(let own, _), .confirming(let own, _), .asking(let own), .agreeing(let own, _): own == id
        case .over: false
        }
    }

    private mutating func answered(_ id: ConnectionID, _ answer: Answer, at now: Moment) {
        guard phase == .asking(id), answer.id == self.id,
            (answer.code == .ok) == (answer.connectionData != nil)
        else { return violated(id, .protocolError, at: now) }  // [invite.order]
        guard let bytes = answer.connectionData else { return told(id, answer.code, at: now) }
        guard let data = ConnectionData(bytes, of: peer?.uid, for: local.uid), data.peer != local else {
            return violated(id, .protocolError, at: now)  // [invite.data]
        }
        guard prefix == nil || data.peer.uid == keyedUID else { return fail(id, .policy, Inviter.unproven) }
        // TLS has compared the key of a peer whose uid is known before.
        guard peer != nil || !data.peer.uid.isKeyed || data.peer.uid == keyedUID else {
            return fail(id, .policy, .unreachable("the peer has not proven its id"))  // [invite.address]
        }
        peer = data.peer
        phase = .agreeing(id, data)
        phaseDeadline = now + InvitationTiming.completion  // [invite.deadline]
        actions.append(.tell(.makeData))
    }

    /// Handles a refusal by the peer, in an ANSWER or a CLOSE.
    private mutating func told(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        actions.append(.close(id, .ok))
        if attempts[id] != nil {
            return attemptEnded(id, "closed: \(code)", mayPass: code == .busy, at: now)
        }
        switch (phase, code) {
        case (.confirming, _): end(.failure(.wrongCode))  // [code.guess]
        case (.asking, .busy), (.sharing, .busy): seekAgain(isBusy: true, at: now)  // [invite.busy]
        case (.asking, .unknownPeer), (.sharing, .wrongCode):
            seekElsewhere(InvitationFault(code), at: now)  // [invite.recipient] [code.mismatch]
        case (.asking, .ok): end(.failure(.protocolError))
        default: end(.failure(InvitationFault(code)))
        }
    }

    /// Dials again after a growing pause, as long as the invitation's timeout allows.
    private mutating func seekAgain(isBusy: Bool, at now: Moment) {
        dialFailures = DialFailures(wasBusy: isBusy)
        phase = .connecting
        plan.backOff(at: now, jitter: jitter.factor())
    }

    /// Dials the other addresses: another peer responded at this one. `fault`: what it is if there are none.
    private mutating func seekElsewhere(_ fault: InvitationFault, at now: Moment) {
        candidates.removeAll { $0 == asked }
        guard !candidates.isEmpty else { return end(.failure(fault)) }
        phase = .connecting
        plan = DialPlan(candidates, from: now)
        dialWhatIsDue(at: now)
    }

    private mutating func attemptEnded(_ id: ConnectionID, _ trouble: String, mayPass: Bool, at now: Moment) {
        guard let attempt = attempts.removeValue(forKey: id) else { return }
        // The failure of a connection below the frames may name the address already.
        let place = attempt.candidate.text
        let isNamed = trouble.begins(with: place)
        dialFailures.note(isNamed ? trouble : "\(place): \(trouble)", mayPass: mayPass)
        guard plan.ended(id, at: now, jitter: jitter.factor()) else { return dialWhatIsDue(at: now) }
        guard dialFailures.mayPass else {
            let text = dialFailures.text
            return end(.failure(hadForeignKey ? .foreignKey(text) : .unreachable(text)))
        }
        dialFailures = DialFailures(wasBusy: dialFailures.wasBusy)
    }

    private mutating func dialWhatIsDue(at now: Moment) {
        while let candidate = plan.due(at: now) {
            lastConnection &+= 1
            let id = ConnectionID(rawValue: lastConnection)
            attempts[id] = Attempt(candidate: candidate, timer: .dialled(at: now))
            plan.began(id)
            actions.append(.dial(id, candidate))
        }
    }

    private mutating func closeAttempts(_ code: CloseCode) {
        for id in attempts.keys.sorted() { actions.append(.close(id, code)) }
        attempts = [:]
    }

    private mutating func closeAll(_ code: CloseCode) {
        closeAttempts(code)
        switch phase {
        case .sharing(let id, _), .confirming(let id, _), .asking(let id), .agreeing(let id, _):
            actions.append(.close(id, code))
        case .connecting, .over: break
        }
    }

    /// Ends the connection with this code.
    mutating func fail(_ id: ConnectionID, _ code: CloseCode, _ fault: InvitationFault) {
        actions.append(.close(id, code))
        end(.failure(fault))
    }

    private mutating func end(_ result: Result<ConnectionData, InvitationFault>) {
        if phase == .over { return }
        if case .asking = phase { wasAsking = true }
        closeAttempts(.cancelled)
        phase = .over
        actions.append(.tell(.end(result)))  // [invite.once]
    }
}

/// The failures of one round of dialling.
private struct DialFailures {
    private var texts: [String] = []
    /// Whether a peer was reached and may be available later.
    private(set) var mayPass = false
    var wasBusy = false

    init(wasBusy: Bool = false) { self.wasBusy = wasBusy }

    var text: String { texts.joined(separator: "; ") }

    mutating func note(_ trouble: String, mayPass: Bool) {
        self.mayPass = self.mayPass || mayPass
        if !texts.contains(trouble) { texts.append(trouble) }
    }
}

extension ConnectionFailure {
    fileprivate var trouble: String { detail.isEmpty ? "the connection was lost" : detail }

    /// Whether a later connection may succeed, when this one reached a peer.
    fileprivate var mayPass: Bool {
        switch self {
        case .unreachable, .lost: true
        case .security, .closed, .refused: false
        }
    }
}

extension Candidate {
    /// Address and port, for people.
    fileprivate var text: String {
        guard address.count == 16 else { return "\(address.map { "\($0)" }.joined(separator: ".")):\(port)" }
        let words = stride(from: 0, to: 16, by: 2).map { index in
            String(UInt16(address[index]) << 8 | UInt16(address[index + 1]), radix: 16)
        }
        return "[\(words.joined(separator: ":"))]:\(port)"
    }
}
