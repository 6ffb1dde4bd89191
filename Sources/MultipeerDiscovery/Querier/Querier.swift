package import MultipeerCore

/// Discovers other peers, and their addresses, by multicast DNS. RFC 6762, 5 to 7 and 10; Spec 12.6.
///
/// ```
///   browse ──query from an ephemeral port, at once──▶
///          ──query from port 5353, after 20–120 ms, then 1, 2, 4 … 3,600 s later──▶
///   PTR ──SRV and TXT are known──▶ found ──TXT changed──▶ updated
///     found ──SRV expired, goodbye, no response──▶ lost
/// ```
///
/// All browses and resolutions of one service type share its records. Pure, like `MulticastDNS`, which owns it.
package struct Querier: Sendable {
    package enum Action: Equatable, Sendable {
        case send(OutgoingMessage)
        /// A peer's current data; nil when it is lost. May be repeated unchanged.
        case browse(BrowseID, UID, PresentPeer?)
        /// A missed peer has answered. Comes after its current data.
        case returned(BrowseID, UID)
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

    /// The number of cached records, on all scopes together. [mdns.limit]
    package var recordCount: Int { caches.values.reduce(0) { $0 + $1.count } }
    /// Their approximate size in bytes.
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

    /// Handles the loss of an interface: peers found only there are lost. [mdns.scope]
    package mutating func scopeGone(_ id: UInt32, at now: Moment) {
        guard var cache = caches.removeValue(forKey: id) else { return }
        for service in services.keys.sorted() { cache.dropAll(of: service) }
        for (service, uids) in cache.takeChanged() { review(uids, of: service) }
        settle(at: now)
    }

    /// Handles a sleep: every peer is queried, and those that do not respond are lost in ten seconds.
    package mutating func woke(at now: Moment) {  // [mdns.resume]
        for id in caches.keys.sorted() {
            let start = now + QuerySchedule.firstGap + jitter.hesitation()
            caches[id]?.reprieve(from: start, until: now + CachedRecord.reconfirmTimeout)
            for service in services.keys.sorted() { ask(for: service, on: id, at: now) }
        }
        settle(at: now)
    }

    /// Returns the interval from the last question for the instances to the next one.
    func askingGap(for service: DNSName, on scope: UInt32) -> Duration {
        caches[scope]?.tables[service]?.asking.gap ?? .zero
    }

    /// Starts the query for the instances: at once from a separate port, and soon after from 5353. [mdns.query]
    mutating func ask(for service: DNSName, on scope: UInt32, at now: Moment) {
        caches[scope]?.ask(for: service, from: now, at: now + jitter.hesitation())
        askAtOnce([DNSQuestion(service, .ptr)], on: scope, at: now)
    }

    /// Sends a one-shot question: the response comes by unicast, and is not held back because of a recent multicast.
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
        // Another reference to a cache would make every change of it copy the whole.
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
        noteReturns(message.answers + message.additionals)
        settle(at: now)
    }

    /// Handles questions of other hosts, and our own that are looped back. Those of conventional resolvers, or with a
    /// unicast response requested, are ignored; so are those with more known answers to come, since it is unknown what
    /// they still ask. RFC 6762, 7.3 and 10.5.
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
        forgetMissed(at: now)
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

    /// Sends the questions that are due. The question for the instances has a separate message, for its known answers;
    /// the others share one.
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
