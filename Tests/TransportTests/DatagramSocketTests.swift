import Glibc
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("10 Datagram sockets", .inTurns)
struct DatagramSocketTests {
    typealias SendMethod = DatagramSocket.SendMethod

    /// Those that this runtime has: a portable one sends packets one by one.
    static let methods = SendMethod.allCases.filter { $0 <= DatagramSocket.bestSendMethod }
    static let hosts = [SocketAddress.Host.loopbackV4, .loopbackV6]
    /// Packets of these sizes, as often: runs that end with a shorter one, with a longer one, by number and by bytes.
    static let sizes: [[Int]] = [
        [1],
        [1_200],
        Array(repeating: 100, count: 64),
        Array(repeating: 100, count: 65),
        Array(repeating: 100, count: 63) + [99, 100, 101],
        Array(repeating: 1_200, count: 54) + [1_200, 1_200],
        [1, 2, 3, 4, 5, 4, 3, 2, 1],
        [10, 10, 10, 3, 3, 3, 700, 700, 1_200, 1],
    ]

    @Test(
        "packets of equal and unequal sizes arrive unchanged, by every method",
        arguments: Self.sizes, Self.methods)
    func arrives(_ sizes: [Int], _ means: SendMethod) async throws {
        for host in Self.hosts {
            for receiving in [SendMethod.segments, .oneByOne] {
                let packets = sizes.enumerated().map {
                    [UInt8](repeating: UInt8($0.offset), count: $0.element)
                }
                let arrived = try await exchange(packets, on: host, means, receiving: receiving)
                #expect(arrived == packets)
            }
        }
    }

    @Test("a run has equal packets, ends after a shorter one, and has at most 64 packets and 64 KiB")
    func runs() {
        #expect(run(of: []) == [0, 0])
        #expect(run(of: [5]) == [1, 5])
        #expect(run(of: [5, 5, 5]) == [3, 15])
        #expect(run(of: [5, 5, 4, 4]) == [3, 14])
        #expect(run(of: [5, 6]) == [1, 5])
        #expect(run(of: Array(repeating: 7, count: 70)) == [64, 448])
        #expect(run(of: Array(repeating: 1_200, count: 60)) == [54, 64_800])
    }

    @Test(
        "a kernel that refuses segmentation is asked once, and nothing is lost",
        .enabled(if: DatagramSocket.bestSendMethod == .segments))
    func refusedSegments() async throws {
        try await withSockets(on: .loopbackV4, .segments) { sender, receiver, there, probe in
            // Segments need a checksum: without one the kernel refuses them.
            var one: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            #expect(unsafe setsockopt(sender.descriptor, SOL_SOCKET, SO_NO_CHECK, &one, size) == 0)
            var batch = DatagramBatch()
            for number in 0..<10 { batch.append([UInt8(number), 0, 0].span) }
            let sent = sender.send(&batch, to: there)
            #expect(sent.sent == 10)
            let means = sender.sendMethod
            #expect(means == .together)
            let arrived = try await collect(10, from: receiver, probe)
            #expect(arrived.map(\.first) == (0..<10).map { UInt8($0) })
        }
    }

    @Test("a wildcard socket uses IPv4 and IPv6, and reports IPv4 sources as such")
    func dualStack() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            var everywhere = try DatagramSocket.everywhere()
            let local = everywhere.localAddress
            let port = try #require(local).port
            for host in Self.hosts {
                var other = try DatagramSocket.bound(to: SocketAddress(host, port: 0))
                let address = other.localAddress
                let here = try #require(address)
                var batch = DatagramBatch()
                batch.append([1, 2, 3].span)
                let asked = other.send(&batch, to: SocketAddress(host, port: port))
                #expect(asked.sent == 1)
                var sources: [SocketAddress] = []
                _ = try await probe.wait(everywhere.descriptor, for: .readable)
                let received = everywhere.receive(with: DatagramReceiveBuffer()) { sources.append($1) }
                #expect(received.packets == 1)
                #expect(sources == [here])
                batch.append([4].span)
                let answered = everywhere.send(&batch, to: here)
                #expect(answered.sent == 1)
                let arrived = try await collect(1, from: other, probe)
                #expect(arrived == [[4]])
            }
        }
    }

    @Test("packets that exceed the buffer or the network's MTU are dropped, and the rest is sent")
    func truncated() async throws {
        try await withSockets(on: .loopbackV4, .oneByOne) { sender, receiver, there, probe in
            var batch = DatagramBatch()
            for size in [10, 3_000, 20] { batch.append([UInt8](repeating: 1, count: size).span) }
            let sent = sender.send(&batch, to: there)
            #expect(sent.sent == 3)
            let receiveBuffer = DatagramReceiveBuffer(slots: 4, size: 2_048)
            var (sizes, dropped) = ([Int](), 0)
            while sizes.count + dropped < 3 {
                _ = try await probe.wait(receiver.descriptor, for: .readable)
                let received = receiver.receive(with: receiveBuffer) { bytes, _ in sizes.append(bytes.count) }
                dropped += received.dropped
            }
            #expect(sizes == [10, 20])
            #expect(dropped == 1)
        }
    }

    @Test("a closed port, and an unreachable network, do not end the socket", arguments: Self.hosts)
    func nobody(_ host: SocketAddress.Host) async throws {
        try await withSockets(on: host, .segments) { sender, receiver, there, probe in
            let nowhere = try closedPort(on: host)
            var batch = DatagramBatch()
            for _ in 0..<3 {
                batch.append([1].span)
                _ = sender.send(&batch, to: nowhere)
                // The wildcard's broadcast is not permitted, documentation's prefix is not routed from the loopback.
                let unreachable: SocketAddress.Host =
                    host.isV4 ? .v4(.max) : .v6(high: 0x2001_0db8_0000_0000, low: 1)
                batch.append([2].span)
                _ = sender.send(&batch, to: SocketAddress(unreachable, port: 9_999))
                let isEmpty = batch.isEmpty
                #expect(isEmpty)
                let received = sender.receive(with: DatagramReceiveBuffer()) { _, _ in }
                #expect(received.packets == 0)
            }
            batch.append([3].span)
            let sent = sender.send(&batch, to: there)
            #expect(sent.sent == 1)
            let arrived = try await collect(1, from: receiver, probe)
            #expect(arrived == [[3]])
        }
    }

    @Test(
        "100,000 packets, a window at a time, all arrive in order", arguments: Self.hosts, Self.methods
    )
    func many(_ host: SocketAddress.Host, _ means: SendMethod) async throws {
        let (total, window) = (Sanitizer.fewer(100_000), 128)
        try await withSockets(on: host, means) { sender, receiver, there, probe in
            let receiveBuffer = DatagramReceiveBuffer()
            var batch = DatagramBatch()
            var (sent, arrived, faults) = (0, 0, 0)
            while arrived < total {
                while sent < total, sent - arrived + batch.count < window, batch.count < 64 {
                    let number = sent + batch.count
                    if number == total { break }
                    batch.append {
                        $0.append(UInt32(number))
                        // Mostly equal, so that runs are of some length.
                        if number % 50 == 49 { $0.append(UInt8(0)) }
                    }
                }
                sent += sender.send(&batch, to: there).sent
                let received = receiver.receive(with: receiveBuffer) { bytes, source in
                    var cursor = ByteCursor()
                    let number: UInt32? = try? cursor.integer(in: bytes)
                    if number != UInt32(arrived) { faults += 1 }
                    arrived += 1
                }
                if received.packets == 0 { _ = try await probe.wait(receiver.descriptor, for: .readable) }
            }
            #expect(faults == 0)
            let used = sender.sendMethod
            #expect(used == means)
        }
    }

    private func closedPort(on host: SocketAddress.Host) throws -> SocketAddress {
        let socket = try DatagramSocket.bound(to: SocketAddress(host, port: 0))
        let address = socket.localAddress
        return try #require(address)
    }

    private func run(of sizes: [Int]) -> [Int] {
        var batch = DatagramBatch()
        for size in sizes { batch.append([UInt8](repeating: 0, count: size).span) }
        let run = batch.run()
        return [run.packets, run.bytes]
    }

    private func exchange(
        _ packets: [[UInt8]], on host: SocketAddress.Host, _ means: SendMethod, receiving: SendMethod
    ) async throws -> [[UInt8]] {
        try await withSockets(on: host, means, receiving: receiving) { sender, receiver, there, probe in
            var batch = DatagramBatch()
            for packet in packets { batch.append(packet.span) }
            let waiting = batch.count
            #expect(waiting == packets.count)
            let sent = sender.send(&batch, to: there)
            #expect(sent.sent == packets.count)
            let (left, used) = (batch.count, sender.sendMethod)
            #expect(left == 0)
            #expect(used == means)
            return try await collect(packets.count, from: receiver, probe)
        }
    }

    private func collect(
        _ count: Int, from socket: borrowing DatagramSocket, _ probe: Probe
    ) async throws -> [[UInt8]] {
        let receiveBuffer = DatagramReceiveBuffer()
        var packets: [[UInt8]] = []
        while packets.count < count {
            _ = try await probe.wait(socket.descriptor, for: .readable)
            _ = socket.receive(with: receiveBuffer) { bytes, _ in packets.append([UInt8](copying: bytes)) }
        }
        return packets
    }

    private func withSockets<Result>(
        on host: SocketAddress.Host, _ means: SendMethod, receiving: SendMethod = .segments,
        _ body: (inout DatagramSocket, borrowing DatagramSocket, SocketAddress, Probe) async throws -> Result
    ) async throws -> Result {
        try await withLoop { loop in
            var sender = try DatagramSocket.bound(to: SocketAddress(host, port: 0), atMost: means)
            let receiver = try DatagramSocket.bound(to: SocketAddress(host, port: 0), atMost: receiving)
            receiver.joinPackets()
            let address = receiver.localAddress
            let there = try #require(address)
            return try await body(&sender, receiver, there, Probe(loop))
        }
    }
}
