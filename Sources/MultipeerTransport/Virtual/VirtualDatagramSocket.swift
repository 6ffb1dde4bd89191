import MultipeerCore

/// A UDP socket of a simulated machine, at its address.
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
    private let state = Locked(State())
    private let place = Locked<Int32>(-1)

    init(_ host: VirtualHost, isEverywhere: Bool) throws(SocketFault) {
        guard host.isAlive else { throw .unreachable }
        self.host = host
        self.isEverywhere = isEverywhere
        port = host.nextPort()
        place.withLock { $0 = host.admit(self) }
    }

    var descriptor: Int32 { place.withLock { $0 } }
    var local: SocketAddress { SocketAddress(isEverywhere ? .anyV4 : host.address, port: port) }

    var readiness: Readiness { state.withLock { $0.arrived.isEmpty } ? .writable : [.readable, .writable] }

    func send(_ packet: [UInt8], to address: SocketAddress) {
        let network = host.network
        guard host.isAlive, !network.drawLoss(),
            let target = network.host(at: address.host.unmapped, from: host)
        else { return }
        let source = SocketAddress(host.address, port: port)
        network.time.after(network.drawDelay()) { [host] in
            guard network.isOpen(host, target) else { return }
            target.find(VirtualDatagramSocket.self) { $0.port == address.port }?.take(packet, from: source)
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
