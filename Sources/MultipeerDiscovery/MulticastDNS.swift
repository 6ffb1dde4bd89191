package import MultipeerCore

/// The engine of multicast DNS: what a peer says of itself (`Responder`) and what it learns of others (`Querier`), on any
/// number of interfaces. RFC 6762, RFC 6763; Spec 12.5.
///
/// Pure: datagrams, interfaces, orders and the time come in, actions go out. After every call the owner drains
/// `takeActions()` and sleeps until `deadline`.
package struct MulticastDNS: Sendable {
    package enum Action: Equatable, Sendable {
        /// From the socket of port 5353 to the group.
        case multicast([UInt8], scope: UInt32, Family)
        /// An answer from the socket of port 5353.
        case unicast([UInt8], scope: UInt32, Family, to: [UInt8], port: UInt16)
        /// A question from a port of its own to the group; what comes back there is given to `receive` as one-shot.
        case ask([UInt8], scope: UInt32, Family)
        /// The advertisement stands on every interface there is.
        case registered(AdvertID)
        /// Another has the name; the advertisement goes on under a new one.
        case renamed(AdvertID)
        /// What a peer says now; nil when it is gone. The same may come twice: `BrowseResults` tells what is new.
        case browse(BrowseID, UID, DiscoveredPeer?)
        case resolved(ResolveID, Resolution)
    }

    /// Advertisements and browses together.
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
    private var lastID: UInt64 = 0
    private(set) var isShutDown = false

    /// `host` is random, and new for each process and start. `knownUnique` says that the names need no probing, since they
    /// hold random ids.
    package init(host: UInt64, seed: UInt64, hostTTL: UInt32 = 120, knownUnique: Bool = true) {
        var seeds = Jitter(seed: seed)
        responder = Responder(host: host, seed: seeds.next(), hostTTL: hostTTL, knownUnique: knownUnique)
        querier = Querier(seed: seeds.next())
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Nothing more is to be said, so an engine that was shut down can be let go.
    package var isQuiet: Bool { actions.isEmpty && responder.isQuiet }
}

/// Interfaces.
extension MulticastDNS {
    /// A new interface, or its addresses changed.
    package mutating func scopeChanged(_ scope: Scope, at now: Moment) {
        guard scopes[scope.id] != scope else { return }
        scopes[scope.id] = scope
        responder.scopeChanged(scope, at: now)
        querier.scopeChanged(scope, at: now)
        collect()
    }

    package mutating func scopeGone(_ id: UInt32, at now: Moment) {
        guard scopes.removeValue(forKey: id) != nil else { return }
        responder.scopeGone(id, at: now)
        querier.scopeGone(id, at: now)
        collect()
    }

    /// The clock jumped, or the machine slept: what was said may be forgotten, and the neighbours are others.
    package mutating func woke(at now: Moment) {
        responder.woke(at: now)
        querier.woke(at: now)
        collect()
    }
}

/// Orders.
extension MulticastDNS {
    package mutating func advertise(_ advert: Advert, at now: Moment) throws(MulticastDNSFault) -> AdvertID {
        try admit()
        let id = AdvertID(newID(at: now))
        try responder.advertise(advert, as: id, at: now)
        adverts.insert(id)
        collect()
        return id
    }

    package mutating func update(_ id: AdvertID, info: DiscoveryInfo, at now: Moment) {
        responder.update(id, info: info, at: now)
        collect()
    }

    /// Goodbyes follow, for about 160 ms.
    package mutating func withdraw(_ id: AdvertID, at now: Moment) {
        guard adverts.remove(id) != nil else { return }
        responder.withdraw(id, at: now)
        collect()
    }

    /// `hiding` is the local peer, which is never reported.
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

    /// Ends in `.resolved` always: with addresses, or with none when there were none in time.
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

    /// The peer does not answer: is it still there?
    package mutating func reconfirm(_ uid: UID, of type: ServiceType, at now: Moment) {
        querier.reconfirm(uid, of: type, at: now)
        collect()
    }

    /// Stops everything, with goodbyes; the engine can be let go when it `isQuiet`.
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

    /// Somebody is to be seen, or looked for.
    var isBusy: Bool { !adverts.isEmpty || !browses.isEmpty }

    private func admit() throws(MulticastDNSFault) {
        if isShutDown { throw .shutDown }
        guard adverts.count + browses.count < MulticastDNS.mostOrders else { throw .tooMany }  // [mdns.limit]
    }
}
