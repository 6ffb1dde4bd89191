#if SystemDiscovery
    package import MultipeerCore
    package import MultipeerDiscovery
    import MultipeerPlatform

    /// Discovery by the system's own responder: the operations of `dns_sd.h` and their descriptors around one engine.
    ///
    /// An actor pinned to its loop, which watches the descriptors. Of a configuration only the interfaces count: families, and how
    /// long a peer stays visible, are decided by the responder.
    package actor SystemDiscovery: LoopDiscovery {
        nonisolated package let loop: EventLoop
        nonisolated package var unownedExecutor: UnownedSerialExecutor {
            unsafe loop.asUnownedSerialExecutor()
        }

        nonisolated package let wakeup = Wakeup()
        nonisolated let settings: MulticastSettings
        nonisolated let withdrawals = Locked<[DiscoveryWithdrawal]>([])

        /// Present while anything is advertised, browsed or resolved.
        var engine: SystemDNS?
        private var operations: [SystemDNS.OperationID: DNSServiceOperation] = [:]
        var requests = DiscoveryRequests()

        private var now: Moment { EventLoop.currentMoment() }

        /// Creates a backend; the responder is not used before the first call that advertises, browses or resolves.
        package init(_ settings: MulticastSettings, on loop: EventLoop? = nil) throws(MultipeerError) {
            self.settings = settings
            self.loop = try SystemDiscovery.chosenLoop(loop)
        }

        private static let running = SharedDiscovery<SystemDiscovery>()

        /// Returns the instance shared by all users in the process with these settings, as long as one of them keeps it.
        package static func shared(
            for configuration: DiscoveryConfiguration
        ) throws(MultipeerError) -> SystemDiscovery {
            let settings = try configuration.settings.interfacesAlone
            return try running.discovery(for: settings) { () throws(MultipeerError) in
                try SystemDiscovery(settings)
            }
        }
    }

    // MARK: what callers call

    extension SystemDiscovery {
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
            guard requests.hasRoom else { throw MultipeerError(MulticastDNSFault.tooMany) }
            let announcement: AdvertID
            if let known = requests.announcement(of: advert) {
                announcement = known
                engine?.update(known, info: advert.info, port: advert.port, at: now)
            } else {
                announcement = try order { (engine: inout SystemDNS, now) throws(MulticastDNSFault) in
                    try engine.advertise(advert, at: now)
                }
            }
            let advertised = requests.add(advert, to: announcement)
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
            let id = try order { (engine: inout SystemDNS, now) throws(MulticastDNSFault) in
                try engine.browse(type, hiding: local?.uid, at: now)
            }
            let feed = requests.add(id)
            settle()
            if !waiting, let obstacle {
                stopBrowsing(id)
                throw obstacle
            }
            return events(feed, of: id)
        }

        package var obstacle: MultipeerError? { engine?.obstacle.map { MultipeerError(system: $0) } }

        package func resolve(
            _ peer: PeerID, _ type: ServiceType, within timeLimit: Duration
        ) async throws(MultipeerError) -> [SocketAddress] {
            let id = try order { (engine: inout SystemDNS, now) throws(MulticastDNSFault) in
                engine.resolve(peer.uid, of: type, within: timeLimit, at: now)
            }
            let answer = requests.add(id)
            settle()
            return try await resolved(answer, of: peer)
        }

        /// The system's responder does not say who has answered, nor when it asks: what shows that the peer is there is that its
        /// address can be reached.
        package func reached(_ peer: PeerID, _ type: ServiceType) async { requests.cameBack(peer.uid) }

        package func regain(_ peer: PeerID, _ type: ServiceType) async {}

        package func miss(_ peer: PeerID, _ type: ServiceType) async {
            engine?.reconfirm(peer.uid, of: type)
            settle()
        }

        /// Returns when the responder was asked to say goodbye.
        func stop(_ id: AdvertisementTable.ID) { withdraw(id) }

        func apply(_ change: AdvertisementTable.Change) {
            switch change {
            case .none: break
            case .announce(let id, let advert):
                engine?.update(id, info: advert.info, port: advert.port, at: now)
            case .withdraw(let id): engine?.withdraw(id)
            }
            settle()
        }

        func stopBrowsing(_ id: BrowseID) {
            guard requests.remove(id) else { return }
            engine?.stopBrowsing(id)
            settle()
        }

        /// Gives an order to the engine, which is created if necessary.
        private func order<Order>(
            _ body: (inout SystemDNS, Moment) throws(MulticastDNSFault) -> Order
        ) throws(MultipeerError) -> Order {
            var engine = try opened()
            do throws(MulticastDNSFault) {
                let order = try body(&engine, now)
                self.engine = engine
                return order
            } catch {
                throw MultipeerError(error)
            }
        }

        private func opened() throws(MultipeerError) -> SystemDNS {
            if let engine { return engine }
            return try SystemDNS(settings)
        }
    }

    // MARK: what the loop calls

    extension SystemDiscovery {
        nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
            assumeIsolated { $0.process(SystemDNS.OperationID(token: token)) }
        }

        /// Work that is due is done at the end of the turn.
        nonisolated package func deadlineReached() {}

        nonisolated package func wokenUp() { assumeIsolated { $0.carryOutWithdrawals() } }

        nonisolated package func turnEnded() { assumeIsolated { $0.settle() } }

        private func process(_ id: SystemDNS.OperationID) {
            guard let operation = operations[id] else { return }
            operation.process()
            for event in operation.takeEvents() { engine?.receive(event, from: id, at: now) }
        }

        /// Carries out the engine's actions, notifies its users, and sets the next deadline.
        private func settle() {
            if let deadline = engine?.deadline, deadline <= now { engine?.advance(to: now) }
            // What is started may fail at once, which leads to further actions.
            while let actions = engine?.takeActions(), !actions.isEmpty {
                for action in actions { carryOut(action) }
            }
            if engine?.isIdle == true { engine = nil }
            loop.setDeadline(self, engine?.deadline)
        }

        private func carryOut(_ action: SystemDNS.Action) {
            switch action {
            case .start(let id, let operation): start(id, operation)
            case .update(let id, let txt):
                do throws(ResponderFault) { try operations[id]?.update(txt: txt) } catch {
                    engine?.receive(.failed(error), from: id, at: now)
                }
            case .end(let id):
                guard let operation = operations.removeValue(forKey: id) else { return }
                loop.deregister(operation.descriptor)
            case .reconfirm(let name, let type, let data, let interface):
                DNSServiceOperation.reconfirm(name, type, data, on: interface)
            case .registered(let id): requests.registrationEnded(of: id, .registered)
            case .refused(let id, let fault):
                requests.registrationEnded(of: id, .refused(MultipeerError(system: fault)))
            case .browse(let id, let uid, let peer): requests.report(peer, uid, to: id)
            case .resolved(let id, let resolution): requests.resolved(id, resolution)
            }
        }

        private func start(_ id: SystemDNS.OperationID, _ operation: SystemDNS.Operation) {
            do throws(ResponderFault) {
                let started = try DNSServiceOperation(operation)
                do throws(SocketFault) {
                    try loop.register(started.descriptor, for: self, token: id.token, interest: .readable)
                } catch {
                    throw .exhausted
                }
                operations[id] = started
                for event in started.takeEvents() { engine?.receive(event, from: id, at: now) }
            } catch {
                engine?.receive(.failed(error), from: id, at: now)
            }
        }
    }

    extension MulticastSettings {
        /// What counts of the settings here, so that users who differ only in the rest share one backend.
        fileprivate var interfacesAlone: MulticastSettings {
            MulticastSettings(interfaces: interfaces, hostTTL: 0, families: [])
        }
    }

    extension SystemDNS {
        /// Throws when an interface of the settings does not exist.
        fileprivate init(_ settings: MulticastSettings) throws(MultipeerError) {
            let table: InterfaceTable
            do throws(SocketFault) { table = try InterfaceMonitors.open().table } catch {
                throw MultipeerError(
                    .discovery, "the network interfaces of this machine cannot be listed: \(error)")
            }
            if let validationError = settings.validationError(about: table) { throw validationError }
            let own = Set(table.all.filter(\.isLoopback).map(\.index))
            let chosen: [UInt32] =
                switch settings.interfaces {
                case .all: [0]
                case .loopback: ServiceDiscovery.localInterface.map { [$0] } ?? own.sorted()
                case .only(let names): table.all.filter { names.contains($0.name) }.map(\.index)
                }
            if chosen.isEmpty {
                throw MultipeerError(.discovery, "this machine has no loopback interface")
            }
            let local = ServiceDiscovery.localInterface.map { [$0] } ?? []
            self.init(
                interfaces: chosen, loopback: own.union(local), countsRepeats: ServiceDiscovery.countsRepeats)
        }
    }

    extension MultipeerError {
        fileprivate init(system fault: ResponderFault) {
            self.init(.discovery, "the system's responder: \(fault); \(MultipeerError.withoutDiscovery)")
        }
    }
#endif
