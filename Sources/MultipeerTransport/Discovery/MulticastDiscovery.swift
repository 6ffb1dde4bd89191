package import MultipeerCore
package import MultipeerDiscovery

/// Multicast DNS on the interfaces of this machine: sockets, timers and the kernel's notifications around one engine.
///
/// An actor pinned to its loop. The sockets are open while there is a user that advertises, browses or resolves, and until the
/// last goodbye has been sent; otherwise nothing is registered, and nothing runs.
package actor MulticastDiscovery: LoopDiscovery {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated package let wakeup = Wakeup()
    nonisolated let settings: MulticastSettings
    nonisolated let withdrawals = Locked<[DiscoveryWithdrawal]>([])

    var driver: MulticastDNSDriver?
    var requests = DiscoveryRequests()
    /// Callers that wait until the goodbyes have been sent, each with its latest moment.
    var departures: [(until: Moment, signal: Promise<Void>)] = []

    /// Those that are to know of another machine that announces a peer of this one.
    var duplicateWaits: [(uid: UID, found: Promise<String?>)] = []
    /// The address of that machine, for each peer that has one.
    var duplicates: [UID: String] = [:]

    /// Callers that wait until an interface has an address, each with its latest moment.
    var arrivals: [(until: Moment, signal: Promise<Void>)] = []

    /// Longer than duplicate address detection takes.
    static let addressTimeout = Duration.seconds(4)
    /// Goodbyes take 160 ms.
    static let goodbyeTimeout = Duration.milliseconds(250)

    /// Not the start of the turn, before which orders would have been given.
    private var now: Moment { EventLoop.currentMoment() }

    /// Creates a backend; the network is not used before the first call that advertises, browses or resolves.
    package init(
        _ configuration: DiscoveryConfiguration, on loop: EventLoop? = nil
    ) throws(MultipeerError) {
        try self.init(configuration.settings, on: loop)
    }

    package init(_ settings: MulticastSettings, on loop: EventLoop?) throws(MultipeerError) {
        self.settings = settings
        self.loop = try MulticastDiscovery.chosenLoop(loop)
    }

    private static let running = SharedDiscovery<MulticastDiscovery>()

    /// Returns the instance shared by all users in the process with these settings, as long as one of them keeps it.
    package static func shared(
        for configuration: DiscoveryConfiguration
    ) throws(MultipeerError) -> MulticastDiscovery {
        let settings = try configuration.settings
        return try running.discovery(for: settings) { () throws(MultipeerError) in
            try MulticastDiscovery(settings, on: nil)
        }
    }

    /// Returns that of a simulated machine. It ends with the machine, whose sockets are gone: without a goodbye.
    static func running(
        on host: VirtualHost, for configuration: DiscoveryConfiguration
    ) throws(MultipeerError) -> MulticastDiscovery {
        let settings = MulticastSettings(
            interfaces: .all, hostTTL: try configuration.settings.hostTTL, families: [.v4])
        return try host.discovery.discovery(for: settings) { () throws(MultipeerError) in
            let discovery = try MulticastDiscovery(settings, on: host.loop)
            host.onEnd { [weak discovery] in
                guard let discovery else { return }
                Task.following { await discovery.ended(.killed(host)) }
            }
            return discovery
        }
    }

    private func ended(_ error: MultipeerError) {
        requests.finish(error)
        driver?.close()
        driver = nil
        depart()
        arrivals.forEach { $0.signal.send(()) }
        for wait in duplicateWaits { wait.found.send(nil) }
        duplicateWaits = []
        setDeadline()
    }
}

// MARK: what callers call

extension MulticastDiscovery {
    /// Whether its sockets are open.
    package var isOpen: Bool { driver != nil }

    package func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        try await advertise(advertisement, waiting: false)
    }

    package func advertise(
        _ advertisement: Advertisement, waiting: Bool
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        if advertisement.port == 0 { throw .portMissing }
        let advert = Advert(
            peer: advertisement.peer, type: advertisement.type, port: advertisement.port,
            info: advertisement.info)
        try await addressesAreThere(waiting)
        guard requests.hasRoom else { throw MultipeerError(MulticastDNSFault.tooMany) }
        let announcement: AdvertID
        if let known = requests.announcement(of: advert) {
            announcement = known
            driver?.engine.update(known, info: advert.info, port: advert.port, at: now)
        } else {
            announcement = try order(waiting) { (engine: inout MulticastDNS, now) throws(MulticastDNSFault) in
                try engine.advertise(advert, at: now)
            }
        }
        let advertised = requests.add(advert, to: announcement)
        if waiting, let obstacle { advertised.registration.send(.refused(obstacle)) }
        settle()
        return try await registered(advertised, of: advertisement.peer, waiting: waiting)
    }

    package func browse(
        _ type: ServiceType, hiding local: PeerID?
    ) async throws(MultipeerError) -> DiscoveryEvents {
        try await browse(type, hiding: local, waiting: false)
    }

    package func browse(
        _ type: ServiceType, hiding local: PeerID?, waiting: Bool
    ) async throws(MultipeerError) -> DiscoveryEvents {
        try await addressesAreThere(waiting)
        let id = try order(waiting) { (engine: inout MulticastDNS, now) throws(MulticastDNSFault) in
            try engine.browse(type, hiding: local?.uid, at: now)
        }
        let feed = requests.add(id)
        // At once, as the sockets: the end of a search comes before that of a session.
        loop.host?.onEnd { [weak feed] in feed?.finish() }
        settle()
        return events(feed, of: id)
    }

    package var obstacle: MultipeerError? {
        do throws(MultipeerError) { try driver?.check() } catch { return error }
        return nil
    }

    package func resolve(
        _ peer: PeerID, _ type: ServiceType, within timeLimit: Duration
    ) async throws(MultipeerError) -> [SocketAddress] {
        try await addressesAreThere()
        let id = try order { (engine: inout MulticastDNS, now) throws(MulticastDNSFault) in
            engine.resolve(peer.uid, of: type, within: timeLimit, at: now)
        }
        let answer = requests.add(id)
        settle()
        return try await resolved(answer, of: peer)
    }

    package func miss(_ peer: PeerID, _ type: ServiceType) async {
        driver?.engine.miss(peer.uid, of: type, at: now)
        settle()
    }

    package func reached(_ peer: PeerID, _ type: ServiceType) async {
        driver?.engine.reached(peer.uid, of: type, at: now)
        settle()
    }

    package func refused(_ peer: PeerID, _ type: ServiceType) async {
        driver?.engine.refused(peer.uid, of: type, at: now)
        settle()
    }

    package func regain(_ peer: PeerID, _ type: ServiceType) async {
        driver?.engine.regain(peer.uid, of: type)
        settle()
    }

    package func report(duplicateOf uid: UID, to found: Promise<String?>) {
        duplicateWaits.removeAll { $0.found.isSent || $0.found === found }
        if let known = duplicates[uid] {
            found.send(known)
        } else {
            duplicateWaits.append((uid, found))
        }
    }

    private func duplicated(_ uid: UID, by addresses: [[UInt8]]) {
        let hosts = addresses.compactMap { SocketAddress.Host(bytes: $0) }
        guard duplicates[uid] == nil, let host = hosts.first(where: \.isV4) ?? hosts.first else { return }
        duplicates[uid] = "\(host)"
        for wait in duplicateWaits where wait.uid == uid { wait.found.send("\(host)") }
        duplicateWaits.removeAll { $0.found.isSent }
    }

    /// Returns when the goodbyes have been sent.
    func stop(_ id: AdvertisementTable.ID) async {
        guard requests.contains(id) else { return }
        let departure = Promise<Void>()
        departures.append((now + MulticastDiscovery.goodbyeTimeout, departure))
        withdraw(id)
        await departure.value()
    }

    func stopBrowsing(_ id: BrowseID) {
        guard requests.remove(id) else { return }
        driver?.engine.stopBrowsing(id, at: now)
    }

    func apply(_ change: AdvertisementTable.Change) {
        switch change {
        case .none: break
        case .announce(let id, let advert):
            driver?.engine.update(id, info: advert.info, port: advert.port, at: now)
        case .withdraw(let id): driver?.engine.withdraw(id, at: now)
        }
        settle()
    }

    /// Gives an order to the engine, which is started if necessary.
    private func order<Order>(
        _ waiting: Bool = false,
        _ body: (inout MulticastDNS, Moment) throws(MulticastDNSFault) -> Order
    ) throws(MultipeerError) -> Order {
        let driver = try opened(waiting)
        do throws(MulticastDNSFault) { return try body(&driver.engine, now) } catch {
            closeIfIdle()
            throw MultipeerError(error)
        }
    }

    /// Waits for addresses: a machine that has just joined a network has to check them for duplicates first. `waiting`: the caller
    /// goes on without any.
    private func addressesAreThere(_ waiting: Bool = false) async throws(MultipeerError) {
        let opened = try opened(waiting)
        if opened.serves { return }
        guard opened.mayServeSoon else {
            if waiting { return }
            defer { closeIfIdle() }
            return try opened.check()
        }
        let arrival = Promise<Void>()
        arrivals.append((now + MulticastDiscovery.addressTimeout, arrival))
        setDeadline()
        await arrival.value(onCancel: { arrival.send(()) })
        arrivals.removeAll { $0.signal === arrival }
        do throws(MultipeerError) {
            if Task.isCancelled { throw MultipeerError(.cancelled, "discovery was cancelled") }
            if !waiting { try driver?.check() }
        } catch {
            closeIfIdle()
            throw error
        }
    }

    private func arrive() {
        guard let driver else { return }
        for arrival in arrivals where driver.serves || arrival.until <= now { arrival.signal.send(()) }
        arrivals.removeAll { driver.serves || $0.until <= now }
    }

    private func opened(_ waiting: Bool) throws(MultipeerError) -> MulticastDNSDriver {
        if let driver { return driver }
        if let host = loop.host, !host.isAlive {
            throw .killed(host)
        }
        let new = try MulticastDNSDriver(settings, on: loop, for: self, waiting: waiting)
        driver = new
        return new
    }
}

// MARK: what the loop calls

extension MulticastDiscovery {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.driver?.ready(token, for: $0) }
    }

    /// Work that is due is done at the end of the turn.
    nonisolated package func deadlineReached() {}

    nonisolated package func wokenUp() { assumeIsolated { $0.carryOutWithdrawals() } }

    nonisolated package func turnEnded() { assumeIsolated { $0.settle() } }

    /// Carries out the engine's actions, notifies its users, and sets the next deadline.
    private func settle() {
        guard let driver else { return }
        driver.advance(for: self)
        for action in driver.carryOut(for: self) { tell(action) }
        arrive()
        depart()
        closeIfIdle()
        setDeadline()
    }

    private func tell(_ action: MulticastDNS.Action) {
        switch action {
        // The advertisement is registered on every interface.
        case .registered(let id): requests.registrationEnded(of: id, .registered)
        case .browse(let id, let uid, let peer): requests.report(peer, uid, to: id)
        case .returned(let id, let uid): requests.cameBack(uid, to: id)
        case .resolved(let id, let resolution): requests.resolved(id, resolution)
        case .duplicated(let uid, let addresses): duplicated(uid, by: addresses)
        case .renamed, .multicast, .unicast, .ask: break
        }
    }

    private func depart() {
        let isQuiet = driver?.engine.isQuiet ?? true
        let now = self.now
        let gone = departures.filter { isQuiet || $0.until <= now }
        departures.removeAll { isQuiet || $0.until <= now }
        for departure in gone { departure.signal.send(()) }
    }

    /// Closes the driver once it has no users and nothing more to send.
    private func closeIfIdle() {
        guard let driver, requests.isEmpty, arrivals.isEmpty, driver.engine.isQuiet else { return }
        driver.close()
        self.driver = nil
        duplicates = [:]
        depart()
    }

    private func setDeadline() {
        guard let driver else { return loop.setDeadline(self, nil) }
        let waits = departures.map(\.until) + arrivals.map(\.until)
        let moments = [driver.engine.deadline, driver.retryTime].compactMap(\.self) + waits
        loop.setDeadline(self, moments.min())
    }
}

extension MultipeerError {
    init(_ fault: MulticastDNSFault) {
        switch fault {
        case .tooMany:
            self.init(
                .discovery,
                "a process has at most \(MulticastDNS.mostOrders) advertisements and browses")
        case .advertisedAlready:
            self.init(.discovery, "this peer is advertised already for this service type")
        case .shutDown: self.init(.discovery, "discovery is being shut down")
        }
    }
}
