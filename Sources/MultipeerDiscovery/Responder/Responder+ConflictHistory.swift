package import MultipeerCore

/// Records of other hosts, and conflicts with ours. RFC 6762, 8 and 9.
extension Responder {
    /// Handles a message: a response from port 5353, or a query from any port.
    package mutating func receive(_ message: DNSMessage, _ arrival: PacketInfo, at now: Moment) {
        guard !local.isEmpty, interfaces[arrival.scope]?.schedulers[arrival.family] != nil else { return }
        if !message.isResponse {
            asked(message, arrival, at: now)
        } else if !arrival.isOneShot {
            heard(message, arrival, at: now)
        }
        advance(to: now)
    }

    private mutating func heard(_ message: DNSMessage, _ arrival: PacketInfo, at now: Moment) {
        guard let scope = interfaces[arrival.scope]?.scope else { return }
        var contradicted: Set<AdvertID> = []
        var isHostTaken = false
        for record in message.answers + message.authorities + message.additionals {
            guard let owner = local.owners[record.name] else { continue }
            if let entry = local.entry(saying: record, on: scope) {
                agree(entry, record, arrival, on: scope, at: now)
            } else if case .instance(let id) = owner, local.isContradicted(id, by: record, on: scope.id) {
                contradicted.insert(id)
            } else if case .host = owner, isHostContradicted(by: record) {
                isHostTaken = true
            }
        }
        for id in contradicted.sorted() { contradict(id, on: scope.id, at: now) }
        if isHostTaken && !conflicts.areMany(at: now) {
            _ = conflicts.add(at: now)
            renameHost(at: now)
        }
    }

    /// Handles a record with the same data as ours, which is never a conflict: it may be our own from another interface, or
    /// a proxy's. Only a TTL that is far too short is corrected. RFC 6762, 6.6 and 7.4. [mdns.conflict]
    private mutating func agree(
        _ entry: LocalRecordSet, _ record: DNSRecord, _ arrival: PacketInfo, on scope: Scope, at now: Moment
    ) {
        let ours = local.records(of: entry, on: scope).map(\.ttl).min() ?? 0
        if record.ttl < ours / 2 {  // [mdns.answer]
            let random = Duration.microseconds(Int64.random(in: 20_000...120_000, using: &dice))
            let due = now + (entry.isShared ? random : .zero)
            interfaces[scope.id]?.schedulers[arrival.family]?.answer([entry], at: due)
        } else if record.ttl >= ours, case .kind = entry {
            interfaces[scope.id]?.schedulers[arrival.family]?.heard(entry)
        }
    }

    private func isHostContradicted(by record: DNSRecord) -> Bool {
        guard record.ttl > 0 else { return false }
        switch record.data {
        case .a(let address), .aaaa(let address):
            return !formerAddresses.contains(address)
                && !interfaces.values.contains { $0.scope.addresses.contains { $0.bytes == address } }
        default: return false
        }
    }

    /// Handles a conflict: an established name is probed for again; a name that was being probed for is changed.
    /// RFC 6762, 8.1 and 9. [mdns.conflict]
    private mutating func contradict(_ id: AdvertID, on scope: UInt32, at now: Moment) {
        let pause = conflicts.add(at: now)
        if local[id]?.isEstablished(on: scope) == true {
            let steps = Registration.Steps(next: now + pause + probeDelay())
            set(.probing(steps), of: id, on: scope)
        } else {
            rename(id, lostOn: scope, after: pause, at: now)
        }
    }

    /// Renames an advertisement. The winner's PTR is the same as ours was, so no goodbye is sent where we lost.
    /// [mdns.conflict]
    private mutating func rename(_ id: AdvertID, lostOn lost: UInt32, after pause: Duration, at now: Moment) {
        guard let registration = local[id] else { return }
        for scope in interfaces.keys.sorted() where scope != lost && registration.isEstablished(on: scope) {
            sayGoodbye([registration.pointer, registration.service, registration.text], on: scope, at: now)
        }
        local.rename(id)
        drop(id)
        cancelGoodbyes()
        for scope in interfaces.keys.sorted() {
            set(.probing(Registration.Steps(next: now + pause + probeDelay())), of: id, on: scope)
        }
        actions.append(.renamed(id))
    }

    /// Handles another host's probe for names that we are probing for as well. Names that are already ours are defended
    /// by the ordinary answer to the question.
    mutating func probed(_ message: DNSMessage, _ arrival: PacketInfo, at now: Moment) {
        for question in Set(message.questions) {
            let name = question.name
            guard case .instance(let id) = local.owners[name], let registration = local[id] else { continue }
            guard case .probing = registration.phases[arrival.scope] else { continue }
            let theirs = message.authorities.filter { $0.name == name }
            guard theirs.contains(where: { registration.isContradicted(by: $0) }) else { continue }
            guard registration.tiebreak(against: theirs) == .lost else { continue }
            // [mdns.probe]
            set(.probing(Registration.Steps(next: now + .seconds(1))), of: id, on: arrival.scope)
        }
    }
}
