import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("13.9 States of the exchange of a code", .computing)
struct CodeStateTests {
    @Test(
        "at the inviter, every state and every event, as in states.json [code.order] [code.guess]",
        arguments: try ChannelRow.all(of: \.codeInviter))
    func inviter(_ row: ChannelRow) throws {
        var bench = try CodeInviterBench()
        try bench.follow(row)
    }

    @Test(
        "at the invited peer, every state and every event, as in states.json [code.order] [code.required] [code.once]",
        arguments: try ChannelRow.all(of: \.codeInvitee))
    func invitee(_ row: ChannelRow) throws {
        var bench = try CodeInviteeBench()
        try bench.follow(row)
    }
}

/// One end of the exchange that the test plays itself.
struct CodeOpponent {
    private let exchange: SPAKE2
    private static let binding = [UInt8](repeating: 3, count: 32)
    private static let names = SPAKE2.Identities(a: Array("inviter".utf8), b: Array("invitee".utf8))

    init(_ role: SPAKE2.Role, _ words: String = "guitar-island") throws {
        let password = try SPAKE2.password(Array(words.utf8), salt: Array("MPC/1 code7".utf8))
        exchange = try SPAKE2(as: role, password: password, scalar: SecureBytes([9]))
    }

    static let code = "7-guitar-island"
    static var secrets: CodeSecrets { CodeSecrets(scalar: SecureBytes([5]), binding: binding) }

    var share: Frame { .share(code: 7, point: exchange.share) }

    /// Returns the confirmation after the machine's SHARE, or, before it, any.
    func confirmation(after share: Frame?) throws -> Frame {
        guard case .share(_, let point)? = share else {
            return .confirmation([UInt8](repeating: 1, count: 32))
        }
        let bound = Array("MPC/1 code".utf8) + CodeOpponent.binding
        return .confirmation(
            try exchange.keys(with: point, CodeOpponent.names, additionalData: bound).confirmation)
    }

    static let wrong = Frame.confirmation([UInt8](repeating: 0, count: 32))
    static let noPoint = Frame.share(code: 7, point: [4] + [UInt8](repeating: 1, count: 64))
}

/// Ann invites bob with a code; the test plays him and the network.
private struct CodeInviterBench: InvitationBench {
    private var inviter: Inviter
    private let connection = ConnectionID(rawValue: 1)
    private let bob = try? CodeOpponent(.b)
    private var share: Frame?
    private let id = [UInt8](repeating: 7, count: Invite.idByteCount)

    init() throws {
        let candidate = try #require(Candidate(address: [127, 0, 0, 1], port: 49_152))
        inviter = try Inviter(
            try PeerID(validating: UID(high: 0, low: 2), displayName: "bob"), at: [candidate],
            as: try PeerID(validating: UID(high: 0, low: 1), displayName: "ann"), context: nil,
            within: .seconds(30), code: try CodeProof(try InvitationCode(parsing: CodeOpponent.code)), id: id,
            seed: 1, at: .start)
        _ = inviter.takeActions()
    }

    var state: String { inviter.phase.word }

    mutating func bring(to state: String) throws {
        guard state != "connecting" else { return }
        inviter.secured(connection, CodeOpponent.secrets, at: .after(10))
        _ = try did()
        guard state != "sharing" else { return }
        if state == "over" {
            _ = try apply("cancel")
        } else {
            _ = try apply("share")
            if state == "asking" { _ = try apply("confirmation") }
        }
    }

    mutating func apply(_ event: String) throws -> RecordedActions {
        let now = Moment.after(10)
        let bob = try #require(bob)
        switch event {
        case "share": receive(bob.share)
        case "shareInvalid": receive(CodeOpponent.noPoint)
        case "confirmation": receive(try bob.confirmation(after: share))
        case "confirmationWrong": receive(CodeOpponent.wrong)
        case "otherFrame": receive(.complete(Complete(id: id, connectionData: [1])))
        case "busy": receive(.close(.busy, reason: ""))
        case "refused": receive(.close(.wrongCode, reason: ""))
        case "lost":
            inviter.connected(connection, at: now)
            inviter.lost(connection, .lost, at: now)
        case "cancel": inviter.cancel(at: now)
        default: inviter.advance(to: .after(30_010))
        }
        return try did()
    }

    private mutating func receive(_ frame: Frame) {
        let bytes = frame.bytes
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        let payload = Array(bytes.dropFirst(FrameHeader.byteCount))
        inviter.receive(connection, header, payload.span, at: .after(10))
    }

    private mutating func did() throws -> RecordedActions {
        var did = RecordedActions()
        for action in inviter.takeActions() {
            switch action {
            case .dial: did.names.append("dial")
            case .send(_, let frame):
                try did.note(frame: frame)
                let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
                let sent = try Frame(header, Array(frame.dropFirst(FrameHeader.byteCount)).span)
                if case .share = sent { share = sent }
            case .close(_, let code): did.note(closing: code)
            case .tell(.makeData): did.names.append("makeData")
            case .tell(.end(.success)): did.names.append("tellAgreed")
            case .tell(.end(.failure(let fault))): did.tell(fault)
            }
        }
        return did
    }
}

/// Ann's connection to bob, who has a code; the test plays her, the network and an attacker.
private struct CodeInviteeBench: InvitationBench {
    private var invitee: Invitee
    private let connection: ConnectionID
    private let ann = try? CodeOpponent(.a)
    private var share: Frame?
    private let id = [UInt8](repeating: 7, count: Invite.idByteCount)
    private let peer: PeerID

    init() throws {
        peer = try PeerID(validating: UID(high: 0, low: 2), displayName: "bob")
        let proof = try CodeProof(try InvitationCode(parsing: CodeOpponent.code))
        invitee = Invitee(peer, code: AdvertisedCode(proof, valid: .once), seed: 1)
        let accepted = invitee.accepted(from: [192, 0, 2, 1], at: .start)
        connection = try #require(accepted)
        invitee.secured(connection, CodeOpponent.secrets, at: .start)
    }

    var state: String { invitee.phase(of: connection)?.word ?? "over" }

    mutating func bring(to state: String) throws {
        guard state != "greeting" else { return }
        if state == "over" {
            _ = try apply("close")
            return
        }
        for (reached, event) in [("confirming", "share"), ("proven", "confirmation"), ("asking", "invite")] {
            _ = try apply(event)
            if reached == state { return }
        }
    }

    mutating func apply(_ event: String) throws -> RecordedActions {
        let now = Moment.after(10)
        let ann = try #require(ann)
        switch event {
        case "share": receive(ann.share)
        case "shareInvalid": receive(CodeOpponent.noPoint)
        case "shareOther":
            if case .share(_, let point) = ann.share { receive(.share(code: 8, point: point)) }
        case "confirmation": receive(try ann.confirmation(after: share))
        case "confirmationWrong": receive(CodeOpponent.wrong)
        case "invite":
            receive(
                .invite(
                    Invite(
                        id: id, inviter: UID(high: 0, low: 1), inviterName: "ann", recipient: peer.uid,
                        timeout: 30)))
        case "otherFrame": receive(.complete(Complete(id: id, connectionData: [1])))
        case "close": receive(.close(.cancelled, reason: ""))
        case "lost": invitee.lost(connection, .lost, at: now)
        case "guessElsewhere":
            let accepted = invitee.accepted(from: [192, 0, 2, 2], at: now)
            let other = try #require(accepted)
            invitee.secured(other, CodeOpponent.secrets, at: now)
            receive(ann.share, on: other)
            receive(CodeOpponent.wrong, on: other)
        case "deadline": invitee.advance(to: .after(30_010))
        default: invitee.stop(at: now)
        }
        return try did()
    }

    private mutating func receive(_ frame: Frame, on other: ConnectionID? = nil) {
        let bytes = frame.bytes
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        let payload = Array(bytes.dropFirst(FrameHeader.byteCount))
        invitee.receive(other ?? connection, header, payload.span, at: .after(10))
    }

    private mutating func did() throws -> RecordedActions {
        var did = RecordedActions()
        for action in invitee.takeActions() {
            switch action {
            case .send(connection, let frame):
                try did.note(frame: frame)
                let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
                let sent = try Frame(header, Array(frame.dropFirst(FrameHeader.byteCount)).span)
                if case .share = sent { share = sent }
            case .close(connection, let code): did.note(closing: code)
            case .tell(.ask): did.names.append("ask")
            case .tell(.end(_, .failed(let fault))): did.tell(fault)
            case .tell(.code(.guessedWrong(connection, isLast: true))): did.names.append("tellGuess")
            case .dial, .send, .close, .tell: break
            }
        }
        return did
    }
}
