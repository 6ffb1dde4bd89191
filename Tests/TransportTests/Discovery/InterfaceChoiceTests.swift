import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Choice of interfaces", .computing)
struct InterfaceChoiceTests {
    private static let up: UInt32 = 0x1043
    private static let tentative: UInt32 = 0x40

    /// Loopback, two cables, a tunnel, one that is down and one without multicast.
    private static func machine() throws -> InterfaceTable {
        var table = InterfaceTable()
        for (index, name, flags) in [
            (UInt32(1), "lo", UInt32(0x49)), (2, "eth0", up), (3, "eth1", up), (4, "tun0", up | 0x10),
            (5, "eth2", 0x1003),
            (6, "can0", 0x43),
        ] {
            table.apply(.link(.init(index: index, flags: flags, name: name, mtu: 1_400)))
        }
        for (index, text, prefix, flags) in [
            (UInt32(1), "127.0.0.1", UInt8(8), UInt32(0)), (1, "::1", 128, 0), (2, "10.0.0.2", 24, 0),
            (2, "2001:db8::2", 64, 0), (2, "fe80::2%2", 64, 0), (3, "fe80::3%3", 64, tentative),
            (4, "10.9.0.1", 32, 0), (5, "10.5.0.1", 24, 0), (6, "10.6.0.1", 24, 0),
        ] {
            let host = try #require(SocketAddress.Host(text))
            table.apply(.address(.init(index: index, host: host, prefix: prefix, flags: flags)))
        }
        return table
    }

    private func links(
        _ interfaces: DiscoveryConfiguration.Interfaces, in table: InterfaceTable,
        families: Set<DiscoveryConfiguration.Family> = [.v4, .v6]
    ) throws -> [MulticastLink] {
        try settings(interfaces, families).links(in: table)
    }

    private func settings(
        _ interfaces: DiscoveryConfiguration.Interfaces,
        _ families: Set<DiscoveryConfiguration.Family> = [.v4, .v6]
    ) throws -> MulticastSettings {
        var configuration = DiscoveryConfiguration(interfaces: interfaces)
        configuration.families = families
        return try configuration.settings
    }

    @Test(
        "'all' selects interfaces that are up and support multicast, except loopback and point-to-point ones [mdns.scope]"
    )
    func all() throws {
        let links = try settings(.only(["lo", "eth0", "eth1", "tun0", "eth2", "can0"])).links(
            in: Self.machine())
        #expect(links.map(\.name) == ["lo", "eth0"])
        let table = try Self.machine()
        let everything = MulticastSettings(interfaces: .all, hostTTL: 120, families: [.v4, .v6])
        #expect(everything.links(in: table).map(\.name) == ["eth0"])
        #expect(try self.links(.loopback, in: table).map(\.name) == ["lo"])
    }

    @Test("packets are sent from the link-local address of IPv6, and every address is advertised")
    func addresses() throws {
        let link = try #require(try links(.only(["eth0"]), in: Self.machine()).first)
        #expect(link.sources == [.v4: .v4(0x0a00_0002), .v6: try #require(SocketAddress.Host("fe80::2%2"))])
        #expect(
            link.scope.addresses.count == 3 && link.scope.mtu == 1_400 && link.scope.families == [.v4, .v6])
        let v4 = try #require(try links(.only(["eth0"]), in: Self.machine(), families: [.v4]).first)
        #expect(v4.scope.families == [.v4] && v4.scope.addresses.map(\.prefix) == [24])
    }

    @Test("the loopback interface has IPv4 alone [mdns.scope]")
    func loopback() throws {
        let link = try #require(try links(.loopback, in: Self.machine()).first)
        #expect(link.scope.families == [.v4] && link.scope.isLoopback)
        #expect(link.scope.addresses.map(\.bytes) == [[127, 0, 0, 1]])
        #expect(try links(.loopback, in: Self.machine(), families: [.v6]).isEmpty)
    }

    @Test("a tentative address does not count until its uniqueness is confirmed [mdns.scope]")
    func tentative() throws {
        var table = try Self.machine()
        #expect(try links(.only(["eth1"]), in: table).isEmpty)
        let host = try #require(SocketAddress.Host("fe80::3%3"))
        // Optimistic ones can be used at once; duplicate ones never can.
        for (flags, isUsable) in [(UInt32(0x44), true), (0x08, false), (0x48, false), (0x80, true)] {
            table.apply(.address(.init(index: 3, host: host, prefix: 64, flags: flags)))
            #expect(try links(.only(["eth1"]), in: table).isEmpty == !isUsable)
        }
        table.apply(.addressGone(.init(index: 3, host: host, prefix: 64)))
        #expect(try links(.only(["eth1"]), in: table).isEmpty)
    }

    @Test("an interface that disappears removes its addresses")
    func going() throws {
        var table = try Self.machine()
        table.apply(.link(.init(index: 2, flags: 0x1003, name: "eth0", mtu: 1_500)))
        #expect(try links(.only(["eth0"]), in: table).isEmpty)
        table.apply(.link(.init(index: 2, flags: Self.up, name: "eth0", mtu: 1_500)))
        #expect(try links(.only(["eth0"]), in: table).first?.scope.addresses.count == 3)
        table.apply(.linkGone(2))
        table.apply(.link(.init(index: 2, flags: Self.up, name: "eth0", mtu: 1_500)))
        #expect(try links(.only(["eth0"]), in: table).isEmpty)
    }

    @Test("with very many interfaces those with IPv4 come first, 32 in all [mdns.limit]")
    func many() throws {
        var table = InterfaceTable()
        for index in UInt32(1)...100 {
            table.apply(.link(.init(index: index, flags: Self.up, name: "veth\(index)", mtu: 1_500)))
            let host = SocketAddress.Host.v6(high: 0xfe80 << 48, low: UInt64(index), scope: index)
            table.apply(.address(.init(index: index, host: host, prefix: 64)))
        }
        table.apply(.address(.init(index: 99, host: .v4(0x0a00_0001), prefix: 24)))
        let links = MulticastSettings(interfaces: .all, hostTTL: 120, families: [.v4, .v6]).links(in: table)
        #expect(links.count == 32 && links.last?.name == "veth99")
    }

    @Test("an impossible choice fails with the reason")
    func complaints() throws {
        let table = try Self.machine()
        let unknown = try settings(.only(["eth0", "wlan7"])).validationError(about: table)
        #expect(unknown?.code == .discovery)
        #expect(unknown?.description.contains("no network interface 'wlan7'; available: lo, eth0") == true)
        #expect(try settings(.only(["eth0"])).validationError(about: table) == nil)
        for (name, text) in [
            ("tun0", "is point-to-point"), ("eth2", "is down"), ("can0", "carries no multicast"),
            ("eth1", "has no usable address"),
        ] {
            let reason = try settings(.only([name])).reason(in: table).description
            #expect(reason.contains("\(name) \(text)") && reason.contains("connection data"))
        }
        let none = MulticastSettings(interfaces: .all, hostTTL: 120, families: [.v4]).reason(
            in: InterfaceTable())
        #expect(none.description.contains("no network interface but loopback"))
    }

    @Test("the environment replaces the choice of all interfaces, and no other")
    func environment() {
        let standard = DiscoveryConfiguration()
        #expect(standard.interfaces(named: nil) == .all)
        #expect(standard.interfaces(named: "") == .all)
        #expect(standard.interfaces(named: "lo") == .only(["lo"]))
        #expect(standard.interfaces(named: "eth0, lo,") == .only(["eth0", "lo"]))
        #expect(DiscoveryConfiguration.loopback.interfaces(named: "eth0") == .loopback)
        #expect(DiscoveryConfiguration(interfaces: .only(["a"])).interfaces(named: "eth0") == .only(["a"]))
    }

    @Test("settings outside their ranges are refused, and equal ones are equal")
    func settings() throws {
        func with(_ change: (inout DiscoveryConfiguration) -> Void) -> DiscoveryConfiguration {
            var configuration = DiscoveryConfiguration.loopback
            change(&configuration)
            return configuration
        }
        for wrong in [
            with { $0.hostTTL = .seconds(9) }, with { $0.hostTTL = .seconds(121) }, with { $0.families = [] },
            with { $0.interfaces = .only([]) },
        ] {
            #expect(throws: MultipeerError(.invalidArgument, "")) { try wrong.settings }
        }
        #expect(try DiscoveryConfiguration(interfaces: .only(["lo"])).settings == with { _ in }.settings)
        let one = try MulticastDiscovery.shared(for: .loopback)
        #expect(try MulticastDiscovery.shared(for: DiscoveryConfiguration(interfaces: .only(["lo"]))) === one)
        #expect(try MulticastDiscovery.shared(for: with { $0.hostTTL = .seconds(20) }) !== one)
    }
}
