package import MultipeerCore
package import MultipeerDiscovery

/// A network inside this process: peers that use the same object find each other, at once.
///
/// For tests of applications: `DiscoveryConfiguration.inMemory(_:)` makes browsers and advertisers use it. Peers are dialled at
/// 127.0.0.1.
public final class InMemoryDiscovery: DiscoveryBackend {
    private let network = Network()

    /// Creates a network without peers.
    public init() {}

    /// Announces a peer to those that browse here.
    package func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        if advertisement.port == 0 { throw .portMissing }
        return Announced(network, await network.add(advertisement))
    }

    /// Finds the peers that are announced here, now and later.
    package func browse(
        _ type: ServiceType, hiding local: PeerID?
    ) async throws(MultipeerError) -> DiscoveryEvents {
        let feed = DiscoveryFeed()
        let id = await network.browse(type, hiding: local?.uid, telling: feed)
        return DiscoveryEvents(feed) { [network] in
            Task.following { await network.stopBrowsing(id) }
        }
    }

    /// Returns the address of a peer; empty when it is unknown until the timeout.
    package func resolve(
        _ peer: PeerID, _ type: ServiceType, within timeLimit: Duration
    ) async throws(MultipeerError) -> [SocketAddress] {
        let end = EventLoop.currentMoment() + timeLimit
        while true {
            if let port = await network.port(of: peer.uid, type) {
                return [SocketAddress(.loopbackV4, port: port)]
            }
            if EventLoop.currentMoment() >= end { return [] }
            // Polling is enough here, and spares notifications when a peer appears.
            guard (try? await Pause.sleep(for: .milliseconds(10))) != nil else {
                throw MultipeerError(.cancelled, "looking for \(peer) was cancelled")
            }
        }
    }

    /// Does nothing: here a peer is gone only when it stops its announcement.
    package func miss(_ peer: PeerID, _ type: ServiceType) async {}

    package func reached(_ peer: PeerID, _ type: ServiceType) async { await network.cameBack(peer.uid, type) }

    package func regain(_ peer: PeerID, _ type: ServiceType) async {}
}

extension InMemoryDiscovery {
    private struct Announced: OngoingAdvertisement {
        /// Withdraws the announcement when it is released.
        final class Handle: Sendable {
            let network: Network
            let id: Int

            init(_ network: Network, _ id: Int) { (self.network, self.id) = (network, id) }

            deinit {
                Task.following { [network, id] in await network.remove(id) }
            }
        }

        let handle: Handle

        init(_ network: Network, _ id: Int) { handle = Handle(network, id) }

        func update(_ info: DiscoveryInfo) async throws(MultipeerError) {
            guard await handle.network.update(handle.id, info) else { throw .advertisementStopped }
        }

        func stop() async { await handle.network.remove(handle.id) }
    }

    private actor Network {
        private struct Browse {
            let type: ServiceType
            let hidden: UID?
            let feed: DiscoveryFeed
        }

        private var advertisements: [Int: Advertisement] = [:]
        private var browses: [Int: Browse] = [:]
        private var lastID = 0

        func add(_ advertisement: Advertisement) -> Int {
            lastID += 1
            advertisements[lastID] = advertisement
            tell(of: advertisement)
            return lastID
        }

        func update(_ id: Int, _ info: DiscoveryInfo) -> Bool {
            guard var advertisement = advertisements[id] else { return false }
            advertisement.info = info
            advertisements[id] = advertisement
            tell(of: advertisement)
            return true
        }

        func remove(_ id: Int) {
            guard let advertisement = advertisements.removeValue(forKey: id) else { return }
            tell(of: advertisement)
        }

        func browse(_ type: ServiceType, hiding uid: UID?, telling feed: DiscoveryFeed) -> Int {
            lastID += 1
            browses[lastID] = Browse(type: type, hidden: uid, feed: feed)
            for (_, known) in advertisements.sorted(by: { $0.key < $1.key })
            where known.type == type && known.peer.uid != uid {
                feed.note(known.peer.uid, known.found)
            }
            return lastID
        }

        func stopBrowsing(_ id: Int) { browses[id] = nil }

        func cameBack(_ uid: UID, _ type: ServiceType) {
            for (_, browse) in browses.sorted(by: { $0.key < $1.key }) where browse.type == type {
                browse.feed.cameBack(uid)
            }
        }

        func port(of uid: UID, _ type: ServiceType) -> UInt16? { latest(uid, type)?.port }

        /// Returns the latest of several announcements of one peer.
        private func latest(_ uid: UID, _ type: ServiceType) -> Advertisement? {
            advertisements.filter { $0.value.peer.uid == uid && $0.value.type == type }
                .max { $0.key < $1.key }?.value
        }

        private func tell(of advertisement: Advertisement) {
            let (peer, type) = (advertisement.peer, advertisement.type)
            let known = latest(peer.uid, type)
            for (_, browse) in browses.sorted(by: { $0.key < $1.key })
            where browse.type == type && browse.hidden != peer.uid {
                browse.feed.note(peer.uid, known?.found)
            }
        }
    }
}

extension Advertisement {
    fileprivate var found: PresentPeer {
        PresentPeer(DiscoveredPeer(peer: peer, info: info.entries, codeNumber: info.codeNumber))
    }
}

extension MultipeerError {
    package static var portMissing: MultipeerError {
        MultipeerError(.invalidArgument, "an advertisement needs the port at which the peer can be invited")
    }

    package static var advertisementStopped: MultipeerError {
        MultipeerError(.cancelled, "the advertisement was stopped")
    }
}
