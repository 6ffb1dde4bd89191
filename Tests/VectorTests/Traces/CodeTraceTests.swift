import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

/// One end of the exchange of a code, step by step.
struct CodeTrace: VectorBody {
    static let type = "code-trace"
    let role: String
    let code: String
    let repeated: Bool
    let uid: Hex
    let peer: Hex
    let invitation: Hex
    let steps: [InvitationTrace.Step]
}

@Suite("13.9 Traces of the exchange of a code", .computing)
struct CodeTraceTests {
    @Test(
        "either end behaves as in the vectors [code.order] [code.required] [code.mismatch] [code.point] [code.guess] [code.once] [code.repeated] [code.binding]",
        arguments: try VectorFiles.all(CodeTrace.self))
    func run(_ vector: Vector<CodeTrace>) throws {
        let body = vector.body
        if body.role == "inviter" {
            var run = try CodeInviterRun(body)
            for step in body.steps {
                try run.apply(step)
                #expect(run.words() == step.does, "\(step.do) at \(step.at)")
            }
        } else {
            var run = try CodeInviteeRun(body)
            for step in body.steps {
                try run.apply(step)
                #expect(run.words() == step.does, "\(step.do) at \(step.at)")
            }
        }
    }
}

extension InvitationTrace.Step {
    /// The last two parameters: a random number, and what the connection exports.
    fileprivate var secrets: CodeSecrets {
        get throws {
            let (scalar, binding) = (try bytes(with.count - 2), try bytes(with.count - 1))
            return CodeSecrets(scalar: SecureBytes(scalar), binding: binding)
        }
    }
}

private struct CodeInviterRun {
    private var inviter: Inviter
    private let connection = ConnectionID(rawValue: 1)

    init(_ body: CodeTrace) throws {
        let address = try #require(Candidate(address: [192, 0, 2, 1], port: 5_000))
        inviter = try Inviter(
            try PeerID(validating: try #require(UID(body.peer.bytes)), displayName: "Bob"), at: [address],
            as: try PeerID(validating: try #require(UID(body.uid.bytes)), displayName: "Ann"), context: nil,
            within: .seconds(30), code: try CodeProof(try InvitationCode(parsing: body.code)),
            id: body.invitation.bytes, seed: 1, at: .start)
        _ = inviter.takeActions()
    }

    mutating func apply(_ step: InvitationTrace.Step) throws {
        let now = Moment.after(step.at)
        inviter.advance(to: now)
        switch step.do {
        case "tls": inviter.secured(connection, try step.secrets, at: now)
        case "receive":
            let (header, payload) = try step.frame(0)
            inviter.receive(connection, header, payload.span, at: now)
        case "lost": inviter.lost(connection, .lost, at: now)
        default: #expect(step.do == "look")
        }
    }

    mutating func words() -> [String] {
        inviter.takeActions().map { action in
            switch action {
            case .dial(let id, _): "dial \(id.rawValue)"
            case .send(let id, let frame): "say \(id.rawValue) \(Hex(frame))"
            case .close(let id, let code):
                code == .ok ? "end \(id.rawValue)" : "close \(id.rawValue) \(code.name)"
            case .tell(.makeData): "make"
            case .tell(.end(.success)): "tell agreed"
            case .tell(.end(.failure(let fault))): "tell \(fault)"
            }
        }
    }
}

private struct CodeInviteeRun {
    private var invitee: Invitee

    init(_ body: CodeTrace) throws {
        let proof = try CodeProof(try InvitationCode(parsing: body.code))
        invitee = Invitee(
            try PeerID(validating: try #require(UID(body.peer.bytes)), displayName: "Bob"),
            code: AdvertisedCode(proof, valid: body.repeated ? .repeated : .once), seed: 1)
    }

    mutating func apply(_ step: InvitationTrace.Step) throws {
        let now = Moment.after(step.at)
        invitee.advance(to: now)
        if step.do == "look" { return }
        let id = ConnectionID(rawValue: try step.number(0))
        switch step.do {
        case "connect":
            let origin = step.with[1].split(separator: ".").compactMap { UInt8($0) }
            #expect(invitee.accepted(from: origin, at: now) == id)
            invitee.secured(id, try step.secrets, at: now)
        case "receive":
            let (header, payload) = try step.frame(1)
            invitee.receive(id, header, payload.span, at: now)
        default: invitee.lost(id, .lost, at: now)
        }
    }

    mutating func words() -> [String] {
        invitee.takeActions().map { action in
            switch action {
            case .dial(let id, _): "dial \(id.rawValue)"
            case .send(let id, let frame): "say \(id.rawValue) \(Hex(frame))"
            case .close(let id, let code):
                code == .ok ? "end \(id.rawValue)" : "close \(id.rawValue) \(code.name)"
            case .tell(.ask(let asked)): "ask \(asked.question.rawValue)"
            case .tell(.contested(let question)): "contested \(question.rawValue)"
            case .tell(.end(let question, _)): "tell \(question.rawValue)"
            case .tell(.code(.guessedWrong(_, let isLast))): isLast ? "code over" : "code paused"
            case .tell(.code(.used)): "code used"
            }
        }
    }
}
