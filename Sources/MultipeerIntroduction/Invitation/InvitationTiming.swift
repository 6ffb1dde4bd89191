import MultipeerFraming

/// How long the steps of an invitation may take. Spec 12 and 15.
package enum InvitationTiming {
    /// What an inviter may ask for, in seconds.
    package static let timeouts: ClosedRange<UInt32> = 1...600  // [invite.timeout]
    /// From a connection's first byte to its INVITE.
    package static let greeting = HandshakeTiming.greeting  // [invite.deadline]
    /// From the ANSWER that says OK to COMPLETE.
    package static let completion = Duration.seconds(5)  // [invite.deadline]
}

/// How many may wait. Spec 12 and 15.
package enum InvitationLimits {
    /// Invitations that wait for an answer or for its completion.
    package static let pending = 16  // [invite.pending]
    package static let pendingPerAddress = 4  // [invite.pending]
    /// Connections that brought no INVITE yet.
    package static let unauthenticated = 32  // [invite.pending]
    package static let unauthenticatedPerAddress = 4  // [invite.pending]
    static let candidates = Limits.candidates
    /// Connections that an inviter loses after INVITE before it gives up.
    static let losses = 5
    /// Questions that are over and whose end is remembered, for answers that come too late.
    static let rememberedEnds = 256
}
