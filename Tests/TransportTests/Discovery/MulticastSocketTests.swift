import Glibc
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Multicast sockets on loopback", .inTurns)
struct MulticastSocketTests {
    private let loopback: UInt32

    init() throws {
        loopback = try #require(try NetworkInterface.all().first { $0.isLoopback }).index
    }

    private func joined() throws -> MulticastSocket {
        try MulticastSocket.joined(interface: "lo", index: loopback, source: .loopbackV4)
    }

    /// Returns bytes that are invalid for all other receivers, and that no other sender sends.
    private func word() -> [UInt8] { [0xff] + SystemRandomness().bytesOnce(11) }

    @Test("every socket of the group receives a packet, the sender's too, from 127.0.0.1 and port 5353")
    func group() async throws {
        try await withLoop { loop in
            let one = try joined()
            let other = try joined()
            let word = word()
            let isSent = one.send(word)
            #expect(isSent)
            let expected = SocketAddress(.loopbackV4, port: 5353)
            #expect(try await source(of: word, at: one, Probe(loop)) == expected)
            #expect(try await source(of: word, at: other, Probe(loop)) == expected)
        }
    }

    @Test("a query from its own port is answered to that port alone")
    func oneShot() async throws {
        try await withLoop { loop in
            let group = try joined()
            let asking = try MulticastSocket.oneShot(index: loopback, source: .loopbackV4)
            let local = asking.localAddress
            let here = try #require(local)
            #expect(here.host == .loopbackV4 && here.port != 5353)
            let (question, answer) = (word(), word())
            let isAsked = asking.send(question)
            #expect(isAsked)
            #expect(try await source(of: question, at: group, Probe(loop)) == here)
            let isAnswered = group.send(answer, to: here)
            #expect(isAnswered)
            #expect(
                try await source(of: answer, at: asking, Probe(loop))
                    == SocketAddress(.loopbackV4, port: 5353))
        }
    }

    @Test("packets carry a hop limit of 255, and stay on their interface")
    func hops() async throws {
        let group = try joined()
        let asking = try MulticastSocket.oneShot(index: loopback, source: .loopbackV4)
        for descriptor in [group.descriptor, asking.descriptor] {
            for option in [IP_TTL, IP_MULTICAST_TTL] {
                #expect(number(option, of: descriptor) == 255)
            }
            #expect(number(IP_MULTICAST_ALL, of: descriptor) == 0)
            #expect(number(IP_MULTICAST_LOOP, of: descriptor) == 1)
        }
    }

    @Test("a foreign address, and a group that cannot be joined, are refused")
    func refused() throws {
        #expect(throws: SocketFault.self) {
            _ = try MulticastSocket.joined(interface: "lo", index: 999_999, source: .loopbackV4)
        }
        #expect(throws: SocketFault.self) {
            _ = try MulticastSocket.oneShot(index: loopback, source: .v4(0xc000_0201))
        }
    }

    private func number(_ option: Int32, of descriptor: Int32) -> Int32 {
        var (value, size) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        _ = unsafe getsockopt(descriptor, Int32(IPPROTO_IP), option, &value, &size)
        return value
    }

    /// Waits for a packet, and returns where it came from.
    private func source(
        of word: [UInt8], at socket: borrowing MulticastSocket, _ probe: Probe
    ) async throws -> SocketAddress {
        let receiveBuffer = DatagramReceiveBuffer(slots: 16, size: 9_216)
        var found: SocketAddress?
        while true {
            _ = try await probe.wait(socket.descriptor, for: .readable)
            var isMore = true
            while isMore {
                isMore = socket.receive(with: receiveBuffer) { bytes, source in
                    if [UInt8](copying: bytes) == word { found = source }
                }
            }
            if let found { return found }
        }
    }
}

extension SystemRandomness {
    fileprivate func bytesOnce(_ count: Int) -> [UInt8] {
        var randomness = self
        return randomness.bytes(count)
    }
}
