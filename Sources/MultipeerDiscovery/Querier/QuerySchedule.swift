import MultipeerCore

/// When a question is asked again: 1 s later, then 2 s, 4 s … an hour. RFC 6762, 5.2 and 7.3; Spec 12.6.
///
/// A question that another host asks in the second half of the interval counts as asked, in the family in which it was
/// received.
struct QuerySchedule: Equatable, Sendable {
    static let firstGap = Duration.seconds(1)
    static let longestGap = Duration.seconds(3_600)
    /// The longest gap while a peer is missed.
    static let missedGap = Duration.seconds(10)  // [mdns.missed]

    /// What the gap grows to.
    var mostGap = QuerySchedule.longestGap
    private(set) var due: Moment
    private(set) var gap = QuerySchedule.firstGap
    /// How often the question was asked.
    private(set) var count = 0
    /// The families in which another host asked it for us.
    private(set) var covered: Set<Family> = []
    private var opens: Moment

    init(due: Moment) {
        self.due = due
        opens = Moment(nanoseconds: .min)
    }

    mutating func asked(at now: Moment) {
        count += 1
        covered = []
        opens = now + gap / 2
        due = now + gap  // [mdns.query]
        gap = min(gap * 2, mostGap)
    }

    /// Handles the same question from another host, which all hosts of this family have received.
    mutating func heard(in family: Family, of families: Set<Family>, at now: Moment) {  // [mdns.duplicate]
        guard now >= opens else { return }
        covered.insert(family)
        if covered.isSuperset(of: families) { asked(at: now) }
    }
}

/// When a record in use is asked for again before it expires: at 80, 85, 90 and 95 % of its life, and up to 2 % later.
/// RFC 6762, 5.2.
struct RefreshSchedule: Equatable, Sendable {
    private static let steps = 4

    private let heard: Moment
    private let lifetime: Duration
    private var step = 0
    private(set) var due: Moment?
    private(set) var covered: Set<Family> = []

    init(heard: Moment, lifetime: Duration, jitter: inout Jitter) {
        self.heard = heard
        self.lifetime = lifetime
        plan(&jitter)
    }

    /// Handles a question that was sent: it covers all that were due by then.
    mutating func asked(at now: Moment, jitter: inout Jitter) {
        covered = []
        repeat {
            step += 1
            plan(&jitter)
        } while due.map { $0 <= now } ?? false
    }

    /// Handles another host's question for the record when ours was about to be due.
    mutating func heard(in family: Family, of families: Set<Family>, at now: Moment, jitter: inout Jitter) {
        guard let due, now + lifetime / 40 >= due else { return }
        covered.insert(family)
        if covered.isSuperset(of: families) { asked(at: now, jitter: &jitter) }
    }

    private mutating func plan(_ jitter: inout Jitter) {
        guard step < RefreshSchedule.steps else {
            due = nil
            return
        }
        let share = Int64.random(in: 0...2_000, using: &jitter)
        due = heard + lifetime * (80 + 5 * step) / 100 + lifetime * share / 100_000  // [mdns.refresh]
    }
}

/// How many questions about single instances may go out: 256 at once, 64 a second. A flood of names must not make us
/// flood the network.
struct QueryRateLimiter: Equatable, Sendable {
    private static let most: Int64 = 256
    private static let pause = Duration.milliseconds(1_000 / 64)
    /// When none are left, the next question waits until this many are available.
    private static let handful: Int64 = 16

    /// The time at which the allowance would be full again.
    private var wholeAt = Moment(nanoseconds: .min / 2)
    /// The time at which the next question may be sent.
    private(set) var next = Moment(nanoseconds: .min / 2)

    mutating func take(at now: Moment) -> Bool {  // [mdns.limit]
        guard next <= now else { return false }
        guard wholeAt - now <= QueryRateLimiter.pause * (QueryRateLimiter.most - 1) else {
            next = now + QueryRateLimiter.pause * QueryRateLimiter.handful
            return false
        }
        wholeAt = max(wholeAt, now) + QueryRateLimiter.pause
        return true
    }
}

extension Moment {
    static func - (moment: Moment, duration: Duration) -> Moment { moment + (.zero - duration) }
}

extension Jitter {
    /// Returns the random delay before an answer or a first question, so that not all hosts send at once. RFC 6762,
    /// 5.2.
    mutating func hesitation() -> Duration { .microseconds(Int64.random(in: 20_000...120_000, using: &self)) }
}
