import MultipeerFraming

/// How long the steps of an invitation may take. Spec 12 and 15.
package enum InvitationTiming {
    /// The timeouts that an inviter may request, in seconds.
    package static let timeouts: ClosedRange<UInt32> = 1...600  // [invite.timeout]
    /// From a connection's first byte to its INVITE.
    package static let greeting = HandshakeTiming.greeting  // [invite.deadline]
    /// From the ANSWER with OK to COMPLETE.
    package static let completion = Duration.seconds(5)  // [invite.deadline]
}

/// How many invitations and connections may wait. Spec 12 and 15.
package enum InvitationLimits {
    /// Invitations that wait for an answer or for its completion.
    package static let pending = 16  // [invite.pending]
    package static let pendingPerAddress = 4  // [invite.pending]
    /// Connections without an INVITE so far.
    package static let unauthenticated = 32  // [invite.pending]
    package static let unauthenticatedPerAddress = 4  // [invite.pending]
    static let candidates = Limits.candidates
    /// The number of connections that an inviter may lose after INVITE before it gives up.
    static let losses = 5
    /// The number of finished questions whose end is remembered, for answers that come too late.
    static let rememberedEnds = 256
}
