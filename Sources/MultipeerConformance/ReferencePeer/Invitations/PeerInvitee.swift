/// An incoming invitation. Spec 12.8, machine `invitee`.
final class PeerInvitee: PeerConnection.Owner {
    enum State { case greeting, confirming, proven, asking, agreed, over }

    private unowned let invitations: PeerInvitations
    let connection: PeerConnection
    private(set) var state = State.greeting
    private(set) var number = 0
    private(set) var uid: [UInt8] = []
    private var id: [UInt8] = []
    private var deadline: Instant
    private(set) var asked = Instant.now
    private var confirmations: CodeExchange.Confirmations?

    init(_ invitations: PeerInvitations, _ connection: PeerConnection) {
        self.invitations = invitations
        self.connection = connection
        deadline = connection.began + .seconds(5)
        connection.owner = self
    }

    private var session: PeerSession { invitations.session }
    private var bug: Bug? { session.bug }

    func ready(_ connection: PeerConnection) {}

    func admit(_ header: FrameHeader, on connection: PeerConnection) throws(ProtocolError) -> Bool {
        let longest = header.kind == .invite ? 65_536 : 2_048
        try demand(header.length <= longest, "\(header.kind) of \(header.length) bytes")
        guard try FrameRules(bug: bug).isKnown(header) else { return false }
        try demand(
            [.invite, .answer, .complete, .close, .share, .confirmation].contains(header.kind),
            "\(header.kind) on an invitation")
        try FrameRules(bug: bug).check(header)
        return true
    }

    func take(_ frame: Frame, from connection: PeerConnection) throws(ProtocolError) {
        switch (frame.kind, state) {
        case (.share, .greeting): try takeShare(frame.payload)
        case (.confirmation, .confirming): try takeConfirmation(frame.payload)
        case (.invite, .greeting), (.invite, .proven): try takeInvite(frame.payload)
        case (.invite, .confirming), (.confirmation, .greeting), (.share, .confirming):
            if bug != .codeAnyOrder { throw .broken("\(frame.kind) out of order") }
        case (.complete, .agreed): try takeComplete(frame.payload)
        case (.complete, .asking) where bug == .inviteCompleteFirst: try takeComplete(frame.payload)
        default: throw .broken("\(frame.kind) out of order")
        }
    }

    /// Each step up to INVITE has 5 s, and all of them 15 s. Spec 12.8, `invite.deadline`.
    private func moved() { deadline = min(.now + .seconds(5), connection.began + .seconds(15)) }

    private func takeShare(_ payload: [UInt8]) throws(ProtocolError) {
        guard let code = invitations.validCode,
            payload.starts(with: [UInt8(code.number >> 8), UInt8(code.number & 255)])
        else { return close(.wrongCode) }
        if let pause = invitations.pause, .now < pause { return close(.busy) }
        let exchange = invitations.exchange(code, isInviter: false)
        let both = exchange.confirmations(
            with: payload, binding: invitations.binding(connection),
            refusesInfinity: bug == .codeTellsInfinity)
        try demand(both != nil || bug == .codeAnyPoint, "SHARE without a point")
        confirmations = both
        state = .confirming
        moved()
        connection.send(Frame(.share, exchange.share))
    }

    private func takeConfirmation(_ payload: [UInt8]) throws(ProtocolError) {
        guard bug == .codeAnyConfirmation || payload == confirmations?.other else {
            close(.wrongCode)
            return invitations.guessedWrong()
        }
        state = .proven
        moved()
        connection.send(Frame(.confirmation, confirmations?.own ?? payload))
    }

    private func takeInvite(_ payload: [UInt8]) throws(ProtocolError) {
        typealias Field = InvitationFrames.Field
        let entries = try EntryReader().read(payload, known: [1, 2, 3, 4, 5])
        id = try entries.demanded(Field.id, "ID", 16)
        let inviter = try entries.demanded(Field.inviter, "INVITER", 17...79)
        let recipient = try entries.demanded(Field.recipient, "RECIPIENT", 16)
        let timeout = try entries.demanded(Field.timeout, "TIMEOUT", 4).number
        let longest = bug == .inviteContextUnlimited ? 65_535 : InvitationFrames.longestContext
        let context = try entries.possible(Field.context, "CONTEXT", 0...longest)
        let name = Array(inviter.dropFirst(16))
        try demand(name.isName, "an invalid name")
        try demand((1...600).contains(timeout), "a TIMEOUT of \(timeout) s")
        uid = Array(inviter.prefix(16))
        if uid == session.endpoint.uid { return answer(.itself) }
        let isForAnyPeer = recipient.allSatisfy { $0 == 0 } && bug != .inviteNeedsUid
        if recipient != session.endpoint.uid, !isForAnyPeer, bug != .inviteAnyRecipient {
            return answer(.unknownPeer)
        }
        let isProven = connection.tls?.peerLeaf.map { KeyedUID.fits(uid, $0) } ?? false
        if !isProven, bug != .inviteFromAnyKey { return answer(.policy) }
        if invitations.code != nil, state != .proven, bug != .codeNotRequired { return answer(.codeRequired) }
        if session.links[uid] == nil, session.links.count >= session.slots, bug != .inviteIgnoresSlots {
            return answer(.full)
        }
        if bug == .inviteRefusesCrossing, invitations.isInviting(uid) { return answer(.busy) }
        var taken: Int?
        do throws(ProtocolError) { taken = try invitations.makeRoom(for: self) } catch {
            return answer(error.code)
        }
        state = .asking
        asked = .now
        deadline = .now + .seconds(Int(timeout))
        number = taken ?? invitations.nextNumber()
        guard taken == nil else { return }
        var fields: [String: JSONValue] = [
            "invitation": .number(Double(number)), "from": .string(uid.hex),
            "name": .string(String(decoding: name, as: UTF8.self)),
        ]
        if let context { fields["context"] = .string(context.hex) }
        session.application.tell("invitation", fields)
        if bug == .inviteTellsEarly { accept() }
    }

    /// Carries out the application's decision.
    func answer(_ isAccepted: Bool) {
        invitations.answered(isAccepted, from: connection.address)
        if isAccepted { accept() } else { answer(.declined) }
    }

    private func accept() {
        if session.links[uid] == nil, session.links.count >= session.slots, bug != .inviteIgnoresSlots {
            return answer(.full)
        }
        state = .agreed
        deadline = .now + .seconds(5)
        let data = session.issued.data(for: uid, isMesh: false).bytes
        connection.send(Frame(.answer, InvitationFrames.answer(id: id, .ok, data: data).bytes))
    }

    func answer(_ code: CloseCode) {
        let data = bug == .inviteDataOnDecline ? session.issued.data(for: uid, isMesh: false).bytes : nil
        connection.send(Frame(.answer, InvitationFrames.answer(id: id, code, data: data).bytes))
        withdraw()
        connection.finish()
    }

    /// Closes this connection, since another one takes the question over, and returns the question's number.
    func giveUp() -> Int {
        let number = number
        state = .over
        connection.close(.duplicate)
        return number
    }

    private func takeComplete(_ payload: [UInt8]) throws(ProtocolError) {
        let entries = try EntryReader().read(payload, known: [1, 3])
        try demand(
            try entries.demanded(InvitationFrames.Field.id, "ID", 16) == id, "COMPLETE of another invitation")
        let blob = try entries.demanded(InvitationFrames.Field.data, "DATA", 24...1_024)
        try session.checkInvited(blob, from: uid)
        state = .over
        invitations.useCode()
        do throws(ProtocolError) { try session.connect(blob, isInvited: true) } catch {}
        connection.finish()
    }

    private func withdraw() {
        if state == .asking {
            session.application.tell("invitation-end", ["invitation": .number(Double(number))])
        }
        state = .over
    }

    func close(_ code: CloseCode) {
        withdraw()
        connection.close(code)
    }

    func drop() {
        withdraw()
        connection.discard()
    }

    func ended(_ connection: PeerConnection, _ ending: PeerConnection.Ending) {
        if bug == .inviteStaysWithdrawn, state == .asking { return }
        if bug == .codeEndedByAnything, state == .confirming { invitations.useCode() }
        withdraw()
    }

    func tick(_ now: Instant) {
        connection.tick(now)
        guard state != .over, now >= deadline else { return }
        if state == .asking, bug == .inviteAnswersLate { return }
        if state == .greeting, bug == .inviteWithoutDeadline { return }
        close(.timeout)
    }
}

extension PeerSession {
    /// Makes check 5 of 12.9, and returns the uid of the data, which is this one if it is known before.
    @discardableResult
    func checkInvited(_ blob: [UInt8], from uid: [UInt8]?) throws(ProtocolError) -> [UInt8] {
        let data: ConnectionData
        do throws(ProtocolError) { data = try ConnectionDataReader(bug: bug).read(blob) } catch {
            throw .broken(error.text)
        }
        let isRight = data.endpoint.uid == uid ?? data.endpoint.uid && data.endpoint.uid != endpoint.uid
        try demand(isRight || bug == .inviteDataOfAnyone, "data of another peer")
        try demand(data.recipient == nil || data.recipient == endpoint.uid, "data for another peer")
        try demand(outcome(with: data) != .refused, .policy, "the preferences exclude each other")
        return data.endpoint.uid
    }
}
