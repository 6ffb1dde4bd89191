package import MultipeerCore

/// Discovery by the system's own responder: which operations of `dns_sd.h` it needs, and what their replies say about peers. It
/// takes the place of `MulticastDNS`, and reports the same. Spec 12.6.
///
/// Pure: replies, requests and the time are inputs, actions are outputs. After every call the owner drains `takeActions()` and
/// sleeps until `deadline`.
package struct SystemDNS: Sendable {
    /// Identifies one operation; never reused.
    package struct OperationID: Hashable, Comparable, Sendable {
        package let number: UInt64
        init(_ number: UInt64) { self.number = number }

        /// The same as a number that a loop keeps with a descriptor.
        package init(token: Int) { number = UInt64(bitPattern: Int64(token)) }
        package var token: Int { Int(truncatingIfNeeded: number) }

        package static func < (one: OperationID, other: OperationID) -> Bool { one.number < other.number }
    }

    /// What the responder does until it is ended. The interface 0 stands for every one.
    package enum Operation: Equatable, Sendable {
        case register(label: String, ServiceType, port: UInt16, txt: [UInt8], interface: UInt32)
        case browse(ServiceType, interface: UInt32)
        case query(DNSName, DNSType, interface: UInt32)
    }

    package enum Action: Equatable, Sendable {
        case start(OperationID, Operation)
        /// Replaces the TXT record of a registration.
        case update(OperationID, txt: [UInt8])
        case end(OperationID)
        /// Asks the responder to check whether a record still exists.
        case reconfirm(DNSName, DNSType, data: [UInt8], interface: UInt32)
        /// The advertisement is registered on every interface where that is possible.
        case registered(AdvertID)
        /// The advertisement is registered nowhere; it is tried again until it is withdrawn.
        case refused(AdvertID, ResponderFault)
        /// As `MulticastDNS.Action.browse`.
        case browse(BrowseID, UID, PresentPeer?)
        case resolved(ResolveID, Resolution)
    }

    /// A reply to an operation.
    package enum Event: Equatable, Sendable {
        /// The service is registered under that name, which differs from the requested one after a conflict.
        case registered(label: [UInt8])
        case instance(label: [UInt8], isAdded: Bool, interface: UInt32)
        case record(DNSType, [UInt8], isAdded: Bool, interface: UInt32)
        /// The operation has failed, at once or later; it must be ended.
        case failed(ResponderFault)
    }

    enum Use: Hashable, Sendable {
        case registration(AdvertID, interface: UInt32)
        case browse(ServiceType, interface: UInt32)
        case record(ServiceType, DNSName, DNSType)
        case address(DNSName, DNSType)
    }

    /// The maximum number of advertisements and browses together.
    package static let mostOrders = MulticastDNS.mostOrders  // [mdns.limit]
    /// The pause before an operation that has failed is started again.
    static let pause = Duration.seconds(5)

    private let interfaces: [UInt32]
    let loopback: Set<UInt32>
    let countsRepeats: Bool
    var operations = SystemOperations()
    var advertisements: [AdvertID: SystemAdvertisement] = [:]
    var services: [ServiceType: SystemService] = [:]
    var hosts: [DNSName: SystemHost] = [:]
    var resolutions: [ResolveID: SystemResolution] = [:]
    private var faults: [Use: ResponderFault] = [:]
    private var actions: [Action] = []
    private var lastID: UInt64 = 0
    var lastOrder: UInt64 = 0

    /// `interfaces`: those on which it advertises and browses, or 0 for every one. `loopback`: those whose loopback addresses mean
    /// this machine. `countsRepeats`: see `RecordCounts`.
    package init(interfaces: [UInt32], loopback: Set<UInt32>, countsRepeats: Bool) {
        self.interfaces = interfaces
        self.loopback = loopback
        self.countsRepeats = countsRepeats
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    mutating func emit(_ action: Action) { actions.append(action) }

    /// Why nothing can be announced or found; nil while something can, or when nothing is asked for.
    package var obstacle: ResponderFault? {
        let isServed = operations.isRunning {
            switch $0 {
            case .registration, .browse: true
            case .record, .address: false
            }
        }
        return isServed ? nil : faults.values.first
    }

    /// Whether there is nothing that the responder does for us.
    package var isIdle: Bool { advertisements.isEmpty && services.isEmpty && operations.isEmpty }

    /// When to call `advance`.
    package var deadline: Moment? {
        let registrations = advertisements.values.compactMap(\.deadline)
        let tables = services.values.compactMap { $0.table.deadline }
        let moments = registrations + tables + resolutions.values.map(\.deadline)
        return Moment.earlier(operations.deadline, moments.min())
    }

    package mutating func advance(to now: Moment) {
        for use in operations.takeDue(at: now) { start(use, at: now) }
        for id in advertisements.keys.sorted() {
            for interface in advertisements[id]?.overdue(at: now) ?? [] {
                failed(.registration(id, interface: interface), .timedOut, at: now)
            }
        }
        for type in services.keys.sorted(by: { $0.name < $1.name }) { takeTurns(type, at: now) }
        settle(at: now)
    }
}

/// Requests.
extension SystemDNS {
    package mutating func advertise(_ advert: Advert, at now: Moment) throws(MulticastDNSFault) -> AdvertID {
        try admit()
        let id = AdvertID(newID())
        advertisements[id] = SystemAdvertisement(advert)
        for interface in interfaces { start(.registration(id, interface: interface), at: now) }
        return id
    }

    /// Announces other information, and another port.
    package mutating func update(_ id: AdvertID, info: DiscoveryInfo, port: UInt16, at now: Moment) {
        guard var advertisement = advertisements[id] else { return }
        let isMoved = advertisement.advert.port != port
        advertisement.advert.info = info
        advertisement.advert.port = port
        advertisements[id] = advertisement
        for interface in interfaces {
            let use = Use.registration(id, interface: interface)
            guard let operation = operations.operation(for: use) else { continue }
            if isMoved {
                // No call changes the port of a registration.
                startAgain(use, at: now)
            } else {
                emit(.update(operation, txt: Binding.txt(advertisement.advert.peer, info)))
            }
        }
    }

    /// Withdraws an advertisement; the responder says goodbye.
    package mutating func withdraw(_ id: AdvertID) {
        guard advertisements.removeValue(forKey: id) != nil else { return }
        for interface in interfaces { end(.registration(id, interface: interface)) }
    }

    /// Starts a browse. `hiding` is the local peer, which is never reported.
    package mutating func browse(
        _ type: ServiceType, hiding uid: UID?, at now: Moment
    ) throws(MulticastDNSFault) -> BrowseID {
        try admit()
        let id = BrowseID(newID())
        use(type, at: now) { $0.browses[id] = SystemService.Browse(hidden: uid) }
        for uid in services[type]?.table.uids ?? [] { report(uid, type, to: id) }
        return id
    }

    package mutating func stopBrowsing(_ id: BrowseID) {
        for type in services.keys where services[type]?.browses.removeValue(forKey: id) != nil {
            dropIfUnused(type)
        }
    }

    /// Checks whether a peer that does not respond still exists. [mdns.reconfirm]
    package mutating func reconfirm(_ uid: UID, of type: ServiceType) {
        guard let table = services[type]?.table else { return }
        for name in table.names(of: uid) {
            for entry in table.instances[name]?.servers.entries ?? [] {
                emit(.reconfirm(name, .srv, data: entry.data, interface: entry.interface))
            }
            for entry in table.instances[name]?.pointers.entries ?? [] {
                emit(.reconfirm(table.name, .ptr, data: name.wire, interface: entry.interface))
            }
        }
    }

    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private func admit() throws(MulticastDNSFault) {
        let browses = services.values.reduce(0) { $0 + $1.browses.count }
        guard advertisements.count + browses < SystemDNS.mostOrders else { throw .tooMany }  // [mdns.limit]
    }

    /// Adds a user of a service type, whose browse is started with the first.
    mutating func use(_ type: ServiceType, at now: Moment, _ body: (inout SystemService) -> Void) {
        let isNew = services[type] == nil
        var service = services[type] ?? SystemService(type, countsRepeats: countsRepeats)
        body(&service)
        services[type] = service
        guard isNew else { return }
        for interface in interfaces { start(.browse(type, interface: interface), at: now) }
    }

    /// Ends the browse of a service type with its last user.
    mutating func dropIfUnused(_ type: ServiceType) {
        guard services[type]?.isUnused == true, var service = services.removeValue(forKey: type) else {
            return
        }
        for interface in interfaces { end(.browse(type, interface: interface)) }
        for name in service.table.endTurns() { endQueries(of: name, type) }
    }
}

/// Replies.
extension SystemDNS {
    /// Handles a reply; one to an operation that has ended is ignored.
    package mutating func receive(_ event: Event, from id: OperationID, at now: Moment) {
        guard let use = operations.use(of: id) else { return }
        switch (use, event) {
        case (_, .failed(let fault)): failed(use, fault, at: now)
        case (.registration(let advert, let interface), .registered(let label)):
            registered(advert, on: interface, label, at: now)
        case (.browse(let type, _), .instance(let label, let isAdded, let interface)):
            let uid = services[type]?.table.pointer(label, isAdded: isAdded, on: interface, at: now)
            changed(uid, type, at: now)
            if services[type]?.table.takeHasRoom() == true { browseAgain(type, at: now) }
        case (.record(let type, let name, let kind), .record(let given, let data, let isAdded, let interface))
        where given == kind:
            let uid = services[type]?.table.record(
                of: name, kind, data, isAdded: isAdded, on: interface, at: now)
            changed(uid, type, at: now)
            if services[type]?.table.takeIsIncomplete(kind, of: name) == true { startAgain(use, at: now) }
        case (.address(let host, let kind), .record(let given, let data, let isAdded, let interface))
        where given == kind:
            lastOrder += 1
            hosts[host]?.record(kind, data, isAdded: isAdded, on: interface, order: lastOrder)
            if hosts[host]?.takeIsIncomplete(kind) == true { startAgain(use, at: now) }
            settle(at: now)
        // Not of this kind of operation.
        case (_, .registered), (_, .instance), (_, .record): break
        }
    }

    /// Starts an operation; none is running for that use.
    mutating func start(_ use: Use, at now: Moment) {
        guard let operation = operation(for: use) else { return }
        faults[use] = nil
        if case .registration(let id, let interface) = use { advertisements[id]?.begin(interface, at: now) }
        emit(.start(operations.start(use), operation))
    }

    /// Replaces an operation, so that the responder reports all that it has.
    private mutating func startAgain(_ use: Use, at now: Moment) {
        end(use)
        start(use, at: now)
    }

    private mutating func browseAgain(_ type: ServiceType, at now: Moment) {
        for interface in interfaces { startAgain(.browse(type, interface: interface), at: now) }
        // Afterwards, since a change may end the last use of the type, and its browses with it.
        for interface in interfaces { forgetPointers(type, on: interface, at: now) }
    }

    /// Forgets where the instances of a type were found: their browse on that interface has ended.
    private mutating func forgetPointers(_ type: ServiceType, on interface: UInt32, at now: Moment) {
        let lost = services[type]?.table.forgetPointers(on: interface) ?? []
        for uid in lost { changed(uid, type, at: now) }
    }

    mutating func end(_ use: Use) {
        faults[use] = nil
        if let id = operations.end(use) { emit(.end(id)) }
    }

    /// Ends an operation, which is started again after a pause.
    private mutating func pause(_ use: Use, at now: Moment) {
        if let id = operations.wait(use, until: now + SystemDNS.pause) { emit(.end(id)) }
    }

    private func operation(for use: Use) -> Operation? {
        switch use {
        case .registration(let id, let interface):
            guard let advertisement = advertisements[id] else { return nil }
            let advert = advertisement.advert
            return .register(
                label: advertisement.label(on: interface), advert.type, port: advert.port,
                txt: Binding.txt(advert.peer, advert.info), interface: interface)
        case .browse(let type, let interface): return .browse(type, interface: interface)
        // Of several interfaces, those are looked at on which an instance was found.
        case .record(_, let name, let type), .address(let name, let type):
            return .query(name, type, interface: interfaces.count == 1 ? interfaces[0] : 0)
        }
    }

    private mutating func registered(
        _ id: AdvertID, on interface: UInt32, _ label: [UInt8], at now: Moment
    ) {
        guard let advertisement = advertisements[id] else { return }
        let use = Use.registration(id, interface: interface)
        guard label == Array(advertisement.label(on: interface).utf8) else {
            // The responder chose another name, which need not end in the uid. [service.instance]
            return renamed(id, use, interface, at: now)
        }
        advertisements[id]?.registered(on: interface)
        if advertisements[id]?.takeIsRegistered() == true { emit(.registered(id)) }
    }

    /// Takes the next name after a conflict, at once or after too many of them later. [mdns.conflict]
    private mutating func renamed(_ id: AdvertID, _ use: Use, _ interface: UInt32, at now: Moment) {
        guard advertisements[id]?.rename(on: interface) == true else {
            return refused(id, use, interface, .nameConflict, at: now)
        }
        startAgain(use, at: now)
    }

    private mutating func refused(
        _ id: AdvertID, _ use: Use, _ interface: UInt32, _ fault: ResponderFault, at now: Moment
    ) {
        pause(use, at: now)
        faults[use] = fault
        advertisements[id]?.failed(on: interface)
        if advertisements[id]?.takeIsRegistered() == true { emit(.registered(id)) }
        if advertisements[id]?.takeIsRefused() == true { emit(.refused(id, fault)) }
    }

    private mutating func failed(_ use: Use, _ fault: ResponderFault, at now: Moment) {
        switch use {
        case .registration(let id, let interface):
            if fault == .nameConflict { return renamed(id, use, interface, at: now) }
            refused(id, use, interface, fault, at: now)
        case .browse(let type, let interface):
            faults[use] = fault
            pause(use, at: now)
            forgetPointers(type, on: interface, at: now)
        case .record(let type, let name, let kind):
            pause(use, at: now)
            let uid = services[type]?.table.forget(kind, of: name)
            changed(uid, type, at: now)
        case .address(let host, let kind):
            pause(use, at: now)
            hosts[host]?.forget(kind)
        }
    }

    /// Handles a change of a peer's instances; nil for none.
    private mutating func changed(_ uid: UID?, _ type: ServiceType, at now: Moment) {
        guard let uid else { return }
        for id in services[type]?.browses.keys.sorted() ?? [] { report(uid, type, to: id) }
        takeTurns(type, at: now)
        settle(at: now)
    }

    private mutating func report(_ uid: UID, _ type: ServiceType, to id: BrowseID) {
        guard let service = services[type], let browse = service.browses[id], browse.hidden != uid else {
            return  // [mdns.self]
        }
        emit(.browse(id, uid, service.table.peer(uid)))
    }

    private mutating func takeTurns(_ type: ServiceType, at now: Moment) {
        guard let turns = services[type]?.table.takeTurns(at: now) else { return }
        for name in turns.ended { endQueries(of: name, type) }
        for name in turns.started {
            for kind in SystemDNS.kinds { start(.record(type, name, kind), at: now) }
        }
    }

    private mutating func endQueries(of name: DNSName, _ type: ServiceType) {
        for kind in SystemDNS.kinds {
            end(.record(type, name, kind))
            _ = services[type]?.table.forget(kind, of: name)
        }
    }

    private static let kinds: [DNSType] = [.srv, .txt]
}
