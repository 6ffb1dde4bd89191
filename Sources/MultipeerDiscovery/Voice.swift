import MultipeerCore

/// What was said on one interface in one family, and what is about to be: answers that wait, so that they can travel
/// together and not too often. RFC 6762, 6 and 7.
struct Voice: Sendable {
    /// When an entry was last multicast.
    private var said: [Entry: Moment] = [:]
    private var waiting: [Entry: Waiting] = [:]
    private var held: [Held] = []
    private var letters: [Letter] = []
    private var bucket = Bucket()

    /// An answer to everybody.
    private struct Waiting {
        var due: Moment
        /// How long it must be since the entry was last said.
        var gap: Duration
    }

    /// Answers to an asker that has more known answers to send. RFC 6762, 7.2.
    private struct Held {
        let asker: Asker
        var entries: Set<Entry>
        var due: Moment
        let latest: Moment
    }

    /// An answer to one asker.
    struct Letter: Sendable {
        let asker: Asker
        let id: UInt16
        /// What a conventional resolver asked, to be repeated to it; nil for one that speaks from port 5353.
        let legacy: [DNSQuestion]?
        var entries: Set<Entry>
        var due: Moment
    }

    struct Asker: Hashable, Sendable {
        let address: [UInt8]
        let port: UInt16
    }

    var count: Int { said.count + waiting.count + held.count + letters.count }

    static let gap = Duration.seconds(1)
    static let defenceGap = Duration.milliseconds(250)
    /// Conventional resolvers ask one question at a time, and all of them are kept until they are repeated.
    static let mostLegacyQuestions = 8
    private static let mostHeld = 64  // [mdns.limit]
    private static let holdAtMost = Duration.seconds(1)
}

/// Answers to everybody.
extension Voice {
    /// The entry is multicast when it is due, yet not sooner than `gap` after the last time.
    mutating func answer(_ entries: some Sequence<Entry>, at due: Moment, gap: Duration = Voice.gap) {
        for entry in entries {
            let earlier = waiting[entry]
            waiting[entry] = Waiting(
                due: earlier.map { min($0.due, due) } ?? due, gap: earlier.map { min($0.gap, gap) } ?? gap)
        }
    }

    /// Somebody else said just that. RFC 6762, 7.4. [mdns.duplicate]
    mutating func heard(_ entry: Entry) { waiting[entry] = nil }

    func wasSaid(_ entry: Entry, within time: Duration, at now: Moment) -> Bool {
        guard let moment = said[entry] else { return false }
        return now - moment < time
    }

    mutating func say(_ entries: some Sequence<Entry>, at now: Moment) {
        for entry in entries {
            said[entry] = now
            waiting[entry] = nil
        }
    }

    /// What is said now, all that may be if anything is due. RFC 6762, 6.4. [mdns.answer]
    mutating func takeAnswers(at now: Moment) -> [Entry] {
        guard waiting.contains(where: { moment($0.key, $0.value) <= now }) else { return [] }
        let entries = waiting.filter { !wasSaid($0.key, within: $0.value.gap, at: now) }.keys.sorted()
        for entry in entries { waiting[entry] = nil }
        return entries
    }

    func nextTime(for entry: Entry) -> Moment? { said[entry].map { $0 + Voice.gap } }

    /// The host's name or addresses are others now: nothing was said of them yet.
    mutating func forgetHost() {
        for family in Family.allCases { said[.addresses(family)] = nil }
        said[.families] = nil
    }

    /// Nothing more of what belongs to the advert.
    mutating func drop(_ id: AdvertID) {
        said = said.filter { $0.key.advert != id }
        waiting = waiting.filter { $0.key.advert != id }
    }

    private func moment(_ entry: Entry, _ waiting: Waiting) -> Moment {
        max(waiting.due, said[entry].map { $0 + waiting.gap } ?? waiting.due)
    }
}

/// Answers to one asker, and to one that has not finished.
extension Voice {
    /// Answers false when too many were asked for lately. [mdns.limit]
    mutating func write(_ letter: Letter, at now: Moment) -> Bool {
        let same = letters.firstIndex {
            $0.asker == letter.asker && $0.id == letter.id && $0.legacy == letter.legacy
        }
        if let same {
            letters[same].entries.formUnion(letter.entries)
            return true
        }
        guard bucket.take(at: now) else { return false }
        letters.append(letter)
        return true
    }

    mutating func takeLetters(at now: Moment) -> [Letter] {
        guard letters.contains(where: { $0.due <= now }) else { return [] }
        defer { letters.removeAll { $0.due <= now } }
        return letters.filter { $0.due <= now }
    }

    /// Waits for the asker's further known answers. [mdns.answer]
    mutating func hold(_ entries: Set<Entry>, for asker: Asker, until due: Moment, at now: Moment) {
        guard held.count < Voice.mostHeld else { return answer(entries, at: due) }
        held.append(Held(asker: asker, entries: entries, due: due, latest: now + Voice.holdAtMost))
    }

    func isHolding(for asker: Asker) -> Bool { held.contains { $0.asker == asker } }

    /// What is held for the asker's latest question. Several engines of one machine look like one asker (RFC 6762, 15.2):
    /// known answers follow their question at once, so it is most likely the latest that they are of.
    func held(for asker: Asker) -> Set<Entry> { held.last { $0.asker == asker }?.entries ?? [] }

    /// Goes on waiting for the asker, with its further known answers taken into account.
    mutating func goOnHolding(for asker: Asker, until due: Moment?, without known: Set<Entry>) {
        guard let last = held.lastIndex(where: { $0.asker == asker }) else { return }
        held[last].entries.subtract(known)
        if let due { held[last].due = min(due, held[last].latest) }
        if held[last].entries.isEmpty { held.remove(at: last) }
    }

    /// Those that waited long enough become answers to everybody.
    mutating func releaseHeld(at now: Moment) {
        for done in held where done.due <= now { answer(done.entries, at: now) }
        held.removeAll { $0.due <= now }
    }

    var deadline: Moment? {
        var soonest = Moment.distantFuture
        for (entry, waiting) in waiting { soonest = min(soonest, moment(entry, waiting)) }
        for held in held { soonest = min(soonest, held.due) }
        for letter in letters { soonest = min(soonest, letter.due) }
        return soonest == .distantFuture ? nil : soonest
    }

    /// After a sleep nobody waits any more.
    mutating func silence() {
        waiting = [:]
        held = []
        letters = []
    }
}
