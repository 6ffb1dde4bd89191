package import MultipeerCore

/// The code of an invitee, and what has happened to it. Spec 13.8.
///
/// ```
/// one-time   valid ──wrong guess──▶ over
///              └────COMPLETE──────▶ over
/// repeated   valid ──wrong guess──▶ paused ──min(2^n, 60) s──▶ valid
/// ```
package struct AdvertisedCode: Sendable {
    let proof: CodeProof
    let validity: InvitationCode.Validity
    private(set) var isOver = false
    /// The number of wrong guesses since the last right one.
    private var guesses = 0
    private var resumes: Moment?

    package init(_ proof: CodeProof, valid validity: InvitationCode.Validity) {
        self.proof = proof
        self.validity = validity
    }

    func isPaused(at now: Moment) -> Bool { resumes.map { now < $0 } ?? false }

    mutating func wasGuessedWrong(at now: Moment) {
        guesses += 1
        switch validity {
        case .once: isOver = true  // [code.once]
        case .repeated: resumes = now + InvitationTiming.pause(after: guesses)  // [code.repeated]
        }
    }

    mutating func wasProven() { guesses = 0 }

    mutating func end() { isOver = true }
}
