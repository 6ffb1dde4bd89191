import MultipeerCore

/// What was sent on one interface in one family, and what is about to be: responses that wait, so that they are
/// combined and not sent too often. RFC 6762, 6 and 7.
struct ResponseScheduler: Sendable {
    /// The time at which each entry was last multicast.
    private var said: [LocalRecordSet: Moment] = [:]
    private var waiting: [LocalRecordSet: PendingResponse] = [:]
    private var held: [DeferredResponse] = []
    private var replies: [UnicastReply] = []
    private var rateLimiter = UnicastRateLimiter()

    /// A multicast response.
    private struct PendingResponse {
        var due: Moment
        /// The minimum time since the entry was last sent.
        var gap: Duration
    }

    /// Answers to a requester that has more known answers to send. RFC 6762, 7.2.
    private struct DeferredResponse {
        let requester: Requester
        var entries: Set<LocalRecordSet>
        var due: Moment
        let latest: Moment
    }

    /// A unicast response to one requester.
    struct UnicastReply: Sendable {
        let requester: Requester
        let id: UInt16
        /// The questions of a conventional resolver, to be repeated to it; nil for a requester on port 5353.
        let legacy: [DNSQuestion]?
        var entries: Set<LocalRecordSet>
        var due: Moment
    }

    struct Requester: Hashable, Sendable {
        let address: [UInt8]
        let port: UInt16
    }

    var count: Int { said.count + waiting.count + held.count + replies.count }

    static let gap = Duration.seconds(1)
    static let defenceGap = Duration.milliseconds(250)
    /// Conventional resolvers ask one question at a time, and all of them are kept until they are repeated.
    static let mostLegacyQuestions = 8
    private static let mostHeld = 64  // [mdns.limit]
    private static let holdAtMost = Duration.seconds(1)
}

/// Multicast responses.
extension ResponseScheduler {
    /// Schedules the multicast of an entry, not sooner than `gap` after the last one.
    mutating func answer(
        _ entries: some Sequence<LocalRecordSet>, at due: Moment, gap: Duration = ResponseScheduler.gap
    ) {
        for entry in entries {
            let earlier = waiting[entry]
            waiting[entry] = PendingResponse(
                due: earlier.map { min($0.due, due) } ?? due, gap: earlier.map { min($0.gap, gap) } ?? gap)
        }
    }

    /// Drops a waiting answer that another host has just sent. RFC 6762, 7.4. [mdns.duplicate]
    mutating func heard(_ entry: LocalRecordSet) { waiting[entry] = nil }

    func wasSaid(_ entry: LocalRecordSet, within time: Duration, at now: Moment) -> Bool {
        guard let moment = said[entry] else { return false }
        return now - moment < time
    }

    mutating func say(_ entries: some Sequence<LocalRecordSet>, at now: Moment) {
        for entry in entries {
            said[entry] = now
            waiting[entry] = nil
        }
    }

    /// Returns the entries to send now: all that are allowed if any is due. RFC 6762, 6.4. [mdns.answer]
    mutating func takeAnswers(at now: Moment) -> [LocalRecordSet] {
        guard waiting.contains(where: { moment($0.key, $0.value) <= now }) else { return [] }
        let entries = waiting.filter { !wasSaid($0.key, within: $0.value.gap, at: now) }.keys.sorted()
        for entry in entries { waiting[entry] = nil }
        return entries
    }

    func nextTime(for entry: LocalRecordSet) -> Moment? { said[entry].map { $0 + ResponseScheduler.gap } }

    /// Handles a change of the host's name or addresses: the new ones have not been sent yet.
    mutating func forgetHost() {
        for family in Family.allCases { said[.addresses(family)] = nil }
        said[.families] = nil
    }

    /// Drops everything that belongs to the advert.
    mutating func drop(_ id: AdvertID) {
        said = said.filter { $0.key.advert != id }
        waiting = waiting.filter { $0.key.advert != id }
    }

    private func moment(_ entry: LocalRecordSet, _ waiting: PendingResponse) -> Moment {
        max(waiting.due, said[entry].map { $0 + waiting.gap } ?? waiting.due)
    }
}

/// Responses to one requester, and to one that has not finished.
extension ResponseScheduler {
    /// Queues a unicast response; returns false when there were too many recently. [mdns.limit]
    mutating func write(_ reply: UnicastReply, at now: Moment) -> Bool {
        let same = replies.firstIndex {
            $0.requester == reply.requester && $0.id == reply.id && $0.legacy == reply.legacy
        }
        if let same {
            replies[same].entries.formUnion(reply.entries)
            return true
        }
        guard rateLimiter.take(at: now) else { return false }
        replies.append(reply)
        return true
    }

    mutating func takeReplies(at now: Moment) -> [UnicastReply] {
        guard replies.contains(where: { $0.due <= now }) else { return [] }
        defer { replies.removeAll { $0.due <= now } }
        return replies.filter { $0.due <= now }
    }

    /// Holds answers until the requester's further known answers have arrived. [mdns.answer]
    mutating func hold(
        _ entries: Set<LocalRecordSet>, for requester: Requester, until due: Moment, at now: Moment
    ) {
        guard held.count < ResponseScheduler.mostHeld else { return answer(entries, at: due) }
        held.append(
            DeferredResponse(
                requester: requester, entries: entries, due: due, latest: now + ResponseScheduler.holdAtMost))
    }

    func isHolding(for requester: Requester) -> Bool { held.contains { $0.requester == requester } }

    /// Returns the answers held for the requester's latest question. Several engines of one machine look like one requester
    /// (RFC 6762, 15.2): known answers follow their question at once, so they most likely belong to the latest.
    func held(for requester: Requester) -> Set<LocalRecordSet> {
        held.last { $0.requester == requester }?.entries ?? []
    }

    /// Continues to hold answers for the requester, without its further known answers.
    mutating func goOnHolding(
        for requester: Requester, until due: Moment?, without known: Set<LocalRecordSet>
    ) {
        guard let last = held.lastIndex(where: { $0.requester == requester }) else { return }
        held[last].entries.subtract(known)
        if let due { held[last].due = min(due, held[last].latest) }
        if held[last].entries.isEmpty { held.remove(at: last) }
    }

    /// Turns answers that were held long enough into multicast responses.
    mutating func releaseHeld(at now: Moment) {
        for done in held where done.due <= now { answer(done.entries, at: now) }
        held.removeAll { $0.due <= now }
    }

    var deadline: Moment? {
        var soonest = Moment.distantFuture
        for (entry, waiting) in waiting { soonest = min(soonest, moment(entry, waiting)) }
        for held in held { soonest = min(soonest, held.due) }
        for reply in replies { soonest = min(soonest, reply.due) }
        return soonest == .distantFuture ? nil : soonest
    }

    /// Discards waiting responses after a sleep.
    mutating func discardPending() {
        waiting = [:]
        held = []
        replies = []
    }
}
