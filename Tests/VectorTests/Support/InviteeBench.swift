import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import Testing

/// Ann's connection to bob, whom she invites; the test plays her, the network, his application and a crowd.
struct InviteeBench: InvitationBench {
    private let cast: InvitationFixture
    private var invitee: Invitee
    private let connection: ConnectionID
    private let id = [UInt8](repeating: 7, count: Invite.idByteCount)
    private var question = QuestionID(rawValue: 0)
    private var others: UInt8 = 0
    private static let origin: [UInt8] = [192, 0, 2, 1]

    init() throws {
        cast = try InvitationFixture()
        invitee = Invitee(cast.names.bob, seed: 1)
        let accepted = invitee.accepted(from: Self.origin, at: .start)
        connection = try #require(accepted)
        try crowd(0)
    }

    var state: String { invitee.phase(of: connection)?.word ?? "over" }

    mutating func bring(to state: String) throws {
        guard state != "securing" else { return }
        try apply("secured")
        guard state != "greeting" else { return }
        try apply("invite")
        guard state != "asking" else { return }
        try apply("accept")
        guard state != "agreed" else { return }
        try apply("complete")
    }

    @discardableResult
    mutating func apply(_ event: String) throws -> RecordedActions {
        let (now, ours) = (Moment.after(10), cast.bobsData)
        switch event {
        case "secured": invitee.secured(connection, at: now)
        case "invite": receive(invite(to: cast.names.bob), at: now)
        case "inviteCrowded":
            try crowd(16)
            receive(invite(to: cast.names.bob), at: now)
        case "inviteElsewhere": receive(invite(to: cast.names.ann, as: cast.names.bob), at: now)
        case "complete": receive(complete(cast.annsData), at: now)
        case "completeWrong": receive(complete(cast.bobsData), at: now)
        case "completeUnfit":
            if state == "agreed" { try agreePlainly() }
            receive(complete(cast.annsData), at: now)
        case "otherFrame": receive(.answer(Answer(id: id, code: .ok)), at: now)
        case "close": receive(.close(.cancelled, reason: ""), at: now)
        case "lost": invitee.lost(connection, .lost, at: now)
        case "accept":
            say { (machine, question) throws(InvitationFault) in
                try machine.accept(question, with: ours, at: now)
            }
        case "refuse":
            say { (machine, question) throws(InvitationFault) in
                try machine.refuse(question, .declined, at: now)
            }
        case "replaced": try replace()
        case "displaced": try displace()
        case "deadline": invitee.advance(to: .after(30_010))
        default: invitee.stop(at: now)
        }
        return try deeds()
    }

    /// Gets to the same state, but bob wants no encryption.
    private mutating func agreePlainly() throws {
        self = try InviteeBench()
        try bring(to: "asking")
        try invitee.accept(question, with: cast.bobsPlainData, at: .after(10))
        _ = invitee.takeActions()
    }

    /// Answers a question; for one that is not open the application gets an error.
    private mutating func say(
        _ body: (inout Invitee, QuestionID) throws(InvitationFault) -> Void
    ) {
        let isOpen = state == "asking"
        do throws(InvitationFault) {
            try body(&invitee, question)
            #expect(isOpen)
        } catch {
            #expect(!isOpen)
            let isUnproven = state == "securing" || state == "greeting"
            #expect(error == (isUnproven ? .withdrawn : .alreadyAnswered))
        }
    }
}

// MARK: frames

extension InviteeBench {
    private func invite(to recipient: PeerID, as inviter: PeerID? = nil) -> Frame {
        let from = inviter ?? cast.names.ann
        // A peer that takes bob for another and has another name.
        let uid = inviter == nil ? from.uid : UID(high: 0, low: 99)
        return .invite(
            Invite(
                id: id, inviter: uid, inviterName: from.displayName, recipient: recipient.uid, timeout: 30))
    }

    private func complete(_ data: ConnectionData) -> Frame {
        .complete(Complete(id: id, connectionData: data.bytes))
    }

    private mutating func receive(_ frame: Frame, on other: ConnectionID? = nil, at now: Moment) {
        let bytes = frame.bytes
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        invitee.receive(
            other ?? connection, header, Array(bytes.dropFirst(FrameHeader.byteCount)).span, at: now)
    }

    private mutating func deeds() throws -> RecordedActions {
        var deeds = RecordedActions()
        for action in invitee.takeActions() {
            switch action {
            case .send(connection, let frame): try deeds.note(frame: frame)
            case .close(connection, let code): deeds.note(closing: code)
            case .tell(.ask(let asked)) where asked.connection == connection:
                #expect(asked.inviter == cast.names.ann)
                question = asked.question
                deeds.names.append("ask")
            case .tell(.end(question, .completed(let data))):
                deeds.names.append(data == cast.annsData ? "tellCompleted" : "tell of other data")
            case .tell(.end(question, .refused)): deeds.names.append("tellAnswered")
            case .tell(.end(question, .failed(let fault))): deeds.tell(fault)
            case .tell(.code(.guessedWrong(_, isLast: true))): deeds.names.append("tellGuess")
            case .tell(.code(.guessedWrong(_, isLast: false))): deeds.names.append("tell of a repeated code")
            case .tell(.code(.used)): deeds.names.append("tellUsed")
            case .dial, .send, .close, .tell: break
            }
        }
        return deeds
    }
}

// MARK: the crowd

extension InviteeBench {
    /// Lets another peer invite bob.
    private mutating func another(from origin: [UInt8], uid: UID? = nil) throws {
        others += 1
        let now = Moment.after(10)
        let accepted = invitee.accepted(from: origin, at: now)
        let id = try #require(accepted)
        invitee.secured(id, at: now)
        let inviter = uid ?? UID(high: 1, low: UInt64(others))
        let invite = Invite(
            id: self.id, inviter: inviter, inviterName: "other", recipient: cast.names.bob.uid, timeout: 600)
        receive(.invite(invite), on: id, at: now)
    }

    private mutating func crowd(_ count: UInt8) throws {
        for number in 0..<count { try another(from: [198, 51, 100, number]) }
    }

    private mutating func replace() throws {
        try another(from: Self.origin, uid: cast.names.ann.uid)
    }

    /// Fills all places, so that one is needed and ann's address holds the most.
    private mutating func displace() throws {
        if state == "securing" || state == "greeting" {
            for _ in 0..<4 { _ = invitee.accepted(from: Self.origin, at: .after(200)) }
            return
        }
        // The older ones of ann's address: it is hers that is the newest.
        let (state, own) = (state, question)
        self = try InviteeBench()
        try another(from: Self.origin)
        try bring(to: state)
        if state == "over" { question = own }
        try crowd(16)
    }
}
