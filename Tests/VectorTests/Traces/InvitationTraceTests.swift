import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

/// One end of an invitation, step by step.
struct InvitationTrace: VectorBody {
    static let type = "invitation-trace"
    let role: String
    let uid: Hex
    let peer: Hex
    let timeout: Int?
    let invitation: Hex?
    /// Of the invitee, each with another peer but one.
    let addresses: Int?
    /// Whether the inviter knows an address alone.
    let onlyAddress: Bool?
    /// What an inviter has to prove to the invitee.
    let code: String?
    let steps: [Step]

    struct Step: Decodable, Sendable {
        let at: Int
        let `do`: String
        let with: [String]
        let does: [String]
        let taken: Bool?
    }
}

@Suite("12.8 Traces of invitations", .computing)
struct InvitationTraceTests {
    @Test(
        "either end behaves as in the vectors [invite.order] [invite.consent] [invite.once] [invite.timeout] [invite.deadline] [invite.pending] [invite.quiet] [invite.busy] [invite.cancel] [invite.data] [invite.recipient] [invite.address] [uid.proof] [code.required]",
        arguments: try VectorFiles.all(InvitationTrace.self))
    func run(_ vector: Vector<InvitationTrace>) throws {
        let body = vector.body
        var end: any InvitationEnd =
            body.role == "inviter" ? try InviterRun(body) : try InviteeRun(body)
        for step in body.steps {
            end.look(at: .after(step.at))
            let taken = step.do == "look" ? nil : try end.apply(step, at: .after(step.at))
            #expect(end.words() == step.does, "\(step.do) at \(step.at)")
            if let expected = step.taken { #expect(taken == expected, "\(step.do) at \(step.at)") }
        }
    }
}

/// A machine that a run is played to.
private protocol InvitationEnd {
    mutating func look(at now: Moment)
    /// For an answer: whether it was taken.
    mutating func apply(_ step: InvitationTrace.Step, at now: Moment) throws -> Bool?
    /// What it did, in the words of the vectors.
    mutating func words() -> [String]
}

private struct UnknownStep: Error { let name: String }

extension InvitationTrace.Step {
    func bytes(_ index: Int) throws -> [UInt8] {
        let digits = try #require(with.indices.contains(index) ? with[index] : nil).compactMap(
            \.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// The keyed uid to which the key of the certificate hashes, if there is this parameter.
    func keyedUID(_ index: Int) throws -> UID? {
        with.indices.contains(index) ? UID(try bytes(index)) : nil
    }

    func number(_ index: Int) throws -> UInt32 {
        try #require(with.indices.contains(index) ? UInt32(with[index]) : nil)
    }

    /// The frame that came, cut in two.
    func frame(_ index: Int) throws -> (FrameHeader, [UInt8]) {
        let frame = try bytes(index)
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        return (header, Array(frame.dropFirst(FrameHeader.byteCount)))
    }
}

private func words(sending frame: [UInt8], on id: ConnectionID) -> String {
    "say \(id.rawValue) \(Hex(frame))"
}

private func words(closing id: ConnectionID, _ code: CloseCode) -> String {
    code == .ok ? "end \(id.rawValue)" : "close \(id.rawValue) \(code.name)"
}

extension InvitationFault {
    fileprivate var word: String {
        switch self {
        case .unreachable: "unreachable"
        case .refused: "refused"
        case .system: "system"
        default: "\(self)"
        }
    }
}

private struct InviteeRun: InvitationEnd {
    private var invitee: Invitee

    init(_ body: InvitationTrace) throws {
        let uid = try #require(UID(body.uid.bytes))
        let code = try body.code.map {
            AdvertisedCode(try CodeProof(try InvitationCode(parsing: $0)), valid: .repeated)
        }
        invitee = Invitee(try PeerID(validating: uid, displayName: "Bob"), code: code, seed: 1)
    }

    mutating func look(at now: Moment) { invitee.advance(to: now) }

    mutating func apply(_ step: InvitationTrace.Step, at now: Moment) throws -> Bool? {
        if step.do == "stop" {
            invitee.stop(at: now)
            return nil
        }
        let id = ConnectionID(rawValue: try step.number(0))
        let question = QuestionID(rawValue: UInt64(id.rawValue))
        switch step.do {
        case "connect":
            let origin = step.with[1].split(separator: ".").compactMap { UInt8($0) }
            #expect(invitee.accepted(from: origin, at: now) == id)
            invitee.secured(id, keyedUID: try step.keyedUID(2), at: now)
        case "receive":
            let (header, payload) = try step.frame(1)
            invitee.receive(id, header, payload.span, at: now)
        case "lost": invitee.lost(id, .lost, at: now)
        case "accept":
            let data = try ConnectionData(parsing: try step.bytes(2))
            return taken { (machine) throws(InvitationFault) in
                try machine.accept(question, with: data, at: now)
            }
        case "refuse":
            let code = try #require([CloseCode.declined, .full].first { $0.name == step.with[1] })
            return taken { (machine) throws(InvitationFault) in
                try machine.refuse(question, code, at: now)
            }
        default: throw UnknownStep(name: step.do)
        }
        return nil
    }

    private mutating func taken(_ body: (inout Invitee) throws(InvitationFault) -> Void) -> Bool {
        do throws(InvitationFault) { try body(&invitee) } catch { return false }
        return true
    }

    mutating func words() -> [String] {
        invitee.takeActions().compactMap { action in
            switch action {
            case .dial(let id, _): "dial \(id.rawValue)"
            case .send(let id, let frame): VectorTests.words(sending: frame, on: id)
            case .close(let id, let code): VectorTests.words(closing: id, code)
            case .tell(.ask(let asked)): "ask \(asked.question.rawValue)"
            case .tell(.contested): nil
            case .tell(.end(let question, .completed)): "tell \(question.rawValue) completed"
            case .tell(.end(let question, .refused)): "tell \(question.rawValue) refused"
            case .tell(.end(let question, .failed(let fault))): "tell \(question.rawValue) \(fault.word)"
            case .tell(.code(.guessedWrong(_, let isLast))): isLast ? "code over" : "code paused"
            case .tell(.code(.used)): "code used"
            }
        }
    }
}

private struct InviterRun: InvitationEnd {
    private var inviter: Inviter
    private var connection = ConnectionID(rawValue: 1)

    init(_ body: InvitationTrace) throws {
        let (uid, peer) = (try #require(UID(body.uid.bytes)), try #require(UID(body.peer.bytes)))
        let addresses = (1...(body.addresses ?? 1)).compactMap {
            Candidate(address: [192, 0, 2, UInt8($0)], port: 5_000)
        }
        inviter = try Inviter(
            body.onlyAddress == true ? nil : try PeerID(validating: peer, displayName: "Bob"), at: addresses,
            as: try PeerID(validating: uid, displayName: "Ann"), context: nil,
            within: .seconds(try #require(body.timeout)), id: try #require(body.invitation).bytes, seed: 1,
            at: .start)
        _ = inviter.takeActions()
    }

    mutating func look(at now: Moment) { inviter.advance(to: now) }

    mutating func apply(_ step: InvitationTrace.Step, at now: Moment) throws -> Bool? {
        switch step.do {
        case "tcp": inviter.connected(connection, at: now)
        case "tls":
            inviter.connected(connection, at: now)
            inviter.secured(connection, keyedUID: try step.keyedUID(0), at: now)
        case "receive":
            let (header, payload) = try step.frame(0)
            inviter.receive(connection, header, payload.span, at: now)
        case "lost": inviter.lost(connection, .lost, at: now)
        case "supply":
            let data = try step.bytes(0)
            if data.isEmpty {
                inviter.failed(.system("no data"), at: now)
            } else {
                inviter.supply(try ConnectionData(parsing: data), at: now)
            }
        case "cancel": inviter.cancel(at: now)
        default: throw UnknownStep(name: step.do)
        }
        return nil
    }

    mutating func words() -> [String] {
        inviter.takeActions().map { action in
            switch action {
            case .dial(let id, _):
                connection = id
                return "dial \(id.rawValue)"
            case .send(let id, let frame): return VectorTests.words(sending: frame, on: id)
            case .close(let id, let code): return VectorTests.words(closing: id, code)
            case .tell(.makeData): return "make"
            case .tell(.end(.success)): return "tell agreed"
            case .tell(.end(.failure(let fault))): return "tell \(fault.word)"
            }
        }
    }
}
