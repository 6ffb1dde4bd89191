import MultipeerCore

/// When to dial which address of one peer: 4 at a time, 250 ms apart, in rounds with exponential backoff. Spec 4.4 and
/// 6.1.
///
/// A failed dial starts the next one at once; a round in which every dial failed is repeated after 250 ms, 500 ms …
/// 4 s, each varied at random by up to 50 %, until the plan is withdrawn.
struct DialPlan: Hashable, Sendable {
    static let parallel = 4
    static let stagger = Duration.milliseconds(250)
    static let firstPause = Duration.milliseconds(250)
    static let longestPause = Duration.seconds(4)

    private let candidates: [Candidate]
    private var next = 0
    private var round = 0
    /// Each connection with the index of its address.
    private var outstanding: [ConnectionID: Int] = [:]
    /// Addresses to dial again in this round, and the number of such repetitions.
    private var again: [Int] = []
    private var repeats = 0
    private var latest = 0
    private var nextDialAt: Moment
    private(set) var isPaused = false

    init(_ candidates: [Candidate], from start: Moment) {
        self.candidates = candidates
        self.nextDialAt = start
    }

    /// The time of the next dial; nil while dialling is not allowed.
    var deadline: Moment? {
        guard !isPaused, hasMore, outstanding.count < DialPlan.parallel else { return nil }
        return nextDialAt
    }

    /// Returns the address to dial now, or nil. The caller passes the resulting connection to `began`.
    mutating func due(at now: Moment) -> Candidate? {
        guard let deadline, deadline <= now else { return nil }
        nextDialAt = now + DialPlan.stagger  // [dial.limit]
        if again.isEmpty {
            latest = next
            next += 1
        } else {
            latest = again.removeFirst()
        }
        return candidates[latest]
    }

    mutating func began(_ connection: ConnectionID) { outstanding[connection] = latest }

    /// Handles an address from `due` that is not dialled. `jitter` is drawn from 0.5...1.5.
    mutating func skipped(at now: Moment, jitter: Double) {
        if hasMore { nextDialAt = now } else if outstanding.isEmpty { beginRound(at: now, jitter: jitter) }
    }

    /// Handles a peer that was reached and did not know the data that we named. Call it before `ended`: the address is
    /// dialled again in this round, at most `limit` times in total. [link.unknown-data]
    mutating func repeats(_ connection: ConnectionID, limit: Int) {
        guard let place = outstanding[connection], repeats < limit else { return }
        repeats += 1
        again.append(place)
    }

    /// Handles a dialled connection that failed. `jitter` is drawn from 0.5...1.5.
    mutating func ended(_ connection: ConnectionID, at now: Moment, jitter: Double) {
        guard outstanding.removeValue(forKey: connection) != nil else { return }
        if hasMore {
            nextDialAt = min(nextDialAt, now)
        } else if outstanding.isEmpty {
            beginRound(at: now, jitter: jitter)
        }
    }

    private mutating func beginRound(at now: Moment, jitter: Double) {
        repeats = 0
        next = 0
        nextDialAt = now + pause * jitter  // [link.retry]
        round += 1
    }

    /// Restarts the plan after a pause, as if nothing had been dialled.
    mutating func restart(at now: Moment, jitter: Double) {
        outstanding = [:]
        again = []
        repeats = 0
        isPaused = false
        next = 0
        nextDialAt = now + pause * jitter
    }

    /// Repeats the whole plan after a pause, as after a round that failed: a peer was reached and was busy.
    mutating func backOff(at now: Moment, jitter: Double) {
        restart(at: now, jitter: jitter)
        round += 1
    }

    /// Delays further dials until `moment`.
    mutating func postpone(until moment: Moment) { nextDialAt = max(nextDialAt, moment) }

    /// Whether every address failed and the next round has not begun.
    var isBetweenRounds: Bool { next == 0 && outstanding.isEmpty }

    /// Pauses or resumes dialling: paused while a verified connection waits for its nomination.
    mutating func pause(_ paused: Bool) { isPaused = paused }

    private var hasMore: Bool { !again.isEmpty || next < candidates.count }

    private var pause: Duration {
        let doubled = DialPlan.firstPause * (1 << min(round, 4))
        return min(doubled, DialPlan.longestPause)
    }
}
