import MultipeerCommandLine
import MultipeerEssentials

/// A multicast DNS socket for a test, for one network interface and family: bound to the group, and joined only on that
/// interface.
struct MulticastTestSocket: ~Copyable {
    static let groupV4 = SocketAddress.Host.v4(0xe000_00fb)
    static let groupV6 = SocketAddress.Host.v6(high: 0xff02_0000_0000_0000, low: 0xfb)

    private let descriptor: Int32
    private let group: SocketAddress

    deinit { close(descriptor) }

    /// Returns why a socket cannot bind the group's port; nil when it can. Does not join the group.
    static func refusal(sharing options: [Int32]) -> Int32? {
        do throws(SystemFault) {
            let group = SocketAddress(groupV4, port: PortCheck.port)
            let socket = try MulticastTestSocket(group, sharing: options)
            try socket.bind()
            return nil
        } catch {
            return error.code
        }
    }

    /// Joins the group on one interface. For IPv4 it needs an address of that interface: otherwise packets have no source
    /// address, and every host drops them.
    static func joined(
        on index: UInt32, from address: SocketAddress.Host
    ) throws(SystemFault) -> MulticastTestSocket {
        let host =
            address.isV4 ? MulticastTestSocket.groupV4 : MulticastTestSocket.groupV6.on(interface: index)
        let socket = try MulticastTestSocket(
            SocketAddress(host, port: PortCheck.port), sharing: [SO_REUSEADDR])
        try socket.bind()
        if address.isV4 {
            var request = ip_mreqn()
            request.imr_multiaddr.s_addr = MulticastTestSocket.number(host).bigEndian
            request.imr_address.s_addr = MulticastTestSocket.number(address).bigEndian
            request.imr_ifindex = Int32(index)
            guard SocketOptions.receiveOwnGroups(socket.descriptor, isV4: true) else { throw .last }
            try socket.set(IP_ADD_MEMBERSHIP, at: Int32(IPPROTO_IP), request)
            try socket.set(IP_MULTICAST_IF, at: Int32(IPPROTO_IP), request)
            try socket.set(IP_MULTICAST_TTL, at: Int32(IPPROTO_IP), Int32(255))
        } else {
            var request = ipv6_mreq()
            unsafe withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) {
                unsafe $0.copyBytes(from: host.bytes)
            }
            request.ipv6mr_interface = index
            try socket.set(IPV6_ADD_MEMBERSHIP, at: Int32(IPPROTO_IPV6), request)
            try socket.set(IPV6_MULTICAST_IF, at: Int32(IPPROTO_IPV6), Int32(index))
            try socket.set(IPV6_MULTICAST_HOPS, at: Int32(IPPROTO_IPV6), Int32(255))
        }
        return socket
    }

    private init(_ group: SocketAddress, sharing options: [Int32]) throws(SystemFault) {
        let family = group.host.isV4 ? AF_INET : AF_INET6
        descriptor = SystemCalls.socket(family, CLibrary.datagramSocket, Int32(IPPROTO_UDP))
        self.group = group
        guard descriptor >= 0 else { throw .last }
        for option in options { try set(option, at: SOL_SOCKET, Int32(1)) }
        if !group.host.isV4 { try set(IPV6_V6ONLY, at: Int32(IPPROTO_IPV6), Int32(1)) }
    }

    private borrowing func bind() throws(SystemFault) {
        let code = unsafe withGroup { unsafe MultipeerPlatform.bind(descriptor, $0, $1) }
        guard code == 0 else { throw .last }
    }

    /// Sends to the group.
    borrowing func send(_ bytes: [UInt8]) throws(SystemFault) {
        let count = unsafe withGroup { unsafe sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
        guard count == bytes.count else { throw .last }
    }

    /// Returns the next datagram and its sender; nil if none arrives within the given milliseconds.
    borrowing func receive(within timeLimit: Int) throws(SystemFault) -> (bytes: [UInt8], from: [UInt8])? {
        var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&one, 1, Int32(clamping: max(0, timeLimit))) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 9_000)
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe recvfrom(descriptor, &bytes, bytes.count, 0, $0, &length)
            }
        }
        guard count >= 0 else {
            if errno == EAGAIN || errno == EINTR { return nil }
            throw .last
        }
        let sender = unsafe withUnsafeBytes(of: &storage) { raw in
            let isV4 = unsafe Int32(raw.load(as: sockaddr.self).sa_family) == AF_INET
            return unsafe Array(isV4 ? raw[4..<8] : raw[8..<24])
        }
        return (Array(bytes.prefix(count)), sender)
    }

    private borrowing func set<Value>(
        _ option: Int32, at level: Int32, _ value: Value
    ) throws(SystemFault) {
        let size = socklen_t(MemoryLayout<Value>.size)
        let code = unsafe withUnsafePointer(to: value) {
            unsafe setsockopt(descriptor, level, option, $0, size)
        }
        guard code == 0 else { throw .last }
    }

    /// Calls `body` with the group's address as a `sockaddr`.
    private borrowing func withGroup<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        switch group.host {
        case .v4(let number):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = group.port.bigEndian
            address.sin_addr.s_addr = number.bigEndian
            return unsafe MulticastTestSocket.lend(&address, body)
        case .v6(_, _, let scope):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = group.port.bigEndian
            address.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &address.sin6_addr) {
                unsafe $0.copyBytes(from: group.host.bytes)
            }
            return unsafe MulticastTestSocket.lend(&address, body)
        }
    }

    private static func lend<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    private static func number(_ host: SocketAddress.Host) -> UInt32 {
        if case .v4(let number) = host { number } else { 0 }
    }
}

/// The error of a system call.
struct SystemFault: Error {
    let code: Int32

    static var last: SystemFault { SystemFault(code: errno) }

    var reason: String { DescriptorStream.reason(code) }
}
