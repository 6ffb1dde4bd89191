import MultipeerPlatform
import MultipeerTransport

/// A TCP socket of the tester. It never blocks, and closes with its owner.
final class TCPSocket {
    let descriptor: Int32
    private var isClosed = false

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    private static func make(isIPv6: Bool = false) throws(SuiteFault) -> TCPSocket {
        let descriptor = SystemCalls.socket(
            isIPv6 ? AF_INET6 : AF_INET, CLibrary.streamSocket, Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { throw .system("no socket", errno) }
        let made = TCPSocket(descriptor)
        made.set(Int32(IPPROTO_TCP), TCP_NODELAY)
        return made
    }

    private func set(_ level: Int32, _ option: Int32, to value: Int32 = 1) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns a listening socket; port 0 takes any free one. `backlog`: how many connections wait to be accepted.
    static func listening(
        on address: [UInt8] = [127, 0, 0, 1], port: UInt16 = 0, zone: UInt32 = 0, backlog: Int32 = 256
    ) throws(SuiteFault) -> TCPSocket {
        let made = try make(isIPv6: address.count == 16)
        made.set(SOL_SOCKET, SO_REUSEADDR)
        try made.bind(to: address, port: port, zone: zone)
        guard listen(made.descriptor, backlog) == 0 else { throw .system("cannot listen", errno) }
        return made
    }

    /// Returns a socket whose port refuses every dial, and that no other process gets as long as the socket is held.
    static func refusing() throws(SuiteFault) -> TCPSocket {
        let made = try make()
        try made.bind(to: [127, 0, 0, 1], port: 0)
        return made
    }

    /// Returns a socket that connects to a candidate, from any address or a given one.
    static func dialling(
        _ candidate: Candidate, from source: [UInt8]? = nil, isNarrow: Bool = false
    ) throws(SuiteFault) -> TCPSocket {
        let made = try make(isIPv6: candidate.address.count == 16)
        if let source { try made.bind(to: source, port: 0) }
        if isNarrow {
            made.narrow()
            made.set(Int32(IPPROTO_TCP), TCP_MAXSEG, to: 536)
        }
        let code = unsafe at(candidate.address, candidate.port, candidate.zone) {
            unsafe connect(made.descriptor, $0, $1)
        }
        guard code == 0 || errno == EINPROGRESS else { throw .system("cannot dial", errno) }
        return made
    }

    /// Returns the address of this machine from which the system dials a candidate.
    static func source(toward candidate: Candidate) throws(SuiteFault) -> [UInt8] {
        let socket = try dialling(candidate)
        defer { socket.close() }
        return socket.localAddress
    }

    /// Makes the receive buffer small, so that the sender keeps the rest.
    func narrow() { set(SOL_SOCKET, SO_RCVBUF, to: 32_768) }

    private func bind(to host: [UInt8], port: UInt16, zone: UInt32 = 0) throws(SuiteFault) {
        let code = unsafe TCPSocket.at(host, port, zone) { unsafe MultipeerPlatform.bind(descriptor, $0, $1) }
        guard code == 0 else {
            throw .system("cannot bind", errno)
        }
    }

    /// Accepts a connection; returns nil when there is none.
    func accept() -> TCPSocket? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe SystemCalls.accept(descriptor, &address, &length)
        guard code >= 0 else { return nil }
        let socket = TCPSocket(code)
        socket.set(Int32(IPPROTO_TCP), TCP_NODELAY)
        return socket
    }

    /// The result of a read.
    enum Received {
        case bytes([UInt8])
        case nothing
        case end
        case failed(Int32)
    }

    func receive(_ most: Int = 65_536) -> Received {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: most) { buffer, used in
            count = unsafe recv(descriptor, buffer.baseAddress, most, 0)
            used = max(0, count)
        }
        if count > 0 { return .bytes(bytes) }
        if count == 0 { return .end }
        return errno == EAGAIN || errno == EINTR ? .nothing : .failed(errno)
    }

    /// Returns the number of bytes that the kernel took; nil when the connection is gone.
    func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe MultipeerPlatform.send(descriptor, $0.baseAddress, $0.count, CLibrary.noSignal)
        }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Nil when the connection is open, otherwise the error of the system.
    var connectionFault: Int32? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code == 0 ? nil : code
    }

    // The port is at the same place in both families.
    var localPort: UInt16 {
        unsafe UInt16(bigEndian: name { unsafe getsockname(descriptor, $0, $1) }.sin6_port)
    }
    /// The address of this end.
    var localAddress: [UInt8] { unsafe TCPSocket.host(name { unsafe getsockname(descriptor, $0, $1) }) }
    /// The address of the other end.
    var remoteAddress: [UInt8] { unsafe TCPSocket.host(name { unsafe getpeername(descriptor, $0, $1) }) }

    /// Returns what the system reports of one end, in the longer of the two forms.
    private func name(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> sockaddr_in6 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &length) }
        }
        return address
    }

    private static func host(_ address: sockaddr_in6) -> [UInt8] {
        var address = address
        // The address of IPv4 is where IPv6 has the flow.
        let isIPv6 = address.sin6_family == sa_family_t(AF_INET6)
        return unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe Array(isIPv6 ? bytes[8..<24] : bytes[4..<8])
        }
    }

    func shutdownWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        _ = MultipeerPlatform.close(descriptor)
    }

    /// Closes with RST instead of FIN.
    func reset() {
        guard !isClosed else { return }
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Lends the system's form of an address of either family.
    private static func at(
        _ host: [UInt8], _ port: UInt16, _ zone: UInt32,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        guard host.count == 16 else {
            var address = system(host, port)
            return unsafe lend(&address, body)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_scope_id = zone
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: host) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }

    private static func system(_ host: [UInt8], _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }.bigEndian
        return address
    }

    private static func lend(
        _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
