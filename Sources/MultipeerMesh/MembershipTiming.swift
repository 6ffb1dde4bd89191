import MultipeerCore

/// The timers and limits of chapter 11.
enum MembershipTiming {
    /// For so long an entry is kept that nobody reachable stands for.
    static let unreachable = Duration.seconds(60)
    /// For so long entries of an endpoint that left are ignored.
    static let departure = Duration.seconds(60)
    /// For so long an endpoint that showed itself counts as real.
    static let meeting = Duration.seconds(60)
    static let firstPause = Duration.seconds(1)
    /// Short, because two members link only while both try: after a fault all is well within 15 s.
    static let longestPause = Duration.seconds(2)
    /// A link that ended sooner counts as an attempt that failed.
    static let steady = Duration.seconds(30)
    /// Newer data of a peer that is being sought are used after so long.
    static let freshData = Duration.seconds(5)
    /// A search that goes on because the peer was dialling when its link ended has so long, unless the peer is a member.
    static let callback = Duration.seconds(4)
    /// While there are too many members, it is looked at least so often whether there still are.
    static let look = Duration.seconds(1)
    /// No clock that is awake leaves out so much while there are too many members.
    static let gap = Duration.seconds(3)
    /// After so long with too many members, their pairs decide who goes.
    static let backstop = Duration.seconds(10)
    /// After so long, when whoever goes by itself has gone, links to whoever should have gone end.
    static let dismissal = Duration.seconds(12)
    /// For so long nothing that is said of somebody dismissed counts, so that all others can let go of it, too.
    static let parting = Duration.seconds(5)
}
