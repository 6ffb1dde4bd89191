import Glibc

/// A UDP socket on loopback that waits for a datagram, for tests with other programs.
@safe
struct LoopbackUDP: ~Copyable {
    struct Failure: Error { let call: String }

    private let descriptor: CInt
    let port: UInt16
    /// The port that datagrams are sent to: the given one, or that of the last sender.
    private var peer: UInt16

    init(peer: UInt16 = 0) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket") }
        let bound = unsafe Self.withAddress(0) { address, count in
            unsafe Int(bind(descriptor, address, count))
        }
        var own = sockaddr_in()
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = unsafe withUnsafeMutablePointer(to: &own) { own in
            unsafe own.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &count)
            }
        }
        guard bound == 0, named == 0 else {
            close(descriptor)
            throw Failure(call: "bind")
        }
        self.descriptor = descriptor
        self.peer = peer
        port = UInt16(bigEndian: own.sin_port)
    }

    deinit { close(descriptor) }

    /// Returns a port that was free a moment ago.
    static func freePort() throws -> UInt16 { try LoopbackUDP().port }

    func send(_ datagram: [UInt8]) {
        // There may be no receiver yet: then it is lost, as datagrams are.
        _ = unsafe Self.withAddress(peer) { address, length in
            unsafe sendto(descriptor, datagram, datagram.count, 0, address, length)
        }
    }

    /// Waits for the next datagram; returns nil when none comes in that time.
    mutating func receive(within milliseconds: CInt) -> [UInt8]? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, milliseconds) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 2_000)
        var sender = sockaddr_in()
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        let received = unsafe withUnsafeMutablePointer(to: &sender) { sender in
            unsafe sender.withMemoryRebound(to: sockaddr.self, capacity: 1) { [descriptor] in
                unsafe recvfrom(descriptor, &bytes, bytes.count, 0, $0, &count)
            }
        }
        guard received >= 0 else { return nil }
        peer = UInt16(bigEndian: sender.sin_port)
        return Array(bytes.prefix(received))
    }

    private static func withAddress(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int
    ) -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
