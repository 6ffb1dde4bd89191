import MultipeerSecurity

/// The verification code of one link. Spec 13.
final class PeerVerificationCode {
    private enum Step { case before, committed, answered, done }

    private unowned let link: PeerLink
    private var step = Step.before
    private var hasAsked = false
    private var wasRequested = false
    private var mine: [UInt8] = []
    private var commitment: [UInt8]?
    private var code: String?
    private var results: Set<UInt64> = []
    private var hasConfirmed = false
    private var hasDeclined = false
    private var wasVerified = false
    private static let prefix = Array("MPC/1 sas".utf8)

    /// When the application has asked; nil when it has its answer.
    private var asked: Instant?

    init(_ link: PeerLink) { self.link = link }

    private var bug: Bug? { link.bug }

    /// Starts a run, or goes on with the peer's, when the application asks for the code.
    func ask() {
        if bug == .sasRunsAgain, code != nil {
            (step, hasAsked, code) = (.before, false, nil)
            if link.isControlling { commitment = nil }
        }
        if let code { return tell(code) }
        guard link.connection.tls != nil else { return fail("POLICY") }
        guard !hasAsked else { return }
        hasAsked = true
        asked = .now
        proceed()
    }

    private func nonce() -> [UInt8] {
        bug == .sasSameNonce ? .pattern(32) : link.session.peer.randomBytes(32)
    }

    /// Reports once that no code has come for 60 s. Spec 13.4.
    func tick(_ now: Instant) {
        guard let start = asked, code == nil, now - start >= .seconds(60), bug != .sasWaitsForever else {
            return
        }
        asked = nil
        fail("TIMEOUT")
    }

    private func proceed() {
        if link.isControlling {
            guard step == .before else { return }
            mine = nonce()
            step = .committed
            link.send(Frame(.codeCommit, SHA256.hash(PeerVerificationCode.prefix + mine)))
        } else if commitment != nil {
            answer()
        } else {
            if bug != .sasNeverRequests { link.send(Frame(.codeRequest)) }
        }
    }

    private func answer() {
        guard step == .before else { return }
        mine = nonce()
        step = .answered
        link.send(Frame(.codeNonce, mine))
    }

    func take(_ frame: Frame) throws(ProtocolError) {
        try demand(link.connection.tls != nil || bug == .sasOnPlainLinks, "a code on a plain link")
        if bug == .sasAnyOrder, !isInOrder(frame.kind) { return }
        switch frame.kind {
        case .codeRequest:
            try demand(link.isControlling, "SAS_REQUEST from the controlling end")
            askApplication()
            if bug == .sasUnasked { hasAsked = true }
            if step == .before, hasAsked { proceed() }
        case .codeCommit:
            if bug == .sasRunsAgain, step == .done { step = .before }
            try demand(
                !link.isControlling && (commitment == nil || step == .before), "SAS_COMMIT out of order")
            commitment = frame.payload
            askApplication()
            if hasAsked || bug == .sasUnasked { answer() }
        case .codeResult: try takeResult(frame.payload.number)
        case .codeNonce:
            try demand(link.isControlling && step == .committed, "SAS_NONCE out of order")
            link.send(Frame(.codeReveal, mine))
            finish(controlling: mine, controlled: frame.payload)
        default:
            try demand(!link.isControlling && step == .answered, "SAS_REVEAL out of order")
            let isRight = constantTimeEqual(
                SHA256.hash(PeerVerificationCode.prefix + frame.payload), commitment ?? [])
            try demand(
                isRight || bug == .sasIgnoresCommitment, .badMAC, "the commitment was to another nonce")
            finish(controlling: frame.payload, controlled: mine)
        }
    }

    /// OK once there is a code, DECLINED while the application waits for one, each once. Spec 13.4.
    private func takeResult(_ number: UInt64) throws(ProtocolError) {
        let isNew = results.insert(number).inserted || bug == .sasConfirmedTwice
        switch CloseCode(rawValue: UInt16(truncatingIfNeeded: number)) {
        case .ok:
            try demand(code != nil && isNew, "SAS_RESULT out of order")
            if bug == .sasEchoesResult { confirm() }
            noteConfirmation()
        case .declined:
            try demand(hasAsked && code == nil && step != .answered && isNew, "SAS_RESULT out of order")
            if bug != .sasIgnoresDeclined { fail("DECLINED") }
        default: throw .broken("SAS_RESULT has another code")
        }
    }

    /// Notifies the application once that the peer's user wants to compare.
    private func askApplication() {
        guard !hasAsked, !wasRequested else { return }
        wasRequested = true
        link.session.application.tell("code-requested", ["peer": .string(link.uid.hex)])
    }

    /// Carries out what the user says of the code. Spec 13.4.
    func compared(_ result: CloseCode) throws(ProtocolError) {
        switch result {
        case .ok:
            try demand(code != nil, .internal, "there is no code")
            confirm()
        case .wrongCode:
            link.end("closed", .wrongCode, saying: bug == .sasDifferentGoodbye ? .goodbye : .wrongCode)
        default:
            guard wasRequested, !hasDeclined || bug == .sasDeclinesTwice else { return }
            hasDeclined = true
            if bug == .sasDeclinesByClosing { return link.end("closed", .declined, saying: .declined) }
            if bug != .sasDeclinesSilently { link.send(.result(.declined)) }
        }
    }

    private func confirm() {
        guard !hasConfirmed || bug == .sasConfirmsTwice else { return }
        hasConfirmed = true
        link.send(.result(.ok))
        noteConfirmation()
    }

    private func noteConfirmation() {
        let isVerified =
            hasConfirmed && results.contains(UInt64(CloseCode.ok.rawValue)) || bug == .sasConfirmsAlone
        guard isVerified, !wasVerified else { return }
        wasVerified = true
        link.session.application.tell("verified", ["peer": .string(link.uid.hex)])
    }

    /// Returns whether the frame is the next of the run.
    private func isInOrder(_ kind: FrameKind) -> Bool {
        switch kind {
        case .codeRequest: link.isControlling
        case .codeCommit: !link.isControlling && commitment == nil
        case .codeNonce: link.isControlling && step == .committed
        case .codeResult: code != nil || hasAsked
        default: !link.isControlling && step == .answered
        }
    }

    private func finish(controlling: [UInt8], controlled: [UInt8]) {
        step = .done
        let nonces = bug == .sasSwapsNonces ? controlled + controlling : controlling + controlled
        let key = bug == .sasWithoutKey ? [0] : link.connection.tls?.exported("EXPORTER-mpc1-sas") ?? []
        let mac = HMAC.sha256(key: key, nonces)
        let text = [mac[0..<4], mac[4..<8]].map { half in
            let digits = String(half.map(\.self).number % 1_000_000)
            return String(repeating: "0", count: 6 - digits.count) + digits
        }.joined()
        code = text
        tell(text)
    }

    private func tell(_ code: String) {
        link.session.application.tell("code", ["peer": .string(link.uid.hex), "code": .string(code)])
    }

    private func fail(_ error: String) {
        link.session.application.tell("code", ["peer": .string(link.uid.hex), "error": .string(error)])
    }

    func ended() { if hasAsked, code == nil { fail("INTERNAL") } }
}
