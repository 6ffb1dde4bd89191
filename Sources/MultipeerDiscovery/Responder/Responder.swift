package import MultipeerCore

/// Publishes the local peers: registers, announces, defends, answers for and withdraws their advertisements. RFC 6762,
/// 6 to 10; Spec 12.6.
///
/// Pure, like `MulticastDNS`. For each packet it looks up the names in the packet, never all of its own.
package struct Responder: Sendable {
    package enum Action: Equatable, Sendable {
        case send(OutgoingMessage)
        /// It is registered on every interface.
        case registered(AdvertID)
        /// Another host has the name; it is registered under a new one.
        case renamed(AdvertID)
    }

    var local: LocalRecords
    var interfaces: [UInt32: ResponderInterface] = [:]
    var goodbyes: [Goodbye] = []
    var conflicts = ConflictHistory()
    var dice: Jitter
    var actions: [Action] = []
    /// No registration or interface has an earlier step.
    var nextStep: Moment?
    /// Addresses that were ours: datagrams from them may still be looped back to us.
    var formerAddresses: [[UInt8]] = []
    let knownUnique: Bool

    /// The TTL of PTR and TXT, in seconds. RFC 6762, 10.
    static let otherTTL: UInt32 = 4_500

    package init(host: UInt64, seed: UInt64, hostTTL: UInt32, knownUnique: Bool) {
        dice = Jitter(seed: seed)
        local = LocalRecords(host: host, hostTTL: min(max(hostTTL, 10), 120))
        self.knownUnique = knownUnique
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Whether no goodbyes and no other messages are left to send.
    package var isQuiet: Bool { goodbyes.isEmpty && local.isEmpty && actions.isEmpty }

    package var deadline: Moment? {
        var soonest = nextStep ?? .distantFuture
        for goodbye in goodbyes { soonest = min(soonest, goodbye.next ?? .distantFuture) }
        for interface in interfaces.values {
            for scheduler in interface.schedulers.values {
                soonest = min(soonest, scheduler.deadline ?? .distantFuture)
            }
        }
        return soonest == .distantFuture ? nil : soonest
    }
}

/// Requests.
extension Responder {
    package mutating func advertise(
        _ advert: Advert, as id: AdvertID, at now: Moment
    ) throws(MulticastDNSFault) {
        if local.contains(advert.peer, advert.type) { throw .advertisedAlready }
        local.add(advert, as: id)
        cancelGoodbyes()
        for scope in interfaces.keys.sorted() { start(id, on: scope, at: now) }
        advance(to: now)
        tellIfRegistered(id)
    }

    package mutating func update(
        _ id: AdvertID, info: DiscoveryInfo, port: UInt16? = nil, at now: Moment
    ) {
        guard let registration = local[id] else { return }
        let port = port ?? registration.advert.port
        guard registration.advert.info != info || registration.advert.port != port else { return }
        local.update(id, info: info, port: port)
        for scope in registration.phases.keys where registration.isEstablished(on: scope) {
            let again = interfaces[scope]?.schedulers.values.compactMap { $0.nextTime(for: .text(id)) }.max()
            let steps = Registration.Steps(next: max(now, again ?? now))
            local.set(.announcing(steps), of: id, on: scope)  // [mdns.announce]
        }
        nextStep = now
        advance(to: now)
    }

    package mutating func withdraw(_ id: AdvertID, at now: Moment) {
        guard let registration = local[id] else { return }
        let isLast = local.registrations.count == 1
        for scope in interfaces.keys.sorted() where registration.isEstablished(on: scope) {
            let host = isLast ? interfaces[scope].map { local.addressRecords(on: $0.scope) } ?? [] : []
            sayGoodbye(
                [registration.pointer, registration.service, registration.text] + host, on: scope, at: now)
        }
        local.remove(id)
        drop(id)
        advance(to: now)
    }

    /// Handles a sleep: neighbours may have forgotten our records, and other hosts may have our names. RFC 6762, 8.
    /// [mdns.resume]
    package mutating func woke(at now: Moment) {
        for scope in interfaces.keys { interfaces[scope]?.discardPending() }
        for id in local.ids {
            for scope in interfaces.keys.sorted() { start(id, on: scope, at: now) }
        }
        advance(to: now)
    }
}

/// Names.
extension Responder {
    /// Cancels goodbyes for records that are valid again.
    mutating func cancelGoodbyes() {
        for index in goodbyes.indices {
            guard let scope = interfaces[goodbyes[index].scope]?.scope else { continue }
            let again = goodbyes[index].records.filter { record in
                if case .instance = local.owners[record.name] { return true }
                return local.entry(saying: record, on: scope) != nil
            }
            goodbyes[index].cancel(again)
        }
        goodbyes.removeAll { $0.next == nil }
    }

    /// Drops everything of an advertisement whose name is no longer ours.
    mutating func drop(_ id: AdvertID) {
        for scope in interfaces.keys { interfaces[scope]?.drop(id) }
    }

    /// Changes our host name, because another host has it, which does not happen by chance. [mdns.host]
    mutating func renameHost(at now: Moment) {
        local.renameHost(dice.next())
        for id in local.ids {
            for scope in interfaces.keys.sorted() where local[id]?.isEstablished(on: scope) == true {
                set(.announcing(Registration.Steps(next: now)), of: id, on: scope)
            }
        }
        for scope in interfaces.keys { interfaces[scope]?.forgetHost() }
    }

    mutating func sayGoodbye(_ records: [DNSRecord], on scope: UInt32, at now: Moment) {
        guard !records.isEmpty else { return }
        goodbyes.append(Goodbye(scope: scope, records, at: now))
    }
}
