import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Netlink messages", .computing)
struct NetlinkMessageTests {
    private static var several: [UInt8] {
        NetlinkBytes.link(3, "eth0", flags: 0x1043)
            + NetlinkBytes.address(3, [10, 1, 2, 3], prefix: 16)
            + NetlinkBytes.address(
                3, [0xfe, 0x80] + [UInt8](repeating: 7, count: 14), prefix: 64, flags: 0x40)
            + NetlinkBytes.address(3, [10, 1, 2, 3], prefix: 16, isGone: true)
            + NetlinkBytes.link(3, "eth0", flags: 0, isGone: true) + NetlinkBytes.done()
    }

    @Test("links, addresses, their removal and the end of a list are read")
    func reading() throws {
        let host = try #require(SocketAddress.Host("10.1.2.3"))
        let linkLocal = try #require(SocketAddress.Host("fe80:707:707:707:707:707:707:707%3"))
        #expect(
            NetlinkMessage.read(Self.several.span) == [
                .link(NetlinkMessage.Link(index: 3, flags: 0x1043, name: "eth0", mtu: 1_500)),
                .address(NetlinkMessage.Address(index: 3, host: host, prefix: 16)),
                .address(NetlinkMessage.Address(index: 3, host: linkLocal, prefix: 64, flags: 0x40)),
                .addressGone(NetlinkMessage.Address(index: 3, host: host, prefix: 16)),
                .linkGone(3), .done(isWhole: true),
            ])
        #expect(NetlinkMessage.read(NetlinkBytes.done(isWhole: false).span) == [.done(isWhole: false)])
        #expect(NetlinkMessage.read(NetlinkBytes.failed(1).span) == [.failed(1)])
        #expect(NetlinkMessage.read(NetlinkBytes.failed(0).span).isEmpty)
    }

    @Test("a machine of either byte order reads the same, and asks for it", arguments: ByteOrder.allCases)
    func byteOrder(_ order: ByteOrder) {
        let here = NetlinkMessage.read(Self.several.span)
        NetlinkBytes.$order.withValue(order) {
            #expect(NetlinkMessage.read(Self.several.span, order: order) == here)
            let request = NetlinkBytes.bytes(UInt32(32)) + NetlinkBytes.bytes(UInt16(18))
            #expect(NetlinkMessage.request(18, order: order).prefix(6) == request[...])
        }
        #expect(here.count == 6)
    }

    @Test("a message is read at any alignment")
    func alignment() {
        let several = Self.several
        for offset in 0..<8 {
            let moved = [UInt8](repeating: 0xff, count: offset) + several
            let read = NetlinkMessage.read(moved.span.extracting(droppingFirst: offset))
            #expect(read == NetlinkMessage.read(several.span))
        }
    }

    @Test("of a point-to-point interface the local address is used, not the peer's")
    func local() throws {
        let bytes = NetlinkBytes.address(9, [10, 0, 0, 1], prefix: 32, peer: [10, 0, 0, 2])
        let ours = try #require(SocketAddress.Host("10.0.0.1"))
        #expect(
            NetlinkMessage.read(bytes.span)
                == [.address(NetlinkMessage.Address(index: 9, host: ours, prefix: 32))])
    }

    @Test("a bridge's message about its port does not remove the interface")
    func bridge() {
        #expect(
            NetlinkMessage.read(NetlinkBytes.link(3, "eth0", flags: 1, family: 7, isGone: true).span).isEmpty)
    }

    @Test("of a truncated buffer the complete messages are read and the rest is not")
    func truncation() {
        let whole = NetlinkMessage.read(Self.several.span)
        for count in 0..<Self.several.count {
            let read = NetlinkMessage.read(Array(Self.several.prefix(count)).span)
            #expect(read.count < whole.count && read == Array(whole.prefix(read.count)))
        }
        let bodies = [
            NetlinkBytes.link(3, "eth0", flags: 1), NetlinkBytes.address(3, [10, 1, 2, 3], prefix: 16),
            NetlinkBytes.failed(1), NetlinkBytes.done(),
        ]
        for body in bodies {
            // The header is correct, and its content is truncated.
            for count in 16...body.count {
                let kind = UInt16(body[4]) | UInt16(body[5]) << 8
                _ = NetlinkMessage.read(NetlinkBytes.message(kind, Array(body[16..<count])).span)
            }
        }
    }

    @Test("arbitrary bytes are read without harm, even with false lengths")
    func rubbish() {
        var random = Seeded(12)
        for round in 0..<Sanitizer.fewer(3_000) {
            var bytes = Self.several
            for _ in 0..<(1 + round % 8) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8(
                    truncatingIfNeeded: random.next())
            }
            if round % 3 == 0 { bytes = random.bytes(round % 200) }
            #expect(NetlinkMessage.read(bytes.span).count <= bytes.count / 16)
        }
        for length in [UInt16(0), 1, 3, 4, 5, .max] {
            let lying = NetlinkBytes.bytes(length) + NetlinkBytes.bytes(UInt16(3)) + [1]
            let info = [UInt8](repeating: 1, count: 16)
            _ = NetlinkMessage.read(NetlinkBytes.message(16, info + lying).span)
            _ = NetlinkMessage.read(NetlinkBytes.message(20, Array(info.prefix(8)) + lying).span)
        }
        for length in [UInt32(0), 15, 16, 17, .max] {
            #expect(
                NetlinkMessage.read((NetlinkBytes.bytes(length) + [UInt8](repeating: 0, count: 12)).span)
                    .isEmpty)
        }
    }

    @Test("the loopback interface and its address are reported")
    func kernel() throws {
        let watch = try InterfaceMonitor()
        let loopback = try #require(watch.table.all.first { $0.isLoopback })
        #expect(loopback.name == "lo" && loopback.isUp && loopback.mtu > 1_500)
        #expect(loopback.addresses.contains { $0.host == .loopbackV4 && $0.prefix == 8 })
        #expect(!watch.read())
    }
}
