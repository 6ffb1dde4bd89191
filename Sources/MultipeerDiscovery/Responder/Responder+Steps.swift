package import MultipeerCore

/// The timing of probing, announcing and withdrawing. RFC 6762, 8 and 10.1.
extension Responder {
    package mutating func advance(to now: Moment) {
        for index in goodbyes.indices { sayGoodbye(at: index, now) }
        goodbyes.removeAll { $0.next == nil }
        if let next = nextStep, next <= now {
            for scope in interfaces.keys.sorted() { step(on: scope, at: now) }
            nextStep = soonestStep
        }
        for scope in interfaces.keys.sorted() {
            for family in Family.allCases { answer(on: scope, family, at: now) }
        }
    }

    /// Starts again on that interface. A name that contains a random id needs no probing, unless there was a conflict.
    /// RFC 6762, 8.1. [mdns.probe]
    mutating func start(_ id: AdvertID, on scope: UInt32, at now: Moment) {
        let isTrusted = knownUnique && local[id]?.attempt == 0
        let steps = isTrusted ? Registration.Steps(next: now) : Registration.Steps(next: now + probeDelay())
        set(isTrusted ? .announcing(steps) : .probing(steps), of: id, on: scope)
    }

    mutating func set(_ phase: Registration.Phase, of id: AdvertID, on scope: UInt32) {
        local.set(phase, of: id, on: scope)
        guard let next = phase.next else { return }
        nextStep = min(nextStep ?? next, next)
    }

    mutating func tellIfRegistered(_ id: AdvertID) {
        if local.becomesRegistered(id) { actions.append(.registered(id)) }
    }

    mutating func probeDelay() -> Duration { .microseconds(Int64.random(in: 0...250_000, using: &dice)) }

    private var soonestStep: Moment? {
        let steps = local.registrations.values.flatMap { $0.phases.values.compactMap(\.next) }
        return (steps + interfaces.values.compactMap(\.announcing?.next)).min()
    }

    private mutating func step(on scope: UInt32, at now: Moment) {
        var due: [AdvertID] = []
        for id in local.ids {
            guard let phase = local[id]?.phases[scope], let next = phase.next, next <= now else { continue }
            if case .probing(let steps) = phase, steps.sent < Registration.Steps.probes {
                probe(id, on: scope, at: now)
            } else {
                due.append(id)
            }
            local.set(phase.stepped(at: now), of: id, on: scope)
        }
        var isHostDue = false
        if let steps = interfaces[scope]?.announcing, steps.next <= now {
            isHostDue = true
            interfaces[scope]?.announcing = steps.announced(at: now)
        }
        if isHostDue || !due.isEmpty { announce(due, on: scope, at: now) }
        for id in due { tellIfRegistered(id) }
    }

    /// Sends a probe: a question with the records that we are going to announce. It never requests unicast: on a shared
    /// host another process would receive the answer. RFC 6762, 15.1.
    private mutating func probe(_ id: AdvertID, on scope: UInt32, at now: Moment) {
        guard let registration = local[id] else { return }
        var message = DNSMessage()
        message.questions = [DNSQuestion(registration.instance, .any)]
        message.authorities = registration.proposals
        for family in interfaces[scope]?.schedulers.keys.sorted() ?? [] {
            actions.append(.send(OutgoingMessage(message, scope: scope, family: family)))
        }
    }

    /// RFC 6762, 8.3. [mdns.announce]
    private mutating func announce(_ ids: [AdvertID], on scope: UInt32, at now: Moment) {
        let hosts = Family.allCases.map { LocalRecordSet.addresses($0) }
        let kinds = Set(ids.compactMap { local[$0]?.pointer.name }).sorted().map { LocalRecordSet.kind($0) }
        let entries = kinds + ids.flatMap { [.pointer($0), .service($0), .text($0)] } + hosts
        for family in interfaces[scope]?.schedulers.keys.sorted() ?? [] {
            guard let scheduler = interfaces[scope]?.schedulers[family] else { continue }
            let fresh = entries.filter { !scheduler.wasSaid($0, within: ResponseScheduler.gap, at: now) }
            say(fresh, on: scope, family, at: now)
        }
    }

    private mutating func sayGoodbye(at index: Int, _ now: Moment) {
        guard let next = goodbyes[index].next, next <= now else { return }
        var message = DNSMessage.answer()
        message.answers = goodbyes[index].records
        let scope = goodbyes[index].scope
        for family in interfaces[scope]?.schedulers.keys.sorted() ?? [] {
            actions.append(.send(OutgoingMessage(message, scope: scope, family: family)))
        }
        goodbyes[index].step(at: now)
    }
}

extension Registration.Phase {
    var next: Moment? {
        switch self {
        case .probing(let steps), .announcing(let steps): steps.next
        case .standing: nil
        }
    }

    /// Returns the phase after the message that was due: after the last probe, the first announcement.
    fileprivate func stepped(at now: Moment) -> Registration.Phase {
        switch self {
        case .probing(let steps) where steps.sent < Registration.Steps.probes:
            .probing(Registration.Steps(sent: steps.sent + 1, next: now + Registration.Steps.probeInterval))
        case .probing: Registration.Steps(next: now).announced(at: now).map { .announcing($0) } ?? .standing
        case .announcing(let steps): steps.announced(at: now).map { .announcing($0) } ?? .standing
        case .standing: .standing
        }
    }
}

extension Registration.Steps {
    fileprivate static let probes = 3
    fileprivate static let probeInterval = Duration.milliseconds(250)
    private static let announcements = 3

    /// Returns the next announcement: 1 s after the first, 2 s after the second; nil after the third.
    fileprivate func announced(at now: Moment) -> Registration.Steps? {
        guard sent + 1 < Registration.Steps.announcements else { return nil }
        return Registration.Steps(sent: sent + 1, next: now + .seconds(1 << sent))
    }
}

extension DNSMessage {
    /// Returns an empty multicast response.
    static func answer() -> DNSMessage {
        var message = DNSMessage()
        message.isResponse = true
        message.isAuthoritative = true
        return message
    }
}
