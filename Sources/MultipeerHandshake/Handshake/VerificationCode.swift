package import MultipeerFraming
package import MultipeerSecurity

/// Twelve digits, of which each user sees six and types the other six, and that a man-in-the-middle could only guess. Spec 13.
///
/// ```
/// controlling   idle ──────────ask──────────▶ committed ──NONCE──▶ agreed
///                └──REQUEST──▶ wanted ──ask──────▲
/// controlled    idle ──ask──▶ requested ──COMMIT──▶ answered ──REVEAL──▶ agreed
///                └──COMMIT──▶ offered ────ask──────────▲
/// ```
///
/// One run per link; a frame that no arrow of the diagram allows makes the run `failed`, and the link with it. An end
/// sends nothing before its own application asks: otherwise an attacker could obtain code after code, on link after
/// link, while no user is looking. Pure: the key, which only the two ends of the TLS connection have, and the random
/// nonce are passed in.
package struct VerificationCode: ~Copyable, Sendable {
    private var phase: Phase
    /// Whether the two users have confirmed the code.
    private var isConfirmedHere = false
    private var isConfirmedThere = false
    /// Whether this or the other application has declined to compare.
    private var hasDeclined = false
    private var isDeclined = false

    /// Creates a run. `nonce`: 32 random bytes that were never used.
    package init(as part: Selection.Part, key: SecureBytes, nonce: SecureBytes) {
        phase = .idle(part, Secrets(key: key, nonce: nonce))
    }

    /// How long an application waits for the code: enough time to ask the other user.
    package static let timeout = Duration.seconds(60)

    /// The twelve digits, once both ends have them.
    package var code: String? { if case .agreed(_, let code) = phase { code } else { nil } }

    /// Whether both users have confirmed the code.
    package var isConfirmed: Bool { code != nil && isConfirmedHere && isConfirmedThere }

    /// Starts the run at the application's request. Returns the frame to send; nil when the run has begun.
    package mutating func ask() -> Frame? { phase.ask() }

    /// Confirms the code for the local user. Returns the frame to send; nil when there is no code, or it was confirmed before.
    package mutating func confirm() -> Frame? {
        guard code != nil, !isConfirmedHere else { return nil }
        isConfirmedHere = true
        return .codeResult(.ok)  // [sas.result]
    }

    /// Declines to compare: the other application stops waiting, and the run can still go on when the local one asks later.
    /// Returns the frame to send; nil unless the other application has asked, and the local one has not.
    package mutating func decline() -> Frame? {
        guard phase.isWanted, !hasDeclined else { return nil }
        hasDeclined = true
        return .codeResult(.declined)
    }

    /// Handles a frame of the peer. After a violation there is no code.
    package mutating func receive(_ frame: Frame) throws(Violation) -> Answer {
        guard case .codeResult(let result) = frame else { return try phase.receive(frame) }
        switch result {
        case .ok where code != nil && !isConfirmedThere:
            isConfirmedThere = true
            return .confirmed
        case .declined where phase.isAwaited && !isDeclined:
            isDeclined = true
            return .declined
        default:  // [sas.order]
            phase = .failed
            throw .outOfOrder
        }
    }

    /// The response to a frame of the peer.
    package enum Answer: Equatable, Sendable {
        case nothing
        case say(Frame)
        /// The other side requests the code, and the local application has not: it is notified, once per link.
        case tellApplication
        /// The other user has confirmed the code.
        case confirmed
        /// The other application does not compare codes now.
        case declined
    }

    /// A violation by the peer, which ends the link.
    package enum Violation: Error, Equatable, Sendable {
        /// A frame that is not expected now, or only from the other end.
        case outOfOrder
        /// The revealed nonce does not match the commitment.
        case wrongReveal
        /// A frame on a plain link, where a code could protect nothing. [sas.plain]
        case plainLink

        /// The code that is sent to the peer.
        package var closeCode: CloseCode { self == .wrongReveal ? .badMAC : .protocolError }
    }
}

extension VerificationCode.Violation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .outOfOrder: "a frame of the verification code out of order"
        case .wrongReveal: "the nonce of the verification code is not the one committed to"
        case .plainLink: "a frame of the verification code on a plain link"
        }
    }
}

extension VerificationCode {
    fileprivate enum Phase: Equatable, Sendable {
        case idle(Selection.Part, Secrets)
        /// The peer requested a run, the local application has not yet.
        case wanted(Secrets)
        /// The peer began a run, the local application has not asked yet.
        case offered(Secrets, commitment: [UInt8])
        case requested(Secrets)
        case committed(Secrets)
        case answered(Secrets, commitment: [UInt8])
        case agreed(Selection.Part, String)
        case failed
    }

    /// The secrets of a run, erased when the phase that holds them ends.
    fileprivate struct Secrets: Equatable, Sendable {
        let key: SecureBytes
        let nonce: SecureBytes
    }
}

extension VerificationCode.Phase {
    /// Whether the peer's application has asked, and the local one has not.
    var isWanted: Bool {
        switch self {
        case .wanted, .offered: true
        case .idle, .requested, .committed, .answered, .agreed, .failed: false
        }
    }

    /// Whether the local application has asked, and waits for the peer's.
    var isAwaited: Bool {
        switch self {
        case .requested, .committed: true
        case .idle, .wanted, .offered, .answered, .agreed, .failed: false
        }
    }

    mutating func ask() -> Frame? {
        switch consume self {
        case .idle(.controlling, let secrets), .wanted(let secrets):
            self = .committed(secrets)
            return .codeCommit(VerificationCode.commitment(to: secrets.nonce))  // [sas.role]
        case .idle(.controlled, let secrets):
            self = .requested(secrets)
            return .codeRequest
        case .offered(let secrets, let commitment):
            self = .answered(secrets, commitment: commitment)
            return .codeNonce(secrets.nonce.bytes)
        case let unchanged:
            self = unchanged
            return nil
        }
    }

    mutating func receive(_ frame: Frame) throws(VerificationCode.Violation) -> VerificationCode.Answer {
        switch (consume self, frame) {
        case (.idle(.controlling, let secrets), .codeRequest):
            self = .wanted(secrets)
            return .tellApplication  // [sas.requested]
        case (.idle(.controlled, let secrets), .codeCommit(let commitment)):
            self = .offered(secrets, commitment: commitment)
            return .tellApplication
        case (.wanted(let secrets), .codeRequest):  // [sas.once]
            self = .wanted(secrets)
            return .nothing
        case (.committed(let secrets), .codeRequest):
            self = .committed(secrets)
            return .nothing
        case (.agreed(.controlling, let code), .codeRequest):
            self = .agreed(.controlling, code)
            return .nothing
        case (.requested(let secrets), .codeCommit(let commitment)):
            self = .answered(secrets, commitment: commitment)
            return .say(.codeNonce(secrets.nonce.bytes))
        case (.committed(let secrets), .codeNonce(let theirs)):
            let own = secrets.nonce.bytes
            self = .agreed(
                .controlling, VerificationCode.digits(key: secrets.key, controlling: own, controlled: theirs))
            return .say(.codeReveal(own))  // [sas.reveal]
        case (.answered(let secrets, let commitment), .codeReveal(let theirs)):
            self = .failed
            let revealed = SHA256.hash(VerificationCode.label + theirs)
            guard constantTimeEqual(revealed, commitment) else { throw .wrongReveal }  // [sas.commit]
            let own = secrets.nonce.bytes
            self = .agreed(
                .controlled, VerificationCode.digits(key: secrets.key, controlling: theirs, controlled: own))
            return .nothing
        default:
            self = .failed
            throw .outOfOrder  // [sas.order]
        }
    }
}

extension VerificationCode {
    private static let label = Array("MPC/1 sas".utf8)

    /// Returns `SHA-256("MPC/1 sas" ‖ nonce)`.
    package static func commitment(to nonce: SecureBytes) -> [UInt8] {
        var hasher = SHA256.Hasher()
        hasher.update(label)
        nonce.withBytes { hasher.update($0) }
        return hasher.finish()
    }

    /// Returns the digits that the controlling end shows, then those that the controlled end shows: of the first and the second
    /// four bytes of `HMAC(key, n_c ‖ n_r)`, modulo a million, always six each.
    package static func digits(key: SecureBytes, controlling: [UInt8], controlled: [UInt8]) -> String {
        var mac = HMAC.sha256(key: key, controlling + controlled)  // [sas.value]
        defer { mac.erase() }
        return sixDigits(mac.prefix(4)) + sixDigits(mac.dropFirst(4).prefix(4))
    }

    private static func sixDigits(_ bytes: ArraySlice<UInt8>) -> String {
        let number = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } % 1_000_000
        let digits = String(number)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }
}
