import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

struct InviteForm: VectorBody {
    static let type = "invite"
    let hex: Hex
    let append: Padding?
    let receiver: Hex
    let keyedUid: Hex?
    let fields: Fields?

    struct Padding: Decodable {
        let fill: UInt8
        let length: Int
    }

    struct Fields: Decodable, Equatable {
        let id: Hex
        let uid: Hex
        let name: String
        let timeout: UInt32
        let context: Context?
    }

    struct Context: Decodable, Equatable {
        let length: Int
        let hex: Hex?
    }

    var payload: [UInt8] {
        hex.bytes + [UInt8](repeating: append?.fill ?? 0, count: append?.length ?? 0)
    }
}

/// What both answers have in common: the invitation that they are of, and the receiver's own data.
struct AnswerForm: VectorBody {
    static let type = "answer"
    let hex: Hex
    let invitation: Hex
    let inviter: Hex
    let invitee: Hex
    let own: Hex
    let fields: Fields?

    struct Fields: Decodable { let code: UInt16 }
}

struct CompleteForm: VectorBody {
    static let type = "complete"
    let answer: AnswerForm

    init(from decoder: any Decoder) throws { answer = try AnswerForm(from: decoder) }
}

@Suite("12 Vectors of invitations", .computing)
struct InvitationVectorTests {
    @Test(
        "an INVITE becomes a question, or is refused with the reason [invite.recipient] [invite.context] [invite.timeout] [uid.proof]",
        arguments: try VectorFiles.all(InviteForm.self))
    func invite(_ vector: Vector<InviteForm>) throws {
        let peer = try PeerID(
            validating: try #require(UID(vector.body.receiver.bytes)), displayName: "receiver")
        var invitee = Invitee(peer, seed: 1)
        let accepted = invitee.accepted(from: [192, 0, 2, 1], at: .start)
        let id = try #require(accepted)
        invitee.secured(id, keyedUID: vector.body.keyedUid.flatMap { UID($0.bytes) }, at: .start)
        let payload = vector.body.payload
        invitee.receive(id, header(.invite, payload), payload.span, at: .start)
        var told: CloseCode?
        for action in invitee.takeActions() {
            switch action {
            case .tell(.ask(let asked)):
                let expected = try #require(vector.body.fields)
                #expect(asked.inviter.uid.bytes == expected.uid.bytes)
                #expect(asked.inviter.displayName == expected.name)
                #expect(asked.timeout == .seconds(Int64(expected.timeout)))
                #expect(asked.context?.count == expected.context?.length)
                if let hex = expected.context?.hex { #expect(asked.context == hex.bytes) }
            case .send(_, let frame): told = try answer(in: frame).code
            case .close(_, let code): if code != .ok { told = code }
            case .dial, .tell(.contested), .tell(.end), .tell(.code): Issue.record("nobody was asked")
            }
        }
        #expect(told?.name == vector.fault?.code)
        #expect((vector.fault == nil) == vector.isValid)
    }

    @Test(
        "an ANSWER is accepted, or refused with the reason [invite.data] [invite.order]",
        arguments: try VectorFiles.all(AnswerForm.self))
    func answer(_ vector: Vector<AnswerForm>) throws {
        let form = vector.body
        let (ann, bob) = (try peer(form.inviter), try peer(form.invitee))
        let candidate = try #require(Candidate(address: [192, 0, 2, 2], port: 49_152))
        var inviter = try Inviter(
            bob, at: [candidate], as: ann, context: nil, within: .seconds(30), id: form.invitation.bytes,
            seed: 1, at: .start)
        let id = ConnectionID(rawValue: 1)
        inviter.connected(id, at: .start)
        inviter.secured(id, at: .start)
        _ = inviter.takeActions()
        inviter.receive(id, header(.answer, form.hex.bytes), form.hex.bytes.span, at: .start)
        if inviter.takeActionsWantData() {
            inviter.supply(try ConnectionData(parsing: form.own.bytes), at: .start)
        }
        let (told, result) = inviter.takeEnd()
        #expect(told?.name == vector.fault?.code)
        guard let code = form.fields?.code else { return }
        switch result {
        case .success: #expect(code == CloseCode.ok.rawValue)
        case .failure(let fault): #expect(fault == InvitationFault(CloseCode(rawValue: code)))
        case nil: #expect(code == CloseCode.busy.rawValue || code == CloseCode.unknownPeer.rawValue)
        }
    }

    @Test(
        "a COMPLETE is accepted, or refused with the reason [invite.data] [invite.order]",
        arguments: try VectorFiles.all(CompleteForm.self))
    func complete(_ vector: Vector<CompleteForm>) throws {
        let form = vector.body.answer
        let (ann, bob) = (try peer(form.inviter), try peer(form.invitee))
        var invitee = Invitee(bob, seed: 1)
        let accepted = invitee.accepted(from: [192, 0, 2, 1], at: .start)
        let id = try #require(accepted)
        invitee.secured(id, at: .start)
        let invite = Invite(
            id: form.invitation.bytes, inviter: ann.uid, inviterName: "inviter", recipient: bob.uid,
            timeout: 30)
        let bytes = payload(of: .invite(invite))
        invitee.receive(id, header(.invite, bytes), bytes.span, at: .start)
        let question = try #require(
            invitee.takeActions().compactMap {
                if case .tell(.ask(let asked)) = $0 { asked.question } else { nil }
            }
            .first)
        try invitee.accept(question, with: try ConnectionData(parsing: form.own.bytes), at: .start)
        _ = invitee.takeActions()
        invitee.receive(id, header(.complete, form.hex.bytes), form.hex.bytes.span, at: .start)
        var told: CloseCode?
        var isCompleted = false
        for action in invitee.takeActions() {
            switch action {
            case .close(_, let code): if code != .ok { told = code }
            case .tell(.contested): break
            case .tell(.end(question, .completed)): isCompleted = true
            default: break
            }
        }
        #expect(told?.name == vector.fault?.code)
        #expect(isCompleted == vector.isValid)
    }
}

// MARK: frames

extension InvitationVectorTests {
    private func peer(_ uid: Hex) throws -> PeerID {
        try PeerID(validating: try #require(UID(uid.bytes)), displayName: "somebody")
    }

    private func header(_ kind: FrameKind, _ payload: [UInt8]) -> FrameHeader {
        FrameHeader(kind, length: payload.count)
    }

    private func payload(of frame: Frame) -> [UInt8] { Array(frame.bytes.dropFirst(FrameHeader.byteCount)) }

    private func answer(in frame: [UInt8]) throws -> Answer {
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        guard
            case .answer(let answer) = try Frame(
                header, frame.span.extracting(FrameHeader.byteCount..<frame.count))
        else {
            throw NoAnswer()
        }
        return answer
    }

    private struct NoAnswer: Error {}
}

extension Inviter {
    fileprivate mutating func takeActionsWantData() -> Bool {
        guard case .agreeing = phase else { return false }
        return takeActions().contains { if case .tell(.makeData) = $0 { true } else { false } }
    }

    /// Returns what the other end was sent, and the result; nil while it goes on.
    fileprivate mutating func takeEnd() -> (CloseCode?, Result<ConnectionData, InvitationFault>?) {
        var told: CloseCode?
        var result: Result<ConnectionData, InvitationFault>?
        for action in takeActions() {
            switch action {
            case .close(_, let code): if code != .ok { told = code }
            case .tell(.end(let end)): result = end
            case .dial, .send, .tell(.makeData): break
            }
        }
        return (told, result)
    }
}
