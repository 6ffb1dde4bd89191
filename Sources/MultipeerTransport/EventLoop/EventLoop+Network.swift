// The network of the machine on which a loop is: this one, or a simulated one.

extension EventLoop {
    /// Returns a loop of the pool, or that of the simulated machine.
    package static func next(on host: VirtualHost?) throws(SocketFault) -> EventLoop {
        if let host { return host.loop }
        return try next()
    }

    /// Returns a socket that is connecting to that address. `segment`: the data of its largest packet; nil for the usual ones.
    package func connect(to address: SocketAddress, segment: Int32? = nil) throws(SocketFault) -> Socket {
        guard let host else { return try Socket.connecting(to: address, segment: segment) }
        return Socket(try VirtualSocket.connecting(to: address, from: host))
    }

    /// Returns a socket that listens for connections.
    package func listen(on address: SocketAddress, backlog: Int32) throws(SocketFault) -> Socket {
        guard let host else { return try Socket.listening(on: address, backlog: backlog) }
        return Socket(try VirtualSocket.listening(on: address, backlog: backlog, at: host))
    }

    /// Returns a UDP socket at that address of the machine, or, when nil, at every one. Port 0 takes any free one.
    func datagramSocket(
        at address: SocketAddress.Host?, port: UInt16 = 0
    ) throws(SocketFault) -> DatagramSocket {
        if let host { return DatagramSocket(try VirtualDatagramSocket(host, isEverywhere: address == nil)) }
        guard let address else { return try DatagramSocket.everywhere(port: port) }
        return try DatagramSocket.bound(to: SocketAddress(address, port: port))
    }

    /// Returns the interfaces of the machine; none when the system does not list them.
    func interfaces() -> [NetworkInterface] { host?.interfaces ?? (try? NetworkInterface.all()) ?? [] }

    /// Returns the interfaces on which link-local addresses are tried. Listing them costs more than the rest of a call: only
    /// where an address needs one.
    func linkLocalZones() -> [UInt32] {
        interfaces().filter { $0.isUp && !$0.isLoopback }.map(\.index)
    }

    /// Where links and their losses are reported on this machine.
    package var lossNotifier: PeerLossNotifier { host?.lossNotifier ?? .shared }
}
