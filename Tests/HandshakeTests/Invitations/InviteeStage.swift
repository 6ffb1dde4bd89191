import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import Testing

extension PeerID {
    /// Connection data of this peer's, always the same.
    func made(for other: PeerID) throws -> ConnectionData {
        let local = LocalPeer(
            peer: self, instance: 1, preference: .required, hasIdentity: uid.isKeyed,
            fingerprint: Fingerprint([UInt8](repeating: 7, count: 32)))
        var session = LinkEstablishment(local, seed: 1)
        let address = try #require(Candidate(address: [192, 0, 2, 1], port: 49_152))
        return try session.connectionData(
            for: other.uid, candidates: [address], token: [UInt8](repeating: 9, count: 32),
            at: Moment(nanoseconds: 0))
    }

    static func numbered(_ number: UInt64) throws -> PeerID {
        try PeerID(validating: UID(high: 1, low: number), displayName: "peer \(number)")
    }

    func invitation(to other: PeerID, timeout: UInt32 = 30, context: [UInt8]? = nil) -> Invite {
        Invite(
            id: [UInt8](repeating: 3, count: Invite.idByteCount), inviter: uid, inviterName: displayName,
            recipient: other.uid, timeout: timeout, context: context)
    }
}

extension Moment {
    static let start = Moment(nanoseconds: 1_000_000_000_000)
    static func after(_ duration: Duration) -> Moment { start + duration }
}

/// An invitee whose network and application the test plays.
struct InviteeStage {
    let bob: PeerID
    var invitee: Invitee
    /// Everything it did.
    var actions: [Invitee.Action] = []
    private var ids: [ConnectionID] = []

    init() throws {
        bob = try .numbered(0)
        invitee = Invitee(bob, seed: 1)
    }

    /// Makes a connection from this address with TLS established; number 0 if it is refused.
    mutating func connect(
        from origin: UInt8, proving uid: UID? = nil, at now: Moment = .start
    ) -> ConnectionID {
        connect(from: [192, 0, 2, origin], proving: uid, at: now)
    }

    mutating func connect(
        from origin: [UInt8], proving uid: UID? = nil, at now: Moment = .start
    ) -> ConnectionID {
        let accepted = invitee.accepted(from: origin, at: now)
        actions += invitee.takeActions()
        guard let id = accepted else { return ConnectionID(rawValue: 0) }
        invitee.secured(id, keyedUID: uid, at: now)
        actions += invitee.takeActions()
        ids.append(id)
        return id
    }

    /// The peer invites on a connection of its own from this address.
    @discardableResult
    mutating func invite(
        _ number: UInt64, from origin: UInt8, timeout: UInt32 = 30, at now: Moment = .start
    ) throws -> ConnectionID {
        try invite(number, from: [192, 0, 2, origin], timeout: timeout, at: now)
    }

    @discardableResult
    mutating func invite(
        _ number: UInt64, from origin: [UInt8], timeout: UInt32 = 30, at now: Moment = .start
    ) throws -> ConnectionID {
        let id = connect(from: origin, at: now)
        say(.invite(try PeerID.numbered(number).invitation(to: bob, timeout: timeout)), on: id, at: now)
        return id
    }

    mutating func say(_ frame: Frame, on id: ConnectionID, at now: Moment = .start) {
        var buffer = ByteBuffer()
        frame.encode(into: &buffer)
        let bytes = buffer.takeAll()
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        invitee.receive(id, header, Array(bytes.dropFirst(FrameHeader.byteCount)).span, at: now)
        actions += invitee.takeActions()
    }

    mutating func advance(to now: Moment) {
        invitee.advance(to: now)
        actions += invitee.takeActions()
    }

    /// Connections that brought no INVITE yet.
    var unprovenCount: Int {
        ids.count { [.securing, .greeting].contains(invitee.phase(of: $0)) }
    }

    /// Invitations that wait for an answer or its completion.
    var pendingCount: Int { ids.count { invitee.phase(of: $0) != nil } - unprovenCount }

    var asked: [Invitee.InvitationRequest] {
        actions.compactMap { if case .tell(.ask(let asked)) = $0 { asked } else { nil } }
    }

    /// The questions that another one contests.
    var contested: [QuestionID] {
        actions.compactMap { if case .tell(.contested(let question)) = $0 { question } else { nil } }
    }

    func ending(of question: QuestionID) -> [Invitee.Ending] {
        actions.compactMap { if case .tell(.end(question, let ending)) = $0 { ending } else { nil } }
    }

    /// What was answered on a connection.
    func answers(on id: ConnectionID) throws -> [CloseCode] {
        try actions.compactMap { action in
            guard case .send(id, let frame) = action else { return nil }
            let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
            guard case .answer(let answer) = try Frame(header, Array(frame.dropFirst(8)).span) else {
                return nil
            }
            return answer.code
        }
    }

    func closes(of id: ConnectionID) -> [CloseCode] {
        actions.compactMap { if case .close(id, let code) = $0 { code } else { nil } }
    }
}
