import MultipeerTransport
import TestSupport
import Testing

@Suite("Network interfaces", .computing)
struct NetworkInterfaceTests {
    @Test("the loopback interface exists, is up, and has its address")
    func loopback() throws {
        let loopback = try #require(try NetworkInterface.all().first { $0.isLoopback })
        #expect(loopback.isUp)
        #expect(loopback.index > 0)
        #expect(loopback.addresses.contains(NetworkInterface.Address(.loopbackV4, prefix: 8)))
        #expect(loopback.usableAddresses.isEmpty)
    }

    @Test("an interface that is down has no usable address, and special addresses are never usable")
    func usable() {
        let addresses: [SocketAddress.Host] = [.v4(0x0a00_0001), .anyV4, .loopbackV6, .v4(0xe000_0001)]
        func interface(isUp: Bool) -> NetworkInterface {
            NetworkInterface(
                name: "a", index: 2, isUp: isUp, isLoopback: false,
                addresses: addresses.map { NetworkInterface.Address($0, prefix: 8) })
        }
        #expect(interface(isUp: true).usableAddresses == [.v4(0x0a00_0001)])
        #expect(interface(isUp: false).usableAddresses == [])
    }

    @Test("the broadcast address of a network is its last")
    func broadcast() {
        #expect(NetworkInterface.Address(.v4(0x0a01_0203), prefix: 8).broadcast == .v4(0x0aff_ffff))
        #expect(NetworkInterface.Address(.v4(0x0a01_0203), prefix: 31).broadcast == nil)
        #expect(NetworkInterface.Address(.loopbackV6, prefix: 64).broadcast == nil)
    }

    @Test("an address is replaced when the machine has lost it, and has another one that can be used")
    func replaced() {
        let (old, new) = (SocketAddress.Host.v4(0x0a00_0001), SocketAddress.Host.v4(0x0a00_0002))
        func interfaces(isUp: Bool = true, _ hosts: SocketAddress.Host...) -> [NetworkInterface] {
            [
                NetworkInterface(
                    name: "a", index: 2, isUp: isUp, isLoopback: false,
                    addresses: hosts.map { NetworkInterface.Address($0, prefix: 8) })
            ]
        }
        #expect(interfaces(new).haveReplaced(old))
        #expect(!interfaces(old, new).haveReplaced(old))
        #expect(!interfaces(isUp: false, old).haveReplaced(old), "a port that is down keeps its address")
        #expect(!interfaces().haveReplaced(old) && !interfaces(isUp: false, new).haveReplaced(old))
        #expect(!interfaces(new).haveReplaced(.loopbackV4))
        #expect(!interfaces(old).haveReplaced(.v6(high: 0, low: 0xffff_0a00_0001)))
    }
}
