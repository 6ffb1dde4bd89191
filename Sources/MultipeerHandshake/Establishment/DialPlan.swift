import MultipeerCore

/// When to dial which address of one peer: 4 at a time, 250 ms apart, in rounds. Spec 4.4 and 6.1.
///
/// A failed dial starts the next one at once. A round in which every dial failed is repeated after 250 ms, 500 ms … 2 s, each
/// varied at random by up to 50 %, and any round 2 s after it began: a dial that a dead network has swallowed is silent for
/// longer and longer, so none is waited for.
struct DialPlan: Hashable, Sendable {
    static let parallel = 4
    static let stagger = Duration.milliseconds(250)
    static let firstPause = Duration.milliseconds(250)
    static let longestPause = Duration.seconds(2)
    /// The longest pause after a peer that was busy, before jitter.
    static let longestBusyPause = Duration.seconds(4)

    /// A dial that has not ended: the index of its address, and its round.
    private struct Dial: Hashable, Sendable {
        let place: Int
        let round: Int
        /// Whether TCP is established: then nothing was swallowed, and another dial would help no one.
        var isConnected = false
    }

    private let candidates: [Candidate]
    private var next = 0
    /// The number of the round, and when it began.
    private var round = 0
    private var began: Moment
    /// The number of pauses so far.
    private var pauses = 0
    private var outstanding: [ConnectionID: Dial] = [:]
    /// Addresses to dial again in this round, and the number of such repetitions.
    private var again: [Int] = []
    private var repeats = 0
    private var latest = 0
    private var nextDialAt: Moment
    private(set) var isPaused = false

    init(_ candidates: [Candidate], from start: Moment) {
        self.candidates = candidates
        nextDialAt = start
        began = start
    }

    /// The time of the next dial; nil while dialling is not allowed.
    var deadline: Moment? {
        guard !isPaused, !candidates.isEmpty, outstanding.count < DialPlan.parallel else { return nil }
        if hasMore { return nextDialAt }
        if outstanding.values.contains(where: \.isConnected) { return nil }
        return max(nextDialAt, began + DialPlan.longestPause)  // [link.again]
    }

    /// Returns the address to dial now, or nil. The caller passes the resulting connection to `began`.
    mutating func due(at now: Moment) -> Candidate? {
        guard let deadline, deadline <= now else { return nil }
        if !hasMore { beginRound() }
        if next == 0, again.isEmpty { began = now }
        nextDialAt = now + DialPlan.stagger  // [dial.limit]
        if again.isEmpty {
            latest = next
            next += 1
        } else {
            latest = again.removeFirst()
        }
        return candidates[latest]
    }

    mutating func began(_ connection: ConnectionID) {
        outstanding[connection] = Dial(place: latest, round: round)
    }

    /// Handles a dial whose TCP is established.
    mutating func connected(_ connection: ConnectionID) { outstanding[connection]?.isConnected = true }

    /// Handles an address from `due` that is not dialled. `jitter` is drawn from 0.5...1.5.
    mutating func skipped(at now: Moment, jitter: Double) {
        if hasMore { nextDialAt = now } else if outstanding.isEmpty { rest(at: now, jitter: jitter) }
    }

    /// Handles a peer that was reached and did not know the data that we named. Call it before `ended`: the address is
    /// dialled again in this round, at most `limit` times in total. [link.unknown-data]
    mutating func repeats(_ connection: ConnectionID, limit: Int) {
        guard let dial = outstanding[connection], repeats < limit else { return }
        repeats += 1
        again.append(dial.place)
    }

    /// Handles a dialled connection that failed; returns whether with it every address of its round has failed. `jitter` is drawn
    /// from 0.5...1.5.
    @discardableResult
    mutating func ended(_ connection: ConnectionID, at now: Moment, jitter: Double) -> Bool {
        guard let dial = outstanding.removeValue(forKey: connection) else { return false }
        let isOver = dial.round < round || !hasMore
        if hasMore {
            nextDialAt = min(nextDialAt, now)
        } else if outstanding.isEmpty {
            rest(at: now, jitter: jitter)
        }
        return isOver && !outstanding.values.contains { $0.round <= dial.round }
    }

    /// Pauses before the next round: every address has failed.
    private mutating func rest(at now: Moment, jitter: Double) {
        beginRound()
        nextDialAt = now + pause(jitter)  // [link.retry]
        pauses += 1
    }

    private mutating func beginRound() {
        repeats = 0
        next = 0
        round += 1
    }

    /// Restarts the plan after a pause, as if nothing had been dialled.
    mutating func restart(at now: Moment, jitter: Double) {
        forget()
        nextDialAt = now + pause(jitter)
    }

    /// Repeats the whole plan after a pause: a peer was reached and was busy. [invite.busy]
    mutating func backOff(at now: Moment, jitter: Double) {
        forget()
        nextDialAt = now + min(doubledPause, DialPlan.longestBusyPause) * jitter
        pauses += 1
    }

    private mutating func forget() {
        outstanding = [:]
        again = []
        isPaused = false
        beginRound()
    }

    /// Delays further dials until `moment`.
    mutating func postpone(until moment: Moment) { nextDialAt = max(nextDialAt, moment) }

    /// Pauses or resumes dialling: paused while a verified connection waits for its nomination.
    mutating func pause(_ paused: Bool) { isPaused = paused }

    private var hasMore: Bool { !again.isEmpty || next < candidates.count }

    private func pause(_ jitter: Double) -> Duration { min(doubledPause * jitter, DialPlan.longestPause) }

    private var doubledPause: Duration { DialPlan.firstPause * (1 << min(pauses, 4)) }
}
