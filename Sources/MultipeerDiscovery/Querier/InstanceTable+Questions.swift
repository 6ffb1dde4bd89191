import MultipeerCore

/// A question that is due, with its known answers.
struct DueQuestion: Sendable {
    let question: DNSQuestion
    var families: Set<Family>
    var knownAnswers: [DNSRecord] = []
}

extension InstanceTable {
    /// The time at which `expire` or `takeQuestions` is due.
    var deadline: Moment { min(nextExpiry, questionDeadline) }

    private var questionDeadline: Moment { min(asking.due, nextPointer, max(nextQuestion, allowance.next)) }

    func isQuestionDue(at now: Moment) -> Bool { questionDeadline <= now }

    mutating func takeQuestions(
        of families: Set<Family>, at now: Moment, jitter: inout Jitter
    ) -> [DueQuestion] {
        var due: [DueQuestion] = []
        let open = takeOwnQuestion(of: families, at: now, jitter: &jitter)
        if !open.isEmpty {
            let question = DNSQuestion(name, .ptr)
            due.append(DueQuestion(question: question, families: open, knownAnswers: knownAnswers(at: now)))
        }
        guard nextQuestion <= now else { return due }
        for name in names(where: { $0.isQuestionDue(at: now) }) {
            guard allowance.take(at: now) else { break }
            let wanted = change(name) { $0.takeQuestions(of: families, at: now, jitter: &jitter) } ?? [:]
            for (type, families) in wanted.sorted(by: { $0.key < $1.key }) {
                due.append(DueQuestion(question: DNSQuestion(name, type), families: families))
            }
        }
        nextQuestion = serviceInstances.values.lazy.compactMap(\.questionDeadline).min() ?? .distantFuture
        return due
    }

    /// Returns the families in which the question for the instances is due.
    private mutating func takeOwnQuestion(
        of families: Set<Family>, at now: Moment, jitter: inout Jitter
    ) -> Set<Family> {
        var open: Set<Family> = []
        if asking.due <= now {
            open = families.subtracting(asking.covered)
            asking.asked(at: now)
            lastAsked = now
        }
        guard nextPointer <= now else { return open }
        for name in names(where: { $0.pointerRefresh.map { $0 <= now } ?? false }) {
            let wanted = change(name) { $0.takePointerRefresh(of: families, at: now, jitter: &jitter) }
            open.formUnion(wanted ?? [])
        }
        nextPointer = serviceInstances.values.lazy.compactMap(\.pointerRefresh).min() ?? .distantFuture
        return open
    }

    private func knownAnswers(at now: Moment) -> [DNSRecord] {
        names(where: { $0.isKnownAnswer(at: now) }).compactMap { instance in
            serviceInstances[instance]?.pointer.newest.map { pointer in
                DNSRecord(name, ttl: pointer.remaining(at: now), pointer.data)
            }
        }
    }

    /// Handles a question about one of the instances, sent on the scope by any host.
    mutating func expectAnswer(
        to question: DNSQuestion, unless known: Set<DNSName>, in family: Family, at now: Moment
    ) {
        guard question.type == .ptr else {
            _ = change(question.name) { $0.expectAnswer(question.type, in: family, at: now) }
            return
        }
        let last = expectations[family].flatMap { now - $0.start < .seconds(1) ? $0 : nil }
        var recent = last ?? Expectation(start: now, excused: Set(serviceInstances.keys))
        for instance in recent.excused where !known.contains(instance) {
            _ = change(instance) { $0.expectAnswer(.ptr, in: family, at: now) }
        }
        recent.excused.formIntersection(known)
        expectations[family] = recent
    }

    /// Handles another host's question; when its known answers contain nothing that we do not know, it counts
    /// as ours. RFC 6762, 7.3.
    mutating func heardQuestion(
        _ question: DNSQuestion, knowing known: Set<DNSName>, in family: Family, of families: Set<Family>,
        at now: Moment, jitter: inout Jitter
    ) {
        if question.type == .ptr {
            let isOurs = known.allSatisfy { serviceInstances[$0]?.isKnownAnswer(at: now) == true }
            if isOurs { asking.heard(in: family, of: families, at: now) }
        } else {
            _ = change(question.name) {
                $0.heardQuestion(question.type, in: family, of: families, at: now, jitter: &jitter)
            }
        }
    }

    mutating func doubt(_ uid: UID, from start: Moment, until: Moment) {
        for name in names(of: uid) {
            _ = change(name) { $0.doubt(from: start, until: until) }
        }
    }

    /// Limits the lifetime of all records after a sleep to the time that it takes to query again.
    mutating func reprieve(from start: Moment, until: Moment) {
        for name in serviceInstances.keys.sorted() {
            _ = change(name) { $0.reprieve(from: start, until: until) }
        }
    }
}
