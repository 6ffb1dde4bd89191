import MultipeerCore

/// A simulated machine: its address, its sockets and its loop.
package final class VirtualHost: Sendable {
    private enum Status {
        case alive
        /// Its process has ended, and its connections with it.
        case crashed
        /// The machine is gone: no other machine receives anything from it.
        case gone
    }

    private struct State {
        var status = Status.alive
        var loop: EventLoop?
        /// By their descriptors.
        var ports: [(any VirtualPort)?] = []
        var lastPort: UInt16 = 40_000
        /// Called when the machine ends.
        var endings: [@Sendable () -> Void] = []
    }

    package let name: String
    package let number: Int
    package let address: SocketAddress.Host
    package let network: VirtualNetwork
    /// A machine is a process: its browsers are notified of the peers that its sessions lose.
    package let lossNotifier = PeerLossNotifier()
    /// Multicast DNS on this machine.
    let discovery = SharedDiscovery<MulticastDiscovery>()
    private let state = Locked(State())

    init(_ name: String, _ number: Int, _ address: SocketAddress.Host, in network: VirtualNetwork) {
        self.name = name
        self.number = number
        self.address = address
        self.network = network
    }

    /// The loop of everything on this machine.
    package var loop: EventLoop {
        if let loop = state.withLock({ $0.loop }) { return loop }
        let fresh = EventLoop(in: network.time, on: self)
        return state.withLock { state in
            let loop = state.loop ?? fresh
            state.loop = loop
            return loop
        }
    }

    package var interfaces: [NetworkInterface] {
        [
            NetworkInterface(
                name: "sim0", index: 1, isUp: true, isLoopback: false, addresses: [.init(address, prefix: 16)]
            )
        ]
    }

    /// The same for multicast DNS.
    var interfaceTable: InterfaceTable {
        var table = InterfaceTable()
        for interface in interfaces {
            table.set(
                InterfaceTable.Link(
                    index: interface.index, flags: InterfaceTable.Interface.multicastFlags,
                    name: interface.name,
                    mtu: 1_500))
            table.set(InterfaceTable.Address(index: interface.index, host: address, prefix: 16))
        }
        return table
    }

    // MARK: sockets

    func readiness(of descriptor: Int32) -> Readiness {
        let port = state.withLock { state in
            state.ports.indices.contains(Int(descriptor)) ? state.ports[Int(descriptor)] : nil
        }
        return port?.readiness ?? []
    }

    /// Returns the lowest free number, as a kernel does.
    func admit(_ port: any VirtualPort) -> Int32 {
        state.withLock { state in
            if let free = state.ports.firstIndex(where: { $0 == nil }) {
                state.ports[free] = port
                return Int32(free)
            }
            state.ports.append(port)
            return Int32(state.ports.count - 1)
        }
    }

    func release(_ descriptor: Int32) {
        state.withLock { state in
            if state.ports.indices.contains(Int(descriptor)) { state.ports[Int(descriptor)] = nil }
        }
    }

    /// Returns a port that no socket has had.
    func nextPort() -> UInt16 {
        state.withLock { state in
            state.lastPort = state.lastPort == .max ? 40_000 : state.lastPort + 1
            return state.lastPort
        }
    }

    func find<Port>(_ type: Port.Type, where isIt: (Port) -> Bool) -> Port? {
        state.withLock({ $0.ports }).lazy.compactMap { $0 as? Port }.first(where: isIt)
    }

    /// Returns all of that kind.
    func sockets<Port>(_ type: Port.Type) -> [Port] {
        state.withLock({ $0.ports }).compactMap { $0 as? Port }
    }

    /// Requests a turn: a socket of the machine has changed.
    func touch() { state.withLock { $0.loop }?.requestVirtualTurn() }

    func dismantle() {
        let (ports, loop) = state.withLock { state in
            defer { state = State() }
            return (state.ports, state.loop)
        }
        for case let port? in ports { port.dismantle() }
        if let loop { network.time.perform { loop.letGo() } }
    }
}

// MARK: the end of a machine

extension VirtualHost {
    /// Whether nothing reaches or leaves this machine.
    package var isGone: Bool { state.withLock { $0.status == .gone } }
    package var isAlive: Bool { state.withLock { $0.status == .alive } }

    /// Calls `body` when the machine ends.
    package func onEnd(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.endings.append(body) } }

    /// Ends the machine's process, or, `silently`, the machine. Everything on it ends; its connected peers are notified of the
    /// former, and detect the latter themselves.
    package func end(silently: Bool) {
        let (endings, ports) = state.withLock { state in
            guard state.status == .alive else {
                return ([], []) as ([@Sendable () -> Void], [(any VirtualPort)?])
            }
            state.status = silently ? .gone : .crashed
            defer { state.endings = [] }
            return (state.endings, state.ports)
        }
        network.note("\(name) \(silently ? "is gone" : "dies")")
        if !silently { for case let port? in ports { port.crash() } }
        for ending in endings { ending() }
    }
}

/// A socket of a simulated machine.
protocol VirtualPort: AnyObject, Sendable {
    var readiness: Readiness { get }
    /// The process has ended: the kernel closes it.
    func crash()
    /// Releases everything else.
    func dismantle()
}
