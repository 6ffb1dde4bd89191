import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

/// Ann, who invites bob with a code, and bob, who advertises one: frames pass between them by hand, and connections share what
/// TLS would export.
struct CodeStage {
    static let code = InvitationCode.fixed("7-guitar-island")
    static let otherWords = InvitationCode.fixed("7-guitar-castle")
    static let origin: [UInt8] = [192, 0, 2, 1]

    let ann: PeerID
    let bob: PeerID
    var inviter: Inviter
    var invitee: Invitee
    var now = Moment.start
    private var random = Seeded(9382)
    private(set) var inviterDid: [Inviter.Action] = []
    private(set) var inviteeDid: [Invitee.Action] = []
    /// The inviter's connection.
    private(set) var line = ConnectionID(rawValue: 0)

    init(
        _ typed: InvitationCode? = CodeStage.code, for advertised: InvitationCode? = CodeStage.code,
        valid validity: InvitationCode.Validity = .once
    ) throws {
        (ann, bob) = (try PeerID.numbered(1), try PeerID.numbered(2))
        let proof = try advertised.map { AdvertisedCode(try CodeProof($0), valid: validity) }
        invitee = Invitee(bob, code: proof, seed: 1)
        inviter = try CodeStage.makeInviter(ann, bob, typed, at: now)
        try turn()
    }

    private static func makeInviter(
        _ ann: PeerID, _ bob: PeerID, _ code: InvitationCode?, at now: Moment
    ) throws -> Inviter {
        let address = try #require(Candidate(address: [192, 0, 2, 2], port: 5_000))
        return try Inviter(
            bob, at: [address], as: ann, context: [1], within: .seconds(30),
            code: try code.map { try CodeProof($0) }, id: [UInt8](repeating: 7, count: 16), seed: 1, at: now)
    }

    /// Lets ann try again, with another code.
    mutating func retype(_ code: InvitationCode) throws {
        inviter = try CodeStage.makeInviter(ann, bob, code, at: now)
        try turn()
    }

    mutating func secrets(binding: UInt8 = 1) -> CodeSecrets {
        CodeSecrets(
            scalar: SecureBytes(random.bytes(CodeSecrets.scalarByteCount)),
            binding: [UInt8](repeating: binding, count: CodeSecrets.bindingByteCount))
    }

    /// Takes the actions of both.
    mutating func turn() throws {
        for action in inviter.takeActions() {
            if case .dial(let id, _) = action { line = id }
            inviterDid.append(action)
        }
        inviteeDid += invitee.takeActions()
    }

    /// A connection to bob on which TLS is established; number 0 if it is refused.
    mutating func connect(binding: UInt8 = 1, from origin: [UInt8] = CodeStage.origin) -> ConnectionID {
        guard let id = invitee.accepted(from: origin, at: now) else { return ConnectionID(rawValue: 0) }
        invitee.secured(id, secrets(binding: binding), at: now)
        return id
    }

    /// Connects ann with bob; `theirs` is what his end of TLS exports.
    mutating func connectBoth(binding: UInt8 = 1, theirs: UInt8 = 1) throws -> ConnectionID {
        inviter.connected(line, at: now)
        inviter.secured(line, secrets(binding: binding), at: now)
        let id = connect(binding: theirs)
        try turn()
        return id
    }

    mutating func toInviter(_ frame: Frame) throws {
        let (header, payload) = frame.parts
        inviter.receive(line, header, payload.span, at: now)
        try turn()
    }

    mutating func toInvitee(_ frame: Frame, on id: ConnectionID) throws {
        let (header, payload) = frame.parts
        invitee.receive(id, header, payload.span, at: now)
        try turn()
    }

    /// Takes the frames that ann has sent.
    mutating func fromInviter() throws -> [Frame] {
        defer { inviterDid = [] }
        return try inviterDid.compactMap {
            if case .send(_, let bytes) = $0 { try Frame(bytes: bytes) } else { nil }
        }
    }

    /// Takes the frames that bob has sent on a connection.
    mutating func fromInvitee(on id: ConnectionID) throws -> [Frame] {
        defer { inviteeDid.removeAll { if case .send(id, _) = $0 { true } else { false } } }
        return try inviteeDid.compactMap {
            if case .send(id, let bytes) = $0 { try Frame(bytes: bytes) } else { nil }
        }
    }

    /// Carries frames between the two until neither sends any; returns what was carried.
    mutating func converse(on id: ConnectionID) throws -> [Frame] {
        var carried: [Frame] = []
        while true {
            let (ours, theirs) = (try fromInviter(), try fromInvitee(on: id))
            if ours.isEmpty, theirs.isEmpty { return carried }
            carried += ours + theirs
            for frame in ours { try toInvitee(frame, on: id) }
            for frame in theirs { try toInviter(frame) }
        }
    }

    /// One guess of an attacker who knows the protocol and not the words; returns the frames of the answers.
    mutating func guess(_ code: InvitationCode, binding: UInt8 = 1, on id: ConnectionID) throws -> Guess {
        let proof = try CodeProof(code)
        var attacker = try Inviter(
            bob, at: [try #require(Candidate(address: [192, 0, 2, 2], port: 5_000))], as: ann, context: nil,
            within: .seconds(30), code: proof, id: [UInt8](repeating: 8, count: 16), seed: 1, at: now)
        _ = attacker.takeActions()
        attacker.secured(ConnectionID(rawValue: 1), secrets(binding: binding), at: now)
        let share = try #require(CodeStage.frames(attacker.takeActions()).first)
        try toInvitee(share, on: id)
        guard let answer = try fromInvitee(on: id).first else { return Guess(confirmation: nil) }
        let (header, payload) = answer.parts
        attacker.receive(ConnectionID(rawValue: 1), header, payload.span, at: now)
        return Guess(confirmation: CodeStage.frames(attacker.takeActions()).first)
    }

    /// What an attacker would send to learn whether the guess is right; nil if the share was refused.
    struct Guess { let confirmation: Frame? }

    private static func frames(_ actions: [Inviter.Action]) -> [Frame] {
        actions.compactMap { if case .send(_, let bytes) = $0 { try? Frame(bytes: bytes) } else { nil } }
    }

    // MARK: what happened

    var outcome: InvitationFault? {
        inviterDid.lazy.compactMap { if case .tell(.end(.failure(let fault))) = $0 { fault } else { nil } }
            .first
    }

    var isInviterOver: Bool { inviter.phase == .over }
    var inviteeCloses: [ConnectionID: CloseCode] {
        inviteeDid.reduce(into: [:]) { if case .close(let id, let code) = $1 { $0[id] = code } }
    }
    var codeEvents: [Invitee.CodeEvent] {
        inviteeDid.compactMap { if case .tell(.code(let event)) = $0 { event } else { nil } }
    }
    var questions: [Invitee.InvitationRequest] {
        inviteeDid.compactMap { if case .tell(.ask(let asked)) = $0 { asked } else { nil } }
    }
}

extension InvitationCode {
    /// A code of a test.
    static func fixed(_ text: String) -> InvitationCode {
        guard let code = try? InvitationCode(parsing: text) else { preconditionFailure("\(text) is no code") }
        return code
    }
}

extension Frame {
    init(bytes: [UInt8]) throws {
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        self = try Frame(header, Array(bytes.dropFirst(FrameHeader.byteCount)).span)
    }

    var parts: (FrameHeader, [UInt8]) {
        var buffer = ByteBuffer()
        encode(into: &buffer)
        let bytes = buffer.takeAll()
        return (
            FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount)),
            Array(bytes.dropFirst(FrameHeader.byteCount))
        )
    }
}
