import MultipeerPlatform
import MultipeerTransport

/// A UDP socket for multicast DNS on the loopback interface: of the group and port 5353, or of a port of its own. It never blocks.
final class DNSSocket: PollSource {
    struct Packet {
        let bytes: [UInt8]
        let port: UInt16
        let time: ContinuousClock.Instant
    }

    private static let usualPort: UInt16 = 5_353
    /// 224.0.0.251 and 127.0.0.1.
    private static let group: UInt32 = 0xe000_00fb
    private static let here: UInt32 = 0x7f00_0001

    let descriptor: Int32
    var wantsToRead: Bool { true }
    var wantsToWrite: Bool { false }
    var onPacket: (Packet) -> Void = { _ in }

    /// * `isUsual`: whether it has port 5353 and receives what is sent to the group.
    init(isUsual: Bool = true) throws(SuiteFault) {
        descriptor = SystemCalls.socket(AF_INET, CLibrary.datagramSocket, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { throw .system("no socket", errno) }
        var here = in_addr(s_addr: DNSSocket.here.bigEndian)
        var hops: Int32 = 255
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &here, size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, &hops, size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_LOOP, &yes, size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
        var place = DNSSocket.place(
            isUsual ? DNSSocket.group : DNSSocket.here, isUsual ? DNSSocket.usualPort : 0)
        let isBound = unsafe DNSSocket.lend(&place) { unsafe bind(descriptor, $0, $1) } == 0
        guard isBound else { throw .system("cannot bind to port 5353", errno) }
        guard isUsual else { return }
        var member = ip_mreq(
            imr_multiaddr: in_addr(s_addr: DNSSocket.group.bigEndian), imr_interface: here)
        let code = unsafe setsockopt(
            descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &member,
            socklen_t(MemoryLayout<ip_mreq>.size))
        guard code == 0 else { throw .system("cannot join the group", errno) }
    }

    deinit { close(descriptor) }

    /// Sends to the group, or to a port of this machine.
    func send(_ bytes: [UInt8], to port: UInt16? = nil) {
        var place = DNSSocket.place(
            port == nil ? DNSSocket.group : DNSSocket.here, port ?? DNSSocket.usualPort)
        // A packet that the kernel does not take is lost, as any packet can be.
        _ = unsafe DNSSocket.lend(&place) { unsafe sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
    }

    func move() {
        for _ in 0..<256 {
            var bytes = [UInt8](repeating: 0, count: 9_200)
            var place = DNSSocket.place(0, 0)
            let room = bytes.count
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = unsafe withUnsafeMutablePointer(to: &place) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe recvfrom(descriptor, &bytes, room, 0, $0, &length)
                }
            }
            guard count >= 0 else { return }
            onPacket(
                Packet(bytes: Array(bytes.prefix(count)), port: UInt16(bigEndian: place.sin_port), time: .now)
            )
        }
    }

    private static func place(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return address
    }

    private static func lend<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
