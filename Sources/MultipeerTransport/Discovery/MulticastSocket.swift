import MultipeerDiscovery
import MultipeerPlatform

/// A UDP socket for multicast DNS on one interface in one family. It never blocks, and closes with its owner.
///
/// The group's socket is bound to the group and not to a port alone, so that it receives that interface's multicast and nothing
/// else, and takes no unicast packet from another program. It shares the port by `SO_REUSEADDR`, which works for any user;
/// with `SO_REUSEPORT` the kernel hands packets of one interface to the socket of another.
package struct MulticastSocket: ~Copyable, Sendable {
    package static let port = MulticastDNS.port
    /// The size of the kernel's receive buffer, which fills while the loop is busy.
    private static let room: Int32 = 1_048_576
    /// 224.0.0.251 and ff02::fb.
    private static let groupV4 = SocketAddress.Host.v4(0xe000_00fb)
    private static func groupV6(_ index: UInt32) -> SocketAddress.Host {
        .v6(high: 0xff02_0000_0000_0000, low: 0xfb, scope: index)
    }

    /// Only for `EventLoop.register`; deregister it before the socket goes.
    package let descriptor: Int32
    private let group: SocketAddress
    /// Set for a socket of a simulated machine, whose number the descriptor is.
    private let simulated: VirtualDatagramSocket?

    /// A simulated machine has IPv4 only.
    fileprivate init(on host: VirtualHost, joined isJoined: Bool) throws(SocketFault) {
        group = SocketAddress(MulticastSocket.groupV4, port: MulticastSocket.port)
        let socket = try VirtualDatagramSocket(host, isEverywhere: false, joining: isJoined ? group : nil)
        simulated = socket
        descriptor = socket.descriptor
    }

    /// Opens the socket of port 5353 that is joined to the group.
    package static func joined(
        interface name: String, index: UInt32, source: SocketAddress.Host
    ) throws(SocketFault) -> MulticastSocket {
        do throws(SocketFault) {
            return try joined(name, index, source, isPinned: false)
        } catch {
            // Another program of the same user may have the port with the other flag. A socket bound to its interface may share
            // it.
            guard error == .addressInUse else { throw error }
            do throws(SocketFault) { return try joined(name, index, source, isPinned: true) } catch {
                throw .addressInUse
            }
        }
    }

    private static func joined(
        _ name: String, _ index: UInt32, _ source: SocketAddress.Host, isPinned: Bool
    ) throws(SocketFault) -> MulticastSocket {
        let socket = try MulticastSocket(index, source)
        try socket.set(SO_REUSEADDR, at: SOL_SOCKET, 1)
        if isPinned {
            try socket.set(SO_REUSEPORT, at: SOL_SOCKET, 1)
            guard SocketOptions.bind(socket.descriptor, toInterface: name, index, isV4: source.isV4) else {
                throw .last
            }
        }
        try socket.bind(to: socket.group)  // [mdns.source]
        try socket.join(index, source)
        return socket
    }

    /// Opens a socket with its own port, which alone receives the answers to its queries.
    package static func oneShot(
        index: UInt32, source: SocketAddress.Host
    ) throws(SocketFault) -> MulticastSocket {
        let socket = try MulticastSocket(index, source)
        try socket.bind(to: SocketAddress(source, port: 0))
        return socket
    }

    private init(_ index: UInt32, _ source: SocketAddress.Host) throws(SocketFault) {
        group = SocketAddress(
            source.isV4 ? MulticastSocket.groupV4 : MulticastSocket.groupV6(index), port: MulticastSocket.port
        )
        simulated = nil
        descriptor = SystemCalls.socket(group.family, CLibrary.datagramSocket, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { throw .last }
        SocketOptions.setReceiveBuffer(descriptor, MulticastSocket.room)
        try aim(index, source)
    }

    deinit { if let simulated { simulated.close() } else { close(descriptor) } }

    /// Sets the outgoing interface, and a hop limit that distinguishes the packets from routed ones. RFC 6762, 11.
    private borrowing func aim(_ index: UInt32, _ source: SocketAddress.Host) throws(SocketFault) {
        guard case .v4(let number) = source else {
            let level = Int32(IPPROTO_IPV6)
            try set(IPV6_V6ONLY, at: level, 1)
            try set(IPV6_MULTICAST_IF, at: level, Int32(bitPattern: index))
            try set(IPV6_MULTICAST_HOPS, at: level, 255)
            try set(IPV6_UNICAST_HOPS, at: level, 255)
            try set(IPV6_MULTICAST_LOOP, at: level, 1)
            return try receiveOwnGroups(isV4: false)
        }
        let level = Int32(IPPROTO_IP)
        // With only the index, packets would leave from 0.0.0.0.
        try set(IP_MULTICAST_IF, at: level, MulticastSocket.membership(index, number))
        try set(IP_MULTICAST_TTL, at: level, Int32(255))
        try set(IP_TTL, at: level, Int32(255))
        try set(IP_MULTICAST_LOOP, at: level, Int32(1))
        try receiveOwnGroups(isV4: true)
    }

    private borrowing func receiveOwnGroups(isV4: Bool) throws(SocketFault) {
        guard SocketOptions.receiveOwnGroups(descriptor, isV4: isV4) else { throw .last }
    }

    private borrowing func join(_ index: UInt32, _ source: SocketAddress.Host) throws(SocketFault) {
        guard case .v4(let number) = source else {
            var request = ipv6_mreq()
            request.ipv6mr_interface = index
            unsafe withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) {
                unsafe $0.copyBytes(from: group.host.bytes)
            }
            return try set(IPV6_JOIN_GROUP, at: Int32(IPPROTO_IPV6), request)
        }
        try set(IP_ADD_MEMBERSHIP, at: Int32(IPPROTO_IP), MulticastSocket.membership(index, number))
    }

    private static func membership(_ index: UInt32, _ source: UInt32) -> ip_mreqn {
        guard case .v4(let group) = groupV4 else { return ip_mreqn() }
        return ip_mreqn(
            imr_multiaddr: in_addr(s_addr: group.bigEndian), imr_address: in_addr(s_addr: source.bigEndian),
            imr_ifindex: Int32(bitPattern: index))
    }

    private borrowing func bind(to address: SocketAddress) throws(SocketFault) {
        guard unsafe address.withSystemAddress({ unsafe MultipeerPlatform.bind(descriptor, $0, $1) }) == 0
        else {
            throw .last
        }
    }

    private borrowing func set<Value>(
        _ option: Int32, at level: Int32, _ value: Value
    ) throws(SocketFault) {
        var value = value
        let code = unsafe withUnsafeBytes(of: &value) {
            unsafe setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count))
        }
        guard code == 0 else { throw .last }
    }

    package var localAddress: SocketAddress? {
        unsafe SocketAddress.filled { unsafe getsockname(descriptor, $0, $1) }.address
    }
}

// MARK: - Sending and receiving

extension MulticastSocket {
    /// Hands one packet to the kernel, by default to the group. A packet that the kernel does not take is lost, as any packet can
    /// be: returns whether it was taken.
    @discardableResult
    package borrowing func send(_ bytes: [UInt8], to address: SocketAddress? = nil) -> Bool {
        if let simulated {
            simulated.send(bytes, to: address ?? group)
            return true
        }
        return hand(bytes, to: address)
    }

    private borrowing func hand(_ bytes: [UInt8], to address: SocketAddress?) -> Bool {
        unsafe (address ?? group).withSystemAddress { address, length in
            while true {
                let count = unsafe sendto(
                    descriptor, bytes, bytes.count, CLibrary.noSignal, address, length)
                // An error of an earlier packet is reported once, in place of this one.
                if count >= 0 { return true }
                if errno != EINTR { return false }
            }
        }
    }

    /// Receives as many packets as one call returns, and passes each to `body` with its source. Returns whether there may be
    /// more. Packets that are longer than the buffer are dropped.
    package borrowing func receive(
        with receiveBuffer: DatagramReceiveBuffer, _ body: (Span<UInt8>, SocketAddress) -> Void
    ) -> Bool {
        if let simulated {
            let packets = simulated.receive(atMost: receiveBuffer.slots)
            for (packet, source) in packets { body(packet.span, source) }
            return packets.count == receiveBuffer.slots
        }
        let arrivals = receiveBuffer.fill(from: descriptor)
        // An ICMP error of an earlier packet is reported once, in place of a packet.
        guard arrivals >= 0 else { return errno != EAGAIN }
        for index in 0..<arrivals {
            guard let source = receiveBuffer.source(of: index) else { continue }
            _ = receiveBuffer.withPackets(of: index) { body($0, source) }
        }
        return arrivals == receiveBuffer.slots
    }
}

extension EventLoop {
    /// Returns the socket of port 5353 that is joined to the group on that interface.
    func multicastSocket(
        interface name: String, index: UInt32, source: SocketAddress.Host
    ) throws(SocketFault) -> MulticastSocket {
        if let host { return try MulticastSocket(on: host, joined: true) }
        return try MulticastSocket.joined(interface: name, index: index, source: source)
    }

    /// Returns a socket with its own port for queries on that interface.
    func oneShotSocket(index: UInt32, source: SocketAddress.Host) throws(SocketFault) -> MulticastSocket {
        if let host { return try MulticastSocket(on: host, joined: false) }
        return try MulticastSocket.oneShot(index: index, source: source)
    }
}
