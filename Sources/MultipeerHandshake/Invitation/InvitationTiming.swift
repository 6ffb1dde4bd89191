import MultipeerFraming

/// How long the steps of an invitation may take. Spec 12 and 15.
package enum InvitationTiming {
    /// The timeouts that an inviter may request, in seconds.
    package static let timeouts: ClosedRange<UInt32> = 1...600  // [invite.timeout]
    /// For each step of a connection up to its INVITE.
    package static let greeting = HandshakeTiming.greeting  // [invite.deadline]
    /// How long a repeated code is paused after this many wrong guesses in a row.
    package static func pause(after guesses: Int) -> Duration {  // [code.repeated]
        .seconds(guesses < 6 ? 1 << guesses : 60)
    }
    /// From the ANSWER with OK to COMPLETE.
    package static let completion = Duration.seconds(5)  // [invite.deadline]
    /// How long a question keeps its place, if others wait for one and no address holds more places than they would.
    package static let undisturbed = Duration.seconds(10)  // [invite.pending]
    /// How long an address is quiet after its third refusal, doubled with each further one.
    package static let firstQuiet = Duration.seconds(60)  // [invite.quiet]
    package static let longestQuiet = Duration.seconds(600)  // [invite.quiet]
    /// How long a refusal counts.
    package static let refusalMemory = Duration.seconds(600)  // [invite.quiet]
}

/// How many invitations and connections may wait. Spec 12 and 15.
package enum InvitationLimits {
    /// Invitations that wait for an answer or for its completion.
    package static let pending = 16  // [invite.pending]
    package static let pendingPerAddress = 4  // [invite.pending]
    /// Invitations that claim the same uid, each from another address.
    package static let pendingPerPeer = 4  // [invite.pending]
    /// Refusals in a row after which an address is quiet.
    package static let refusals = 3  // [invite.quiet]
    static let refusedAddresses = 64
    static let candidates = Limits.candidates
    /// The number of connections that an inviter may lose after INVITE before it gives up.
    static let losses = 5
    /// The number of finished questions whose end is remembered, for answers that come too late.
    static let rememberedEnds = 256
}
