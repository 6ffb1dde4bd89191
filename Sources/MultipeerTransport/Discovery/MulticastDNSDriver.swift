import MultipeerCore
import MultipeerDiscovery

/// The engine of multicast DNS with its sockets, for as long as it is in use. Lives on the loop.
final class MulticastDNSDriver {
    /// The token of the kernel's notifications; the sockets have tokens from 1 on.
    private static let newsToken = 0
    /// The maximum number of calls in one turn for one socket: the rest waits for the next, so that no socket blocks the loop.
    private static let calls = 4
    private static let retry = Duration.seconds(10)

    var engine: MulticastDNS
    private let settings: MulticastSettings
    private let loop: EventLoop
    private let monitor: any InterfaceTableMonitor
    private var ports: MulticastPorts
    private var links: [UInt32: MulticastLink] = [:]
    /// Why a socket is missing; missing sockets are retried from time to time.
    private var fault: SocketFault?
    private var nextTry = Moment.distantFuture

    /// Opens the sockets of every interface that takes part. If there is none, it throws the reason, unless an interface still
    /// waits for its address, or with `waiting`, for one that takes part later.
    init(
        _ settings: MulticastSettings, on loop: EventLoop, for client: any LoopClient, waiting: Bool
    ) throws(MultipeerError) {
        self.settings = settings
        self.loop = loop
        ports = MulticastPorts(on: loop)
        var randomness = SystemRandomness()
        engine = MulticastDNS(host: randomness.next(), seed: randomness.next(), hostTTL: settings.hostTTL)
        do throws(SocketFault) {
            monitor =
                if let host = loop.host { VirtualInterfaces(host) } else { try InterfaceMonitors.open() }
        } catch {
            throw MultipeerError(
                .discovery, "the network interfaces of this machine cannot be listed: \(error)")
        }
        if let validationError = settings.validationError(about: monitor.table) { throw validationError }
        refresh(for: client)
        do throws(MultipeerError) {
            if !waiting, !mayServeSoon { try check() }
            do throws(SocketFault) {
                if let descriptor = monitor.descriptor {
                    try loop.register(
                        descriptor, for: client, token: MulticastDNSDriver.newsToken, interest: .readable)
                }
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
        if let descriptor = monitor.descriptor { loop.deregister(descriptor) }
        ports.closeAll()
    }

    /// Whether any interface takes part.
    var serves: Bool { !links.isEmpty }

    /// Whether an interface only waits for its address.
    var mayServeSoon: Bool { fault == nil && settings.mayServeSoon(in: monitor.table) }

    /// When missing sockets are tried again, or the interfaces looked at; nil while neither is necessary.
    var retryTime: Moment? {
        let retry = fault == nil ? Moment.distantFuture : nextTry
        let next = min(retry, monitor.deadline ?? .distantFuture)
        return next == .distantFuture ? nil : next
    }

    /// Throws while no interface takes part.
    func check() throws(MultipeerError) {
        if !links.isEmpty { return }
        throw fault.map { MultipeerError(multicast: $0) } ?? settings.reason(in: monitor.table)
    }

    /// Handles a descriptor that is readable.
    func ready(_ token: Int, for client: any LoopClient) {
        if token == MulticastDNSDriver.newsToken {
            if monitor.read() { changed(for: client) }
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

    /// Does what is due. The engine has work every few seconds, and detects by that when the machine has slept.
    func advance(for client: any LoopClient) {
        let now = self.now
        if let deadline = monitor.deadline, deadline <= now, monitor.read() {
            changed(for: client)
        } else if fault != nil, now >= nextTry {
            refresh(for: client)
        }
        if let due = engine.deadline, due <= now { engine.advance(to: now) }
    }

    /// Carries out the engine's actions on the network, and returns those for its users.
    func carryOut(for client: any LoopClient) -> [MulticastDNS.Action] {
        engine.takeActions().filter { action in
            switch action {
            case .multicast(let bytes, let scope, let family): ports.send(bytes, scope, family)
            case .unicast(let bytes, let scope, let family, let host, let port):
                guard let host = SocketAddress.Host(bytes: host) else { return false }
                let there = host.isLinkLocal ? host.on(interface: scope) : host
                ports.send(bytes, scope, family, to: SocketAddress(there, port: port))
            case .ask(let bytes, let scope, let family): ports.ask(bytes, scope, family, for: client)
            case .duplicated(_, let addresses): return isElsewhere(addresses, for: client)
            case .registered, .renamed, .browse, .returned, .resolved: return true
            }
            return false
        }
    }

    /// Handles news of the interfaces: sessions may have links from an address that is gone.
    private func changed(for client: any LoopClient) {
        refresh(for: client)
        loop.lossNotifier.report(.moved)
    }

    /// Whether no interface has one of the addresses, as far as the kernel has said by now: another process may announce a new one
    /// before this one has read of it.
    private func isElsewhere(_ addresses: [[UInt8]], for client: any LoopClient) -> Bool {
        if monitor.read() { changed(for: client) }
        return !addresses.contains(where: engine.isOfThisMachine)
    }

    /// Adapts the sockets, and the engine's scopes, to the interfaces.
    private func refresh(for client: any LoopClient) {
        engine.machineHas(monitor.table.all.flatMap { $0.addresses.map(\.host.bytes) })
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
    /// Returns the scope with only those families that have a socket, and their addresses: no peer should dial others.
    fileprivate func limited(to families: Set<Family>) -> Scope {
        if families == self.families { return self }
        var scope = self
        scope.families = families
        scope.addresses = addresses.filter { families.contains($0.family) }
        return scope
    }
}

extension MultipeerError {
    /// What is possible anyway, the end of each error about missing discovery.
    package static let withoutDiscovery = "peers can still be linked by address or by connection data"

    /// Returns the error for the fault of a multicast DNS socket.
    fileprivate init(multicast fault: SocketFault) {
        switch fault {
        case .addressInUse:
            self.init(
                .discovery,
                "another program uses UDP port 5353 exclusively, possibly avahi-daemon with disallow-other-stacks=yes: "
                    + "'ss -ulpn sport = :5353' shows which; \(MultipeerError.withoutDiscovery)")
        default:
            self.init(
                .discovery,
                "multicast DNS is not available: \(fault); \(MultipeerError.withoutDiscovery)")
        }
    }
}
