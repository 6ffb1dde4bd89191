import MultipeerCore

/// A UDP socket of a simulated machine, at its address. One that has joined a group gets what any machine sends to it.
final class VirtualDatagramSocket: VirtualPort {
    private struct State {
        var arrived: [(packet: [UInt8], source: SocketAddress)] = []
        var bytes = 0
        var isClosed = false
    }

    /// The receive buffer; further packets are lost.
    private static let room = 1_048_576

    let host: VirtualHost
    let port: UInt16
    let isEverywhere: Bool
    /// The group that it has joined; nil for none.
    private let group: SocketAddress?
    private let state = Locked(State())
    private let place = Locked<Int32>(-1)

    init(
        _ host: VirtualHost, isEverywhere: Bool, joining group: SocketAddress? = nil
    ) throws(SocketFault) {
        guard host.isAlive else { throw .unreachable }
        self.host = host
        self.isEverywhere = isEverywhere
        self.group = group
        port = group?.port ?? host.nextPort()
        place.withLock { $0 = host.admit(self) }
    }

    var descriptor: Int32 { place.withLock { $0 } }
    var local: SocketAddress { SocketAddress(isEverywhere ? .anyV4 : host.address, port: port) }

    var readiness: Readiness { state.withLock { $0.arrived.isEmpty } ? .writable : [.readable, .writable] }

    func send(_ packet: [UInt8], to address: SocketAddress) {
        guard host.isAlive else { return }
        let network = host.network
        if address.host.isMulticast {
            for target in network.machines { send(packet, to: address, at: target) }
        } else if let target = network.host(at: address.host.unmapped, from: host) {
            send(packet, to: address, at: target)
        }
    }

    /// Each machine gets its copy of a packet to a group, or does not.
    private func send(_ packet: [UInt8], to address: SocketAddress, at target: VirtualHost) {
        let network = host.network
        guard target === host || !network.drawLoss() else { return }
        let source = SocketAddress(host.address, port: port)
        network.time.after(network.drawDelay()) { [host] in
            guard network.isOpen(host, target) else { return }
            let isForGroup = address.host.isMulticast
            for socket in target.sockets(VirtualDatagramSocket.self)
            where isForGroup ? socket.group == address : socket.port == address.port {
                socket.take(packet, from: source)
                if !isForGroup { return }
            }
        }
    }

    private func take(_ packet: [UInt8], from source: SocketAddress) {
        state.withLock { state in
            guard !state.isClosed, state.bytes + packet.count <= VirtualDatagramSocket.room else { return }
            state.arrived.append((packet, source))
            state.bytes += packet.count
        }
        host.touch()
    }

    /// Returns the first received packets, at most `count`.
    func receive(atMost count: Int) -> [(packet: [UInt8], source: SocketAddress)] {
        state.withLock { state in
            let taken = Array(state.arrived.prefix(count))
            state.arrived.removeFirst(taken.count)
            state.bytes -= taken.reduce(0) { $0 + $1.packet.count }
            return taken
        }
    }

    func close() {
        host.release(descriptor)
        state.withLock { $0 = State(isClosed: true) }
    }

    func crash() { close() }
    func dismantle() { close() }
}
