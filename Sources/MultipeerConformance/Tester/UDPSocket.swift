import MultipeerPlatform
import MultipeerTransport

/// A UDP socket of the tester at 127.0.0.1. It never blocks.
final class UDPSocket: PollSource {
    struct Packet {
        let bytes: [UInt8]
        let port: UInt16
        let time: ContinuousClock.Instant
    }

    let descriptor: Int32
    let port: UInt16
    private(set) var arrived: [Packet] = []
    private(set) var hasReceived = false
    var wantsToRead: Bool { true }
    var wantsToWrite: Bool { false }
    /// Called with each packet that is received, instead of keeping it.
    var onPacket: ((Packet) -> Void)?

    init() throws(SuiteFault) {
        let made = SystemCalls.socket(AF_INET, CLibrary.datagramSocket, Int32(IPPROTO_UDP))
        guard made >= 0 else { throw .system("no socket", errno) }
        var address = UDPSocket.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                unsafe bind(made, place, length) == 0 && getsockname(made, place, &length) == 0
            }
        }
        descriptor = made
        port = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw .system("cannot bind", errno) }
    }

    deinit { close(descriptor) }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    func send(_ bytes: [UInt8], to port: UInt16) {
        var address = UDPSocket.loopback(port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                // A packet that the kernel does not take is lost, as any packet can be.
                _ = unsafe sendto(descriptor, bytes, bytes.count, 0, place, length)
            }
        }
    }

    func move() {
        for _ in 0..<64 {
            var bytes = [UInt8](repeating: 0, count: 2_048)
            var address = UDPSocket.loopback(0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let room = bytes.count
            let count = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                    unsafe recvfrom(descriptor, &bytes, room, 0, place, &length)
                }
            }
            guard count >= 0 else { return }
            let packet = Packet(
                bytes: Array(bytes.prefix(count)), port: UInt16(bigEndian: address.sin_port), time: .now)
            hasReceived = true
            if let onPacket { onPacket(packet) } else { arrived.append(packet) }
        }
    }
}
