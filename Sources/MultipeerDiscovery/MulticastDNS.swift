package import MultipeerCore

/// The engine of multicast DNS: what a peer advertises (`Responder`) and what it discovers (`Querier`), on any number of
/// interfaces. RFC 6762, RFC 6763; Spec 12.5.
///
/// Pure: datagrams, interfaces, requests and the time are inputs, actions are outputs. After every call the owner
/// drains `takeActions()` and sleeps until `deadline`.
package struct MulticastDNS: Sendable {
    package enum Action: Equatable, Sendable {
        /// From the socket of port 5353 to the group.
        case multicast([UInt8], scope: UInt32, Family)
        /// A response from the socket of port 5353.
        case unicast([UInt8], scope: UInt32, Family, to: [UInt8], port: UInt16)
        /// A question from a separate port to the group; responses to that port are passed to `receive` as one-shot.
        case ask([UInt8], scope: UInt32, Family)
        /// The advertisement is registered on every interface.
        case registered(AdvertID)
        /// Another host has the name; the advertisement continues under a new one.
        case renamed(AdvertID)
        /// A peer's current data; nil when it is lost. May be repeated unchanged: `BrowseResults` detects what is new.
        case browse(BrowseID, UID, PresentPeer?)
        /// A missed peer has answered.
        case returned(BrowseID, UID)
        case resolved(ResolveID, Resolution)
        /// Another machine, with these addresses, announces a peer that is announced here, or that browses here. May be repeated.
        case duplicated(UID, by: [[UInt8]])
    }

    /// The maximum number of advertisements and browses together.
    package static let mostOrders = 64  // [mdns.limit]
    package static let port: UInt16 = 5353

    var responder: Responder
    var querier: Querier
    var scopes: [UInt32: Scope] = [:]
    var actions: [Action] = []
    var heartbeat: Moment?
    private var adverts: Set<AdvertID> = []
    private var browses: Set<BrowseID> = []
    var resolves: Set<ResolveID> = []
    /// The addresses of this machine on all its interfaces, and those that it had before: what was sent from them may still arrive.
    var machineAddresses: [[UInt8]] = []
    private var lastID: UInt64 = 0
    private(set) var isShutDown = false

    /// Creates an engine. `host` is random, and new for each process and start. `knownUnique` means that the names need no
    /// probing, since they contain random ids.
    package init(host: UInt64, seed: UInt64, hostTTL: UInt32 = 120, knownUnique: Bool = true) {
        var seeds = Jitter(seed: seed)
        responder = Responder(host: host, seed: seeds.next(), hostTTL: hostTTL, knownUnique: knownUnique)
        querier = Querier(seed: seeds.next())
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Whether nothing is left to send, so that an engine that was shut down can be released.
    package var isQuiet: Bool { actions.isEmpty && responder.isQuiet }
}

/// Interfaces.
extension MulticastDNS {
    /// Handles a new interface, or a change of its addresses.
    package mutating func scopeChanged(_ scope: Scope, at now: Moment) {
        guard scopes[scope.id] != scope else { return }
        scopes[scope.id] = scope
        responder.scopeChanged(scope, at: now)
        querier.scopeChanged(scope, at: now)
        collect()
    }

    /// Takes the addresses of this machine, also those of interfaces that do not take part. Before that no duplicate is reported.
    package mutating func machineHas(_ addresses: [[UInt8]]) {
        machineAddresses.removeAll { addresses.contains($0) }
        machineAddresses = (machineAddresses + addresses).suffix(MulticastDNS.mostMachineAddresses)
    }

    private static let mostMachineAddresses = 512

    /// Whether an address is one of this machine, or was.
    package func isOfThisMachine(_ address: [UInt8]) -> Bool { machineAddresses.contains(address) }

    package mutating func scopeGone(_ id: UInt32, at now: Moment) {
        guard scopes.removeValue(forKey: id) != nil else { return }
        responder.scopeGone(id, at: now)
        querier.scopeGone(id, at: now)
        collect()
    }

    /// Handles a jump of the clock or a sleep of the machine: neighbours may have forgotten our records, or be
    /// different ones.
    package mutating func woke(at now: Moment) {
        responder.woke(at: now)
        querier.woke(at: now)
        collect()
    }
}

/// Requests.
extension MulticastDNS {
    package mutating func advertise(_ advert: Advert, at now: Moment) throws(MulticastDNSFault) -> AdvertID {
        try admit()
        let id = AdvertID(newID(at: now))
        try responder.advertise(advert, as: id, at: now)
        adverts.insert(id)
        collect()
        return id
    }

    /// Announces other information, and another port if there is one.
    package mutating func update(
        _ id: AdvertID, info: DiscoveryInfo, port: UInt16? = nil, at now: Moment
    ) {
        responder.update(id, info: info, port: port, at: now)
        collect()
    }

    /// Withdraws an advertisement. Goodbyes follow, for about 160 ms.
    package mutating func withdraw(_ id: AdvertID, at now: Moment) {
        guard adverts.remove(id) != nil else { return }
        responder.withdraw(id, at: now)
        collect()
    }

    /// Starts a browse. `hiding` is the local peer, which is never reported.
    package mutating func browse(
        _ type: ServiceType, hiding uid: UID?, at now: Moment
    ) throws(MulticastDNSFault) -> BrowseID {
        try admit()
        let id = BrowseID(newID(at: now))
        browses.insert(id)
        querier.browse(type, hiding: uid, as: id, at: now)
        collect()
        return id
    }

    package mutating func stopBrowsing(_ id: BrowseID, at now: Moment) {
        guard browses.remove(id) != nil else { return }
        querier.stopBrowsing(id, at: now)
        collect()
    }

    /// Starts a resolution, which always ends in `.resolved`: with addresses, or with none when none were received in
    /// time.
    package mutating func resolve(
        _ uid: UID, of type: ServiceType, within time: Duration, at now: Moment
    ) -> ResolveID {
        let id = ResolveID(newID(at: now))
        if isShutDown {
            actions.append(.resolved(id, Resolution()))
        } else {
            resolves.insert(id)
            querier.resolve(uid, of: type, within: time, as: id, at: now)
            collect()
        }
        return id
    }

    /// Checks whether a peer to which a link was lost still exists, and asks for it until it answers.
    package mutating func miss(_ uid: UID, of type: ServiceType, at now: Moment) {
        querier.miss(uid, of: type, at: now)
        collect()
    }

    /// Asks at once for a missed peer whose address was reached.
    package mutating func reached(_ uid: UID, of type: ServiceType, at now: Moment) {
        querier.reached(uid, of: type, at: now)
        collect()
    }

    /// Loses a missed peer soon, unless it answers: its addresses refuse connections.
    package mutating func refused(_ uid: UID, of type: ServiceType, at now: Moment) {
        querier.refused(uid, of: type, at: now)
        collect()
    }

    /// A peer is linked, and no longer missed.
    package mutating func regain(_ uid: UID, of type: ServiceType) { querier.regain(uid, of: type) }

    /// Stops everything, with goodbyes; the engine can be released when it `isQuiet`.
    package mutating func shutDown(at now: Moment) {
        guard !isShutDown else { return }
        isShutDown = true
        for id in browses.sorted() { querier.stopBrowsing(id, at: now) }
        for id in adverts.sorted() { responder.withdraw(id, at: now) }
        browses = []
        adverts = []
        heartbeat = nil
        collect()
        for id in resolves.sorted() { actions.append(.resolved(id, Resolution())) }
        resolves = []
    }

    private mutating func newID(at now: Moment) -> UInt64 {
        if heartbeat == nil { heartbeat = now + MulticastDNS.heartbeatInterval }
        lastID += 1
        return lastID
    }

    /// Whether there is an advertisement or a browse.
    var isBusy: Bool { !adverts.isEmpty || !browses.isEmpty }

    private func admit() throws(MulticastDNSFault) {
        if isShutDown { throw .shutDown }
        guard adverts.count + browses.count < MulticastDNS.mostOrders else { throw .tooMany }  // [mdns.limit]
    }
}
