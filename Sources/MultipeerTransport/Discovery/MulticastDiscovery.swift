package import MultipeerCore
package import MultipeerDiscovery

/// Multicast DNS on the interfaces of this machine: sockets, timers and the kernel's news around one engine.
///
/// An actor pinned to its loop. The sockets are open while somebody advertises, browses or resolves, and until the last
/// goodbye has been said; in between nothing is registered, and nothing runs.
package actor MulticastDiscovery: LoopClient, DiscoveryBackend {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated package let wakeup = Wakeup()
    nonisolated let settings: MulticastSettings
    /// What was let go of on other threads.
    nonisolated let withdrawals = Locked<[Withdrawal]>([])

    enum Withdrawal: Sendable {
        case advertisement(AdvertID)
        case browse(BrowseID)
    }

    var driver: MulticastDNSDriver?
    var registrations: [AdvertID: Promise<Bool>] = [:]
    var adverts: Set<AdvertID> = []
    var browses: [BrowseID: DiscoveryFeed] = [:]
    var resolutions: [ResolveID: Promise<Resolution?>] = [:]
    /// Who waits until the goodbyes have been said, and how long at the most.
    var departures: [(until: Moment, signal: Promise<Void>)] = []

    /// Who waits until an interface has an address, and how long at the most.
    var arrivals: [(until: Moment, signal: Promise<Void>)] = []

    /// Longer than it takes to find out that nobody else has an address.
    static let addressTimeout = Duration.seconds(4)
    /// Goodbyes take 160 ms.
    static let goodbyeTimeout = Duration.milliseconds(250)

    /// Not the start of the turn, before which orders would have been given.
    private var now: Moment { EventLoop.currentMoment() }

    /// Nothing touches the network before somebody advertises, browses or resolves.
    package init(
        _ configuration: DiscoveryConfiguration, on loop: EventLoop? = nil
    ) throws(MultipeerError) {
        try self.init(configuration.settings, on: loop)
    }

    package init(_ settings: MulticastSettings, on loop: EventLoop?) throws(MultipeerError) {
        self.settings = settings
        if let loop {
            self.loop = loop
        } else {
            self.loop = try MultipeerError.translating { () throws(SessionFault) in
                try SessionFault.network { () throws(SocketFault) in try EventLoop.next() }
            }
        }
    }

    private struct Weak: Sendable {
        weak var discovery: MulticastDiscovery?
    }

    private static let running = Locked<[MulticastSettings: Weak]>([:])

    /// The one that all of the process share who configure it alike, as long as one of them keeps it.
    package static func shared(
        for configuration: DiscoveryConfiguration
    ) throws(MultipeerError) -> MulticastDiscovery {
        let settings = try configuration.settings
        return try running.withLock { running throws(MultipeerError) in
            if let known = running[settings]?.discovery { return known }
            let new = try MulticastDiscovery(settings, on: nil)
            running[settings] = Weak(discovery: new)
            return new
        }
    }
}

// MARK: what callers ask

extension MulticastDiscovery {
    /// Whether its sockets are open.
    package var isOpen: Bool { driver != nil }

    package func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        if advertisement.port == 0 { throw .portMissing }
        let advert = Advert(
            peer: advertisement.peer, type: advertisement.type, port: advertisement.port,
            info: advertisement.info)
        try await addressesAreThere()
        let id = try order { (engine: inout MulticastDNS, now) throws(MulticastDNSFault) in
            try engine.advertise(advert, at: now)
        }
        let registration = Promise<Bool>()
        registrations[id] = registration
        adverts.insert(id)
        settle()
        guard await registration.value(onCancel: { registration.send(false) }) else {
            withdraw(id)
            throw MultipeerError(.cancelled, "advertising \(advertisement.peer) was cancelled")
        }
        return MulticastAdvertisement(self, id)
    }

    package func browse(
        _ type: ServiceType, hiding local: PeerID?
    ) async throws(MultipeerError) -> DiscoveryEvents {
        try await addressesAreThere()
        let id = try order { (engine: inout MulticastDNS, now) throws(MulticastDNSFault) in
            try engine.browse(type, hiding: local?.uid, at: now)
        }
        let feed = DiscoveryFeed()
        browses[id] = feed
        settle()
        // It keeps this actor: who holds the events is a user.
        return DiscoveryEvents(feed) { self.leave(.browse(id)) }
    }

    package func resolve(
        _ peer: PeerID, _ type: ServiceType, within patience: Duration
    ) async throws(MultipeerError) -> [SocketAddress] {
        try await addressesAreThere()
        let id = try order { (engine: inout MulticastDNS, now) throws(MulticastDNSFault) in
            engine.resolve(peer.uid, of: type, within: patience, at: now)
        }
        let answer = Promise<Resolution?>()
        resolutions[id] = answer
        settle()
        guard let resolution = await answer.value(onCancel: { answer.send(nil) }) else {
            throw MultipeerError(.cancelled, "looking for \(peer) was cancelled")
        }
        return resolution.candidates.compactMap { SocketAddress($0) }
    }

    package func reconfirm(_ peer: PeerID, _ type: ServiceType) async {
        driver?.engine.reconfirm(peer.uid, of: type, at: now)
        settle()
    }

    func update(_ id: AdvertID, _ info: DiscoveryInfo) throws(MultipeerError) {
        guard adverts.contains(id) else { throw .advertisementStopped }
        driver?.engine.update(id, info: info, at: now)
        settle()
    }

    /// Returns when the goodbyes have been said.
    func stop(_ id: AdvertID) async {
        guard adverts.contains(id) else { return }
        let departure = Promise<Void>()
        departures.append((now + MulticastDiscovery.goodbyeTimeout, departure))
        withdraw(id)
        await departure.value()
    }

    /// From any thread, and at once: what nobody wants any more is ended on the loop.
    nonisolated func leave(_ leftover: Withdrawal) {
        withdrawals.withLock { $0.append(leftover) }
        loop.wake(self)
    }

    private func withdraw(_ id: AdvertID) {
        guard adverts.remove(id) != nil else { return }
        registrations.removeValue(forKey: id)?.send(false)
        driver?.engine.withdraw(id, at: now)
        settle()
    }

    /// Gives an order to the engine, which is started if need be.
    private func order<Order>(
        _ body: (inout MulticastDNS, Moment) throws(MulticastDNSFault) -> Order
    ) throws(MultipeerError) -> Order {
        let driver = try opened()
        do throws(MulticastDNSFault) { return try body(&driver.engine, now) } catch {
            closeIfIdle()
            throw MultipeerError(error)
        }
    }

    /// A machine that has just joined a network has to try its addresses first.
    private func addressesAreThere() async throws(MultipeerError) {
        let opened = try opened()
        if opened.serves { return }
        guard opened.mayServeSoon else {
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
            try driver?.check()
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

    private func opened() throws(MultipeerError) -> MulticastDNSDriver {
        if let driver { return driver }
        let new = try MulticastDNSDriver(settings, on: loop, for: self)
        driver = new
        return new
    }
}

// MARK: what the loop brings

extension MulticastDiscovery {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.driver?.ready(token, for: $0) }
    }

    /// What is due is done at the end of the turn.
    nonisolated package func deadlineReached() {}

    nonisolated package func wokenUp() {
        assumeIsolated { discovery in
            for leftover in discovery.withdrawals.withLock({ $0.take() }) {
                switch leftover {
                case .advertisement(let id): discovery.withdraw(id)
                case .browse(let id):
                    guard discovery.browses.removeValue(forKey: id) != nil else { continue }
                    discovery.driver?.engine.stopBrowsing(id, at: discovery.now)
                }
            }
        }
    }

    nonisolated package func turnEnded() { assumeIsolated { $0.settle() } }

    /// Carries out what the engine decided, tells its users, and sets the next deadline.
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
        case .registered(let id): registrations.removeValue(forKey: id)?.send(true)
        case .browse(let id, let uid, let peer): browses[id]?.note(uid, peer)
        case .resolved(let id, let resolution): resolutions.removeValue(forKey: id)?.send(resolution)
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

    /// Once nobody uses it and nothing more is to be said.
    private func closeIfIdle() {
        guard let driver, adverts.isEmpty, browses.isEmpty, resolutions.isEmpty, arrivals.isEmpty,
            driver.engine.isQuiet
        else {
            return
        }
        driver.close()
        self.driver = nil
        depart()
    }

    private func setDeadline() {
        guard let driver else { return loop.setDeadline(self, nil) }
        let waits = departures.map(\.until) + arrivals.map(\.until)
        let moments = [driver.engine.deadline].compactMap(\.self) + waits
        loop.setDeadline(self, moments.min())
    }
}

extension [MulticastDiscovery.Withdrawal] {
    fileprivate mutating func take() -> Self {
        defer { self = [] }
        return self
    }
}

extension MultipeerError {
    fileprivate init(_ fault: MulticastDNSFault) {
        switch fault {
        case .tooMany:
            self.init(
                .discovery,
                "a process has \(MulticastDNS.mostOrders) advertisements and browses at the most")
        case .advertisedAlready:
            self.init(.discovery, "this peer is advertised already for this service type")
        case .shutDown: self.init(.discovery, "discovery is being shut down")
        }
    }
}
