import MultipeerCore

/// The timers and limits of chapter 11.
enum MembershipTiming {
    /// How long an entry is kept that no reachable member vouches for.
    static let unreachable = Duration.seconds(60)
    /// How long entries of an endpoint that left are ignored.
    static let departure = Duration.seconds(60)
    /// How long an endpoint that has shown that it exists counts as real.
    static let meeting = Duration.seconds(60)
    /// How long an endpoint that was met is dialled without the limit on introduced ones.
    static let everMet = Duration.seconds(86_400)
    static let firstPause = Duration.seconds(1)
    /// The maximum pause. Short, because two members link only while both try: after a fault the mesh is complete again
    /// within 15 s, except for members that never met: see `Mesh.pauseEnd`.
    static let longestPause = Duration.seconds(2)
    /// A link that ended earlier than this counts as a failed attempt.
    static let steady = Duration.seconds(30)
    /// The time after which an attempt uses newer data of its peer.
    static let freshData = Duration.seconds(5)
    /// The time limit of an attempt that continues because the peer was dialling when its link ended, unless the peer is
    /// a member.
    static let callback = Duration.seconds(4)
    /// How long a member is missed, and dialled, after its link was lost.
    static let missed = Duration.seconds(600)
    /// The pause after a missed member, or this one, had no room.
    static let crowdedPause = Duration.seconds(10)
    /// The number of attempts since the last link after which a missed member that answers, and does not know this one, is missed no
    /// longer.
    static let refusals = 3
    /// The maximum interval between checks while there are too many members.
    static let look = Duration.seconds(1)
    /// A gap of the clock that shows a suspension while there are too many members.
    static let gap = Duration.seconds(3)
    /// The time with too many members after which their pairs decide which leave.
    static let backstop = Duration.seconds(10)
    /// The time after which links to members that should have left are ended; those that leave by themselves have left
    /// by then.
    static let dismissal = Duration.seconds(12)
    /// How long entries about a dismissed member are not used, so that all others can dismiss it too.
    static let setAside = Duration.seconds(5)
}
