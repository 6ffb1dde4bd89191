import Glibc
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

/// What other systems than Linux use, and what the trait `PortableRuntime` chooses, is tested in every build.
@Suite("10 The portable runtime", .inTurns)
struct PortableRuntimeTests {
    @Test("sockets and pipes do not block, and no other program inherits them")
    func flags() throws {
        let socket = PortableCalls.socket(AF_INET, Int32(SOCK_STREAM.rawValue), Int32(IPPROTO_TCP))
        defer { close(socket) }
        let waker = try PipeWaker()
        defer { waker.close() }
        for descriptor in [socket, waker.descriptor] {
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        }
        #expect(PortableCalls.socket(-1, -1, -1) == -1)
    }

    @Test("random bytes fill memory of any size")
    func randomness() {
        for count in [1, 255, 256, 257, 1_000] {
            var bytes = [UInt8](repeating: 0, count: count)
            for _ in 0..<8 where bytes.last == 0 {
                unsafe bytes.withUnsafeMutableBytes { unsafe PortableCalls.fill($0) }
            }
            #expect(bytes.last != 0)
            #expect(count < 255 || bytes.filter { $0 == 0 }.count < count / 8)
        }
    }

    @Test("the list of addresses has the same interfaces as the kernel's reports")
    func interfaces() throws {
        let (listed, reported) = (try AddressListMonitor().table.all, try NetlinkMonitor().table.all)
        #expect(listed.map(\.name) == reported.map(\.name))
        for (one, other) in zip(listed, reported) {
            #expect(one.index == other.index && one.mtu == other.mtu)
            #expect(one.isUp == other.isUp && one.isLoopback == other.isLoopback)
            #expect(one.isPointToPoint == other.isPointToPoint)
            #expect(one.carriesMulticast == other.carriesMulticast)
            let hosts = other.addresses.filter { !$0.isTentative }.map { "\($0.host)/\($0.prefix)" }
            #expect(Set(one.addresses.map { "\($0.host)/\($0.prefix)" }).isSuperset(of: hosts))
        }
    }

    private static func text(_ addresses: [InterfaceTable.Address]) -> [String] {
        addresses.map { "\($0.host)/\($0.prefix) \($0.isTentative)" }.sorted()
    }

    @Test("without netlink the same interfaces and addresses are found, as far as it goes without /proc, too")
    func calls() throws {
        let (listed, reported) = (try InterfaceTable.byCalls().all, try NetlinkMonitor().table.all)
        #expect(listed.map(\.name) == reported.map(\.name))
        for (one, other) in zip(listed, reported) {
            #expect(one.index == other.index && one.mtu == other.mtu)
            #expect(one.isUp == other.isUp && one.isLoopback == other.isLoopback)
            #expect(one.isPointToPoint == other.isPointToPoint)
            #expect(one.carriesMulticast == other.carriesMulticast)
            #expect(PortableRuntimeTests.text(one.addresses) == PortableRuntimeTests.text(other.addresses))
        }
        let bare = try InterfaceTable.byCalls { _ in nil }.all
        let loopback = try #require(bare.first { $0.isLoopback })
        #expect(loopback.addresses.allSatisfy { $0.host.isV4 } && loopback.isUp)
        #expect(
            NetworkInterface(loopback).addresses.contains(NetworkInterface.Address(.loopbackV4, prefix: 8)))
    }

    @Test(
        "a line about an IPv6 address is read, and what is none is refused",
        arguments: [
            ("fe80000000000000000000000000abcd 02 40 20 80     eth0", true),
            ("fe80000000000000000000000000abcd 02 81 20 80 eth0", false),
            ("fe80000000000000000000000000abcd 00 40 20 80 eth0", false),
            ("fe80000000000000000000000000abcg 02 40 20 80 eth0", false),
            ("fe80000000000000000000000000abc 02 40 20 80 eth0", false),
            ("fe80000000000000000000000000abcd 02 40 -1 80 eth0", false),
            ("fe80000000000000000000000000abcd 02 40", false), ("", false),
        ])
    func line(_ text: String, _ isAddress: Bool) {
        let address = InterfaceTable.Address(line: text[...])
        let host = SocketAddress.Host.v6(high: 0xfe80 << 48, low: 0xabcd, scope: 2)
        let expected = InterfaceTable.Address(index: 2, host: host, prefix: 64, flags: 0x80)
        #expect(address == (isAddress ? expected : nil))
    }

    @Test("without reports of the system the interfaces are looked at; a want of descriptors is an error")
    func forbidden() throws {
        let monitor = try InterfaceMonitors.open { () throws(SocketFault) in throw .permission }
        #expect(monitor is AddressListMonitor && monitor.deadline != nil)
        #expect(throws: SocketFault.tooManyFiles) {
            _ = try InterfaceMonitors.open { () throws(SocketFault) in throw .tooManyFiles }
        }
        #expect(throws: SocketFault.tooManyFiles) {
            _ = try LinuxSocketOptions.interfaces(after: .tooManyFiles)
        }
        #expect(try LinuxSocketOptions.interfaces(after: .permission).all.contains { $0.isLoopback })
        #expect(InterfaceMonitors.problem() == nil)
    }

    @Test("a look that finds nothing new reports no change, and there is always a next one")
    func looks() throws {
        let monitor = try AddressListMonitor()
        let first = try #require(monitor.deadline)
        #expect(monitor.descriptor == nil)
        _ = monitor.read()
        #expect(!monitor.read())
        let next = try #require(monitor.deadline)
        #expect(next >= first && next - EventLoop.currentMoment() <= AddressListMonitor.interval)
    }
}
