import MultipeerCore

/// Questions of other hosts. RFC 6762, 6 and 7.
extension Responder {
    mutating func asked(_ message: DNSMessage, _ arrival: PacketInfo, at now: Moment) {
        guard let scope = interfaces[arrival.scope]?.scope else { return }
        let requester = ResponseScheduler.Requester(address: arrival.from, port: arrival.port)
        if message.questions.isEmpty { return knows(message, requester, arrival, on: scope, at: now) }
        if !message.authorities.isEmpty { probed(message, arrival, at: now) }
        var wanted: Set<LocalRecordSet> = []
        var personally: Set<LocalRecordSet> = []
        for question in Set(message.questions) {
            let entries = local.entries(for: question, on: scope)
            if question.wantsUnicast { personally.formUnion(entries) } else { wanted.formUnion(entries) }
        }
        if wanted.isEmpty && personally.isEmpty { return }
        wanted.subtract(local.known(wanted, from: message.answers, on: scope))
        personally.subtract(local.known(personally, from: message.answers, on: scope))
        let isProbe = isProbe(message)
        let delay = isProbe ? .zero : delay(of: wanted.union(personally), message)
        if arrival.port != MulticastDNS.port {
            guard scope.isOnLink(arrival.from) else { return }  // [mdns.source]
            // [mdns.limit]
            guard message.questions.count <= ResponseScheduler.mostLegacyQuestions else { return }
            // On loopback, replies cannot collide with those of other hosts. [mdns.answer]
            let due = scope.isLoopback ? .zero : delay
            return write(
                wanted.union(personally), to: requester, message, legacy: true, after: due, arrival, now)
        }
        divide(&personally, &wanted, isProbe: isProbe, arrival, on: scope, at: now)
        write(personally, to: requester, message, legacy: false, after: delay, arrival, now)
        if wanted.isEmpty { return }
        if message.isTruncated {
            let due = now + holding()
            interfaces[arrival.scope]?.schedulers[arrival.family]?.hold(
                wanted, for: requester, until: due, at: now)
        } else {
            let gap = isProbe ? ResponseScheduler.defenceGap : ResponseScheduler.gap  // [mdns.answer]
            interfaces[arrival.scope]?.schedulers[arrival.family]?.answer(wanted, at: now + delay, gap: gap)
        }
    }

    /// Handles further known answers of a requester. [mdns.answer]
    private mutating func knows(
        _ message: DNSMessage, _ requester: ResponseScheduler.Requester, _ arrival: PacketInfo,
        on scope: Scope, at now: Moment
    ) {
        guard let scheduler = interfaces[arrival.scope]?.schedulers[arrival.family],
            scheduler.isHolding(for: requester)
        else {
            return
        }
        let known = local.known(scheduler.held(for: requester), from: message.answers, on: scope)
        let due = message.isTruncated ? now + holding() : nil
        interfaces[arrival.scope]?.schedulers[arrival.family]?.goOnHolding(
            for: requester, until: due, without: known)
    }

    /// Divides entries between unicast and multicast: a requester that prefers unicast gets it, unless the last
    /// multicast was too long ago. RFC 6762, 5.4. [mdns.answer]
    private func divide(
        _ personally: inout Set<LocalRecordSet>, _ wanted: inout Set<LocalRecordSet>, isProbe: Bool,
        _ arrival: PacketInfo,
        on scope: Scope, at now: Moment
    ) {
        guard !personally.isEmpty, let scheduler = interfaces[scope.id]?.schedulers[arrival.family] else {
            return
        }
        let unheard = personally.filter { entry in
            let ttl = local.records(of: entry, on: scope).map(\.ttl).min() ?? 0
            return !scheduler.wasSaid(entry, within: .seconds(Int64(ttl)) / 4, at: now)
        }
        wanted.formUnion(scope.isOnLink(arrival.from) ? unheard : personally)
        if !scope.isOnLink(arrival.from) { personally = [] } else if !isProbe { personally.subtract(unheard) }
    }

    private mutating func write(
        _ entries: Set<LocalRecordSet>, to requester: ResponseScheduler.Requester, _ message: DNSMessage,
        legacy: Bool,
        after delay: Duration, _ arrival: PacketInfo, _ now: Moment
    ) {
        guard !entries.isEmpty else { return }
        let reply = ResponseScheduler.UnicastReply(
            requester: requester, id: message.id, legacy: legacy ? message.questions : nil, entries: entries,
            due: now + delay)
        let isTaken = interfaces[arrival.scope]?.schedulers[arrival.family]?.write(reply, at: now) ?? true
        if !isTaken && !legacy {
            interfaces[arrival.scope]?.schedulers[arrival.family]?.answer(entries, at: now + delay)
        }
    }

    /// Returns the delay of a response: none when no other host can answer; a random one when others may, or when more
    /// questions may follow. RFC 6762, 6 and 6.3. [mdns.answer]
    private mutating func delay(of entries: Set<LocalRecordSet>, _ message: DNSMessage) -> Duration {
        if message.questions.count == 1 && !entries.contains(where: \.isShared) { return .zero }
        return .microseconds(Int64.random(in: 20_000...120_000, using: &dice))
    }

    private mutating func holding() -> Duration {
        .microseconds(Int64.random(in: 400_000...500_000, using: &dice))
    }

    /// Returns whether a message asks for a name for which it proposes records.
    private func isProbe(_ message: DNSMessage) -> Bool {
        message.authorities.contains { record in message.questions.contains { $0.name == record.name } }
    }
}

/// Sending.
extension Responder {
    /// Sends all answers that are due.
    mutating func answer(on scope: UInt32, _ family: Family, at now: Moment) {
        guard interfaces[scope]?.schedulers[family]?.deadline.map({ $0 <= now }) == true else { return }
        interfaces[scope]?.schedulers[family]?.releaseHeld(at: now)
        for reply in interfaces[scope]?.schedulers[family]?.takeReplies(at: now) ?? [] {
            send(reply, on: scope, family)
        }
        let entries = interfaces[scope]?.schedulers[family]?.takeAnswers(at: now) ?? []
        say(entries, on: scope, family, at: now)
    }

    /// Multicasts these entries and what goes with them, each at most once a second. [mdns.answer]
    mutating func say(_ entries: [LocalRecordSet], on scope: UInt32, _ family: Family, at now: Moment) {
        guard let interface = interfaces[scope], let scheduler = interface.schedulers[family] else { return }
        let answers = entries.filter { local.isTrue($0, on: scope) }
        let more = local.company(of: answers, on: interface.scope).filter {
            !scheduler.wasSaid($0, within: ResponseScheduler.gap, at: now)
        }
        var message = DNSMessage.answer()
        message.answers = answers.flatMap { local.records(of: $0, on: interface.scope) }
        message.additionals = more.flatMap { local.records(of: $0, on: interface.scope) }
        guard !message.answers.isEmpty else { return }
        interfaces[scope]?.schedulers[family]?.say(answers + more, at: now)
        actions.append(.send(OutgoingMessage(message, scope: scope, family: family)))
    }

    /// Sends a unicast reply. Conventional resolvers get their question back, short TTLs, no flush bits, and no NSEC that
    /// they did not ask for. RFC 6762, 6.7. [mdns.legacy]
    private mutating func send(_ reply: ResponseScheduler.UnicastReply, on scope: UInt32, _ family: Family) {
        guard let interface = interfaces[scope] else { return }
        let answers = reply.entries.sorted().filter { local.isTrue($0, on: scope) }
        let more = local.company(of: answers, on: interface.scope)
        var message = DNSMessage.answer()
        message.id = reply.id
        message.answers = answers.flatMap { local.records(of: $0, on: interface.scope) }
        message.additionals = more.flatMap { local.records(of: $0, on: interface.scope) }
        guard !message.answers.isEmpty else { return }
        if let questions = reply.legacy {
            message.questions = questions
            message.additionals.removeAll { $0.type == .nsec }
            message.answers = message.answers.map(\.forConventionalResolvers)
            message.additionals = message.additionals.map(\.forConventionalResolvers)
        }
        let way = OutgoingMessage.Destination.unicast(to: reply.requester.address, port: reply.requester.port)
        actions.append(.send(OutgoingMessage(message, scope: scope, family: family, way: way)))
    }
}

extension DNSRecord {
    fileprivate var forConventionalResolvers: DNSRecord {
        DNSRecord(name, ttl: min(ttl, 10), data)
    }
}
