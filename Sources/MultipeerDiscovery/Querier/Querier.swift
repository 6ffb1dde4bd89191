package import MultipeerCore

/// What is learnt of others by multicast DNS: who is there, and where. RFC 6762, 5 to 7 and 10; Spec 12.6.
///
/// ```
///   browse ──question from a port of its own, at once──▶
///          ──question of port 5353, after 20–120 ms, then 1, 2, 4 … 3,600 s later──▶
///   PTR ──SRV and TXT are known──▶ found ──TXT says something else──▶ updated
///     found ──SRV over, goodbye, silence──▶ lost
/// ```
///
/// Everything that looks for one service type shares what is known of it. Pure, as `MulticastDNS` that owns it.
package struct Querier: Sendable {
    package enum Action: Equatable, Sendable {
        case send(OutgoingMessage)
        /// What a peer says now; nil when it is gone. The same may come twice.
        case browse(BrowseID, UID, DiscoveredPeer?)
        case resolved(ResolveID, Resolution)
    }

    var caches: [UInt32: Cache] = [:]
    var services: [DNSName: ServiceSubscription] = [:]
    var resolves: [ResolveID: PendingResolution] = [:]
    var jitter: Jitter
    private var order: UInt64 = 0
    private var actions: [Action] = []

    package init(seed: UInt64) { jitter = Jitter(seed: seed) }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    mutating func emit(_ action: Action) { actions.append(action) }

    /// Records that are kept, on all scopes together. [mdns.limit]
    package var recordCount: Int { caches.values.reduce(0) { $0 + $1.count } }
    /// About how many bytes they take.
    package var byteCount: Int { caches.values.reduce(0) { $0 + $1.byteCount } }
}

/// Interfaces.
extension Querier {
    package mutating func scopeChanged(_ scope: Scope, at now: Moment) {
        if caches[scope.id] == nil {
            caches[scope.id] = Cache(scope)
        } else {
            caches[scope.id]?.scope = scope
        }
        for service in services.keys.sorted() { ask(for: service, on: scope.id, at: now) }
        settle(at: now)
    }

    /// Whoever was seen there alone is lost. [mdns.scope]
    package mutating func scopeGone(_ id: UInt32, at now: Moment) {
        guard var cache = caches.removeValue(forKey: id) else { return }
        for service in services.keys.sorted() { cache.dropAll(of: service) }
        for (service, uids) in cache.takeChanged() { review(uids, of: service) }
        settle(at: now)
    }

    /// Nobody knows who is still there: all are asked, and those that do not answer are gone in ten seconds.
    package mutating func woke(at now: Moment) {  // [mdns.wake]
        for id in caches.keys.sorted() {
            let start = now + QuerySchedule.firstGap + jitter.hesitation()
            caches[id]?.reprieve(from: start, until: now + CachedRecord.reconfirmTimeout)
            for service in services.keys.sorted() { ask(for: service, on: id, at: now) }
        }
        settle(at: now)
    }

    /// The time from the last question of who is there to the next one.
    func askingGap(for service: DNSName, on scope: UInt32) -> Duration {
        caches[scope]?.tables[service]?.asking.gap ?? .zero
    }

    /// Begins to ask who is there: at once from a port of its own, and soon from 5353. [mdns.query]
    mutating func ask(for service: DNSName, on scope: UInt32, at now: Moment) {
        caches[scope]?.ask(for: service, at: now + jitter.hesitation())
        askAtOnce([DNSQuestion(service, .ptr)], on: scope, at: now)
    }

    /// One-shot: the answer comes back to us alone, and is not held back by what was said a moment ago.
    mutating func askAtOnce(_ questions: [DNSQuestion], on scope: UInt32, at now: Moment) {
        guard let families = caches[scope]?.scope.families else { return }
        guard let message = caches[scope]?.oneShot(questions, at: now, jitter: &jitter) else { return }
        for family in families.sorted() {
            emit(.send(OutgoingMessage(message, scope: scope, family: family, way: .ask)))
        }
    }
}

/// Messages.
extension Querier {
    package mutating func receive(_ message: DNSMessage, _ arrival: PacketInfo, at now: Moment) {
        guard message.opcode == 0, message.responseCode == 0 else { return }
        guard message.isResponse else { return suppressDuplicates(message, arrival, at: now) }
        // Whoever holds a copy of a cache makes every change of it copy the whole.
        guard !arrival.isOneShot || caches[arrival.scope]?.isExpected(message, at: now) == true else {
            return
        }
        order += 1
        let reception = RecordReception(
            now: now, order: order, source: arrival.from, family: arrival.family, isOneShot: arrival.isOneShot
        )
        let spare = Cache.mostBytes - byteCount
        caches[arrival.scope]?.learn(
            message.answers + message.additionals, reception, spareBytes: spare, jitter: &jitter)
        review(on: arrival.scope)
        settle(at: now)
    }

    /// Others' questions, and our own that come back. Those that conventional resolvers ask, or want answered by unicast,
    /// tell nothing, and of those with more known answers to come nobody knows what they ask. RFC 6762, 7.3 and 10.5.
    private mutating func suppressDuplicates(_ message: DNSMessage, _ arrival: PacketInfo, at now: Moment) {
        guard arrival.port == MulticastDNS.port, !arrival.isOneShot, !message.isTruncated else { return }
        for question in message.questions where !question.wantsUnicast {
            let known = message.answers.filter { $0.name == question.name }.compactMap(\.pointee)
            caches[arrival.scope]?.suppressDuplicates(
                question, knowing: Set(known), in: arrival.family, at: now, jitter: &jitter)
        }
    }
}

/// Time.
extension Querier {
    package var deadline: Moment? {
        var next = caches.values.reduce(Moment.distantFuture) { min($0, $1.deadline) }
        next = resolves.values.reduce(next) { min($0, $1.deadline) }
        return next == .distantFuture ? nil : next
    }

    package mutating func advance(to now: Moment) {
        guard let deadline, deadline <= now else { return }
        for id in caches.keys.sorted() {
            caches[id]?.expire(at: now, jitter: &jitter)
            review(on: id)
        }
        for id in caches.keys.sorted() {
            let due = caches[id]?.takeQuestions(at: now, jitter: &jitter) ?? []
            ask(due, on: id, at: now)
        }
        settle(at: now)
    }

    /// The question who is there has a message of its own, for its known answers; the others share.
    private mutating func ask(_ due: [DueQuestion], on scope: UInt32, at now: Moment) {
        for question in due { caches[scope]?.asked(question, at: now) }
        for family in (caches[scope]?.scope.families ?? []).sorted() {
            let heard = due.filter { $0.families.contains(family) }
            for question in heard where question.question.type == .ptr {
                send([question.question], question.knownAnswers, on: scope, family)
            }
            var others = heard.map(\.question).filter { $0.type != .ptr }[...]
            while !others.isEmpty {
                send(Array(others.prefix(Querier.mostQuestions)), [], on: scope, family)
                others = others.dropFirst(Querier.mostQuestions)
            }
        }
    }

    private static let mostQuestions = 16

    private mutating func send(
        _ questions: [DNSQuestion], _ known: [DNSRecord], on scope: UInt32, _ family: Family
    ) {
        var message = DNSMessage()
        message.questions = questions
        message.answers = known
        emit(.send(OutgoingMessage(message, scope: scope, family: family)))
    }
}
