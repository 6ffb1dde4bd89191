package import MultipeerCore

/// Watches a dialled connection until both ends have received a large packet: HELLO, with the frame that fills it up. Small packets
/// pass, because TCP is connected. Pure. [link.narrow]
package struct DialWatch: Equatable, Sendable {
    package enum Verdict: Equatable, Sendable {
        case wait
        /// What was sent has arrived, and nothing has to come back.
        case arrived
        /// Large packets do not arrive.
        case narrow
    }

    package private(set) var nextLook: Moment
    /// The time of the last progress.
    private var since: Moment
    private var acknowledged: UInt64 = 0
    private var received: UInt64 = 0

    package init(at now: Moment) {
        since = now
        nextLook = now + DialWatch.limit
    }

    /// The handshake of TLS is complete.
    package mutating func secured(at now: Moment) { self = DialWatch(at: now) }

    /// Takes a look. `awaitsReply`: the peer answers at once.
    package mutating func look(_ state: TransmissionState, awaitsReply: Bool, at now: Moment) -> Verdict {
        nextLook = now + DialWatch.interval
        if state.acknowledged != acknowledged || state.received != received {
            let isFirst = acknowledged == 0 && received == 0
            (acknowledged, received) = (state.acknowledged, state.received)
            since = isFirst ? max(since, now + (.zero - state.sinceAcknowledgement)) : now
        }
        if !state.isWaiting, !awaitsReply { return .arrived }
        let limit = max(state.isWaiting ? DialWatch.limit : DialWatch.replyLimit, state.roundTrip * 3)
        return now >= since + limit ? .narrow : .wait
    }

    static let limit = Duration.seconds(2)
    static let replyLimit = Duration.milliseconds(2_750)
    static let interval = Duration.milliseconds(250)
}
