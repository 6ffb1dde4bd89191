import Glibc
import MultipeerCore
import MultipeerDiscovery

/// The engine of multicast DNS and what it acts through, for as long as somebody uses it. Lives on the loop.
final class MulticastDNSDriver {
    /// The kernel's news; the sockets have tokens from 1 on.
    private static let newsToken = 0
    /// Calls of one turn for one socket: what comes beyond waits for the next, so that nobody keeps the loop from others.
    private static let calls = 4
    private static let retry = Duration.seconds(10)

    var engine: MulticastDNS
    private let settings: MulticastSettings
    private let loop: EventLoop
    private let monitor: NetlinkMonitor
    private var ports: MulticastPorts
    private var links: [UInt32: MulticastLink] = [:]
    /// Why some socket is missing; those are tried again from time to time.
    private var fault: SocketFault?
    private var nextTry = Moment.distantFuture

    /// Opens the sockets of every interface that takes part. Without any there is nothing to be had, and it says why, unless
    /// one has to wait for its address.
    init(
        _ settings: MulticastSettings, on loop: EventLoop, for client: any LoopClient
    ) throws(MultipeerError) {
        self.settings = settings
        self.loop = loop
        ports = MulticastPorts(on: loop)
        var randomness = SystemRandomness()
        engine = MulticastDNS(host: randomness.next(), seed: randomness.next(), hostTTL: settings.hostTTL)
        do throws(SocketFault) {
            monitor = try NetlinkMonitor()
        } catch {
            throw MultipeerError(
                .discovery, "the network interfaces of this machine cannot be listed: \(error)")
        }
        if let validationError = settings.validationError(about: monitor.table) { throw validationError }
        refresh(for: client)
        do throws(MultipeerError) {
            if !mayServeSoon { try check() }
            do throws(SocketFault) {
                try loop.register(
                    monitor.descriptor, for: client, token: MulticastDNSDriver.newsToken, interest: .readable)
            } catch {
                throw MultipeerError(.discovery, "the network interfaces cannot be watched: \(error)")
            }
        } catch {
            ports.closeAll()
            throw error
        }
    }

    private var now: Moment { EventLoop.currentMoment() }

    func close() {
        loop.deregister(monitor.descriptor)
        ports.closeAll()
    }

    /// Whether any interface takes part.
    var serves: Bool { !links.isEmpty }

    /// Whether one has to wait for its address alone.
    var mayServeSoon: Bool { fault == nil && settings.mayServeSoon(in: monitor.table) }

    /// Throws while no interface takes part.
    func check() throws(MultipeerError) {
        if !links.isEmpty { return }
        throw fault.map { MultipeerError(multicast: $0) } ?? settings.reason(in: monitor.table)
    }

    /// A descriptor can be read.
    func ready(_ token: Int, for client: any LoopClient) {
        if token == MulticastDNSDriver.newsToken {
            if monitor.read() { refresh(for: client) }
            return
        }
        guard let port = ports[token] else { return }
        for _ in 0..<MulticastDNSDriver.calls {
            let isMore = port.socket.receive(with: ports.receiveBuffer) { bytes, source in
                let arrival = PacketInfo(
                    scope: port.scope, family: port.family, from: source.host.bytes, port: source.port,
                    isOneShot: port.isOneShot)
                engine.receive(bytes, arrival, at: now)
            }
            if !isMore { return }
        }
    }

    /// Does what is due. The engine has something to do every few seconds, and notices by that when the machine slept.
    func advance(for client: any LoopClient) {
        let now = self.now
        if fault != nil, now >= nextTry { refresh(for: client) }
        if let due = engine.deadline, due <= now { engine.advance(to: now) }
    }

    /// Carries out what the engine decided on the network, and returns what is for its users.
    func carryOut(for client: any LoopClient) -> [MulticastDNS.Action] {
        engine.takeActions().filter { action in
            switch action {
            case .multicast(let bytes, let scope, let family): ports.send(bytes, scope, family)
            case .unicast(let bytes, let scope, let family, let host, let port):
                guard let host = SocketAddress.Host(bytes: host) else { return false }
                let there = host.isLinkLocal ? host.on(interface: scope) : host
                ports.send(bytes, scope, family, to: SocketAddress(there, port: port))
            case .ask(let bytes, let scope, let family): ports.ask(bytes, scope, family, for: client)
            case .registered, .renamed, .browse, .resolved: return true
            }
            return false
        }
    }

    /// Makes the sockets, and what the engine knows, follow the interfaces.
    private func refresh(for client: any LoopClient) {
        var found: [UInt32: MulticastLink] = [:]
        fault = nil
        nextTry = now + MulticastDNSDriver.retry
        for link in settings.links(in: monitor.table) {
            let (families, fault) = ports.open(link, for: client)
            self.fault = self.fault ?? fault
            if families.isEmpty { continue }
            found[link.scope.id] = link
            engine.scopeChanged(link.scope.limited(to: families), at: now)
        }
        for id in links.keys.sorted() where found[id] == nil {
            engine.scopeGone(id, at: now)
            ports.close(id)
        }
        links = found
    }
}

extension Scope {
    /// The same with those families alone that have a socket, and their addresses: nobody should dial others.
    fileprivate func limited(to families: Set<Family>) -> Scope {
        if families == self.families { return self }
        var scope = self
        scope.families = families
        scope.addresses = addresses.filter { families.contains($0.family) }
        return scope
    }
}

extension MultipeerError {
    /// What the sockets of multicast DNS were refused with.
    fileprivate init(multicast fault: SocketFault) {
        switch fault {
        case .addressInUse:
            self.init(
                .discovery,
                "another program has UDP port 5353 for itself, perhaps avahi-daemon with disallow-other-stacks=yes: "
                    + "'ss -ulpn sport = :5353' tells which; peers can still be linked by connection data")
        default:
            self.init(
                .discovery,
                "multicast DNS cannot be spoken here: \(fault); peers can still be linked by connection data")
        }
    }
}
