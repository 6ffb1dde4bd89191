import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

extension FuzzBody {
    /// An inviter and an invitee with a code, and an attacker between them who delivers, changes, invents and ends. The
    /// first byte says whether both have the same words, and whether they share one TLS connection.
    package static let codeExchange = FuzzBody("code-exchange") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        guard let proofs = CodeProofs.standard, var stage = CodeExchangeStage(proofs, input.byte()) else {
            return
        }
        var steps = 0
        while !input.isAtEnd, steps < 60 {
            steps += 1
            try stage.step(&input)
        }
        try stage.settle()
    }
}

/// The passwords of two codes with one number: deriving them takes longer than everything else.
struct CodeProofs: Sendable {
    let right: CodeProof
    let wrong: CodeProof

    static let standard = try? CodeProofs()

    private init() throws {
        right = try CodeProof(try InvitationCode(parsing: "7-guitar-island"))
        wrong = try CodeProof(try InvitationCode(parsing: "7-guitar-castle"))
    }
}

struct CodeExchangeStage {
    private var inviter: Inviter
    private var invitee: Invitee
    private let isHonest: Bool
    private let isRepeated: Bool
    private let dialled = ConnectionID(rawValue: 1)
    private let accepted: ConnectionID
    private var now = Moment(nanoseconds: 1_000_000_000)
    private var toInvitee: [[UInt8]] = []
    private var toInviter: [[UInt8]] = []
    private var isTouched = false
    private var guesses = 0
    private var hasInvited = false
    private var isAsked = false
    private var outcome: InvitationFault?

    init?(_ proofs: CodeProofs, _ choice: UInt8) {
        let (hasWords, isOneConnection) = (choice & 1 == 0, choice & 2 == 0)
        isHonest = hasWords && isOneConnection
        isRepeated = choice & 4 != 0
        guard let ann = try? PeerID(validating: UID(high: 0, low: 1), displayName: "ann"),
            let bob = try? PeerID(validating: UID(high: 0, low: 2), displayName: "bob"),
            let address = Candidate(address: [192, 0, 2, 1], port: 5_000)
        else { return nil }
        do throws(InvitationFault) {
            inviter = try Inviter(
                bob, at: [address], as: ann, context: nil, within: .seconds(30),
                code: hasWords ? proofs.right : proofs.wrong, id: [UInt8](repeating: 7, count: 16), seed: 1,
                at: now)
        } catch {
            return nil
        }
        let code = AdvertisedCode(proofs.right, valid: isRepeated ? .repeated : .once)
        invitee = Invitee(bob, code: code, seed: 1)
        guard let first = invitee.accepted(from: [192, 0, 2, 2], at: now) else { return nil }
        accepted = first
        invitee.secured(accepted, CodeExchangeStage.secrets(5, binding: isOneConnection ? 1 : 2), at: now)
        _ = inviter.takeActions()
        inviter.secured(dialled, CodeExchangeStage.secrets(9, binding: 1), at: now)
    }

    private static func secrets(_ scalar: UInt8, binding: UInt8) -> CodeSecrets {
        CodeSecrets(
            scalar: SecureBytes([UInt8](repeating: scalar, count: 48)),
            binding: [UInt8](repeating: binding, count: 32))
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let choice = input.byte()
        let isToInviter = choice & 0x80 != 0
        switch choice & 7 {
        case 0, 1, 2: deliver(isToInviter)
        case 3:
            isTouched = true
            let place = Int(input.byte())
            if isToInviter { toInviter.change(place) } else { toInvitee.change(place) }
        case 4:
            isTouched = true
            let frame = invented(&input)
            if isToInviter { toInviter.insert(frame, at: 0) } else { toInvitee.insert(frame, at: 0) }
        case 5:
            isTouched = true
            // What one end sent comes back to it.
            if isToInviter { toInviter += toInvitee.suffix(1) } else { toInvitee += toInviter.suffix(1) }
        case 6: if choice & 0x70 == 0 { lose(isToInviter) }
        default: if choice & 0x70 == 0 { pass(input.duration()) }
        }
        try judge()
    }

    /// Checks what an undisturbed exchange leads to, and that every connection ends.
    mutating func settle() throws(BrokenPromise) {
        try judge()
        for _ in 0..<8 {
            deliver(false)
            deliver(true)
            try judge()
        }
        if !isTouched {
            try promise(isAsked == isHonest, "an undisturbed exchange asks if and only if both have the code")
            try promise(isHonest || guesses == 1, "a wrong guess is not reported")
        }
        for _ in 0..<8 {
            pass(.seconds(601))
            try judge()
        }
        try promise(outcome != nil, "the invitation has no outcome")
    }

    private func invented(_ input: inout InputReader) -> [UInt8] {
        let value = input.byte()
        let frames: [Frame] = [
            .share(code: 7, point: [4] + [UInt8](repeating: value, count: 64)),
            .share(code: 8, point: [UInt8](repeating: 0, count: 65)),
            .confirmation([UInt8](repeating: value, count: 32)),
            .close(CloseCode(rawValue: UInt16(value)), reason: ""),
            .answer(Answer(id: [UInt8](repeating: 7, count: 16), code: .codeRequired)),
            .invite(
                Invite(
                    id: [UInt8](repeating: value, count: 16), inviter: UID(high: 0, low: 3),
                    inviterName: "cid",
                    recipient: UID(high: 0, low: 2), timeout: 30)),
        ]
        return InvitationFixture.frame(frames[Int(input.byte()) % frames.count])
    }

    private mutating func deliver(_ isToInviter: Bool) {
        if isToInviter, !toInviter.isEmpty {
            let (header, payload) = CodeExchangeStage.parts(toInviter.removeFirst())
            inviter.receive(dialled, header, payload.span, at: now)
        } else if !isToInviter, !toInvitee.isEmpty {
            let (header, payload) = CodeExchangeStage.parts(toInvitee.removeFirst())
            invitee.receive(accepted, header, payload.span, at: now)
        }
    }

    private static func parts(_ frame: [UInt8]) -> (FrameHeader, [UInt8]) {
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        return (header, Array(frame.dropFirst(FrameHeader.byteCount)))
    }

    private mutating func lose(_ ofInviter: Bool) {
        isTouched = true
        if ofInviter { inviter.lost(dialled, .lost, at: now) } else { invitee.lost(accepted, .lost, at: now) }
    }

    private mutating func pass(_ duration: Duration) {
        isTouched = true
        now = now + duration
        inviter.advance(to: now)
        invitee.advance(to: now)
    }

    // MARK: what follows

    private mutating func judge() throws(BrokenPromise) {
        for action in inviter.takeActions() {
            switch action {
            case .send(dialled, let frame):
                toInvitee.append(frame)
                guard frame[3] == FrameKind.invite.rawValue else { continue }
                hasInvited = true
                try promise(isHonest, "INVITE was sent to a peer without the code")
            case .tell(.end(.failure(let fault))): outcome = fault
            case .tell(.end(.success)):
                throw BrokenPromise(description: "an invitation that was never answered succeeds")
            case .send, .close, .dial, .tell: break
            }
        }
        for action in invitee.takeActions() {
            switch action {
            case .send(accepted, let frame): toInviter.append(frame)
            case .tell(.ask(let asked)):
                isAsked = true
                try promise(
                    isHonest && asked.isVerified, "the application is asked by a peer without the code")
            case .tell(.code(.guessedWrong(_, let isLast))):
                guesses += 1
                try promise(isLast != isRepeated, "a one-time code ends with a guess, another does not")
                try promise(!isHonest || isTouched, "an honest exchange counts as a guess")
            case .send, .close, .dial, .tell: break
            }
        }
        try promise(guesses <= 1, "one connection is more than one guess")
    }
}

extension [[UInt8]] {
    /// Changes one bit of the payload of the first frame.
    fileprivate mutating func change(_ place: Int) {
        guard !isEmpty, self[0].count > FrameHeader.byteCount else { return }
        let index = FrameHeader.byteCount + place % (self[0].count - FrameHeader.byteCount)
        self[0][index] ^= 1 << UInt8(place & 7)
    }
}
