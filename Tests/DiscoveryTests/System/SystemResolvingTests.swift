import MultipeerCore
import TestSupport
import Testing

@testable import MultipeerDiscovery

@Suite("12.8 Addresses from the system's responder", .computing)
struct SystemResolvingTests {
    private let chat: ServiceType
    private let ann: Advert
    private static let linkLocal: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7]

    init() throws {
        chat = try ServiceType(parsing: "chat")
        ann = try Sample.advert()
    }

    private func resolving(_ harness: SystemHarness = SystemHarness()) -> SystemHarness {
        var harness = harness
        _ = harness.with { [ann, chat] dns, now in
            dns.resolve(ann.peer.uid, of: chat, within: .seconds(5), at: now)
        }
        return harness
    }

    private func candidates(_ harness: SystemHarness) -> [Candidate]? {
        let found = harness.told.compactMap { action -> [Candidate]? in
            if case .resolved(_, let resolution) = action { resolution.candidates } else { nil }
        }
        return found.count > 1 ? nil : found.first
    }

    private func candidate(_ address: [UInt8], port: UInt16 = 4_000, on interface: UInt32 = 2) throws
        -> [Candidate]
    {
        try #require(Candidate(address: address, port: port)).tried(on: [interface])
    }

    @Test("a peer is resolved to its addresses, link-local ones with their interface")
    func addresses() throws {
        var harness = resolving()
        #expect(harness.operations == [.browse(chat, interface: 0)])
        harness.find(ann)
        harness.record(.a, of: Sample.host, [10, 0, 1, 2])
        harness.pass(Resolution.otherFamily - .nanoseconds(1))
        #expect(candidates(harness) == nil, "the other family may follow")
        harness.record(.aaaa, of: Sample.host, Self.linkLocal)
        #expect(candidates(harness) == (try candidate(Self.linkLocal)) + (try candidate([10, 0, 1, 2])))
        #expect(harness.operations.isEmpty && harness.dns.isIdle)
    }

    @Test("addresses of another host, another interface or another form are not used [mdns.scope]")
    func others() throws {
        var harness = resolving()
        harness.find(ann)
        harness.record(.a, of: Sample.host, [10, 0, 1, 2], on: 3)
        harness.record(.a, of: "other.local", [10, 0, 1, 3])
        harness.record(.a, of: Sample.host, [10, 0, 1])
        harness.record(.a, of: Sample.host, [127, 0, 0, 1])
        harness.pass(.seconds(4))
        harness.record(.a, of: Sample.host, [10, 0, 1, 4])
        harness.pass(.seconds(1))
        #expect(candidates(harness) == (try candidate([10, 0, 1, 4])))
    }

    @Test("a loopback address means this machine, on its own interface alone [mdns.scope]")
    func loopback() throws {
        var harness = resolving()
        harness.find(ann, on: 1)
        harness.record(.a, of: Sample.host, [127, 0, 0, 1], on: 1)
        harness.pass(.seconds(1))
        #expect(candidates(harness) == (try candidate([127, 0, 0, 1], on: 1)))
    }

    @Test("the port is that of the newest SRV record [mdns.flush]")
    func port() throws {
        var harness = resolving()
        harness.find(ann)
        harness.server(try Sample.advert(port: 4_001))
        harness.record(.a, of: Sample.host, [10, 0, 1, 2])
        harness.pass(.seconds(1))
        #expect(candidates(harness) == (try candidate([10, 0, 1, 2], port: 4_001)))
    }

    @Test("a peer that is not found is resolved to nothing, in time")
    func unknown() throws {
        var harness = resolving()
        harness.pass(.milliseconds(4_999))
        #expect(candidates(harness) == nil)
        harness.pass(.milliseconds(1))
        #expect(candidates(harness) == [])
        #expect(harness.dns.isIdle)
    }

    @Test("without the other family, a peer is resolved after a short delay")
    func oneFamily() throws {
        var harness = resolving()
        harness.find(ann)
        harness.record(.a, of: Sample.host, [10, 0, 1, 2])
        harness.pass(Resolution.otherFamily)
        #expect(candidates(harness) == (try candidate([10, 0, 1, 2])))
    }

    @Test("of too many addresses, those that fit are returned, of each host [mdns.limit]")
    func most() throws {
        var harness = resolving()
        let hosts: [UInt32: DNSName] = [2: "two.local", 3: "three.local", 4: "four.local"]
        for (interface, host) in hosts { harness.find(ann, host: host, on: interface) }
        for number in UInt8(1)...200 {
            for (interface, host) in hosts {
                harness.record(.a, of: host, [10, 0, UInt8(interface), number], on: interface)
            }
        }
        harness.pass(.seconds(1))
        let found = try #require(candidates(harness))
        #expect(found.count == Resolution.mostCandidates)
        #expect(Set(found.map { $0.address[2] }) == [2, 3, 4])
    }

    @Test("the addresses of at most 32 hosts are queried at a time, the others' after them [mdns.limit]")
    func manyHosts() throws {
        var harness = SystemHarness()
        let peers = try (1...UInt64(SystemHost.most + 8)).map { try Sample.advert($0, "peer") }
        for peer in peers {
            _ = harness.with { [chat] dns, now in
                dns.resolve(peer.peer.uid, of: chat, within: .seconds(60), at: now)
            }
        }
        for (number, peer) in peers.enumerated() {
            harness.instance(peer)
            harness.server(peer, host: try #require(DNSName("host-\(number).local")))
            harness.text(peer)
        }
        var hosts: Set<DNSName> = []
        while let host = harness.queriedHosts.first {
            #expect(harness.queriedHosts.count <= SystemHost.most)
            try #require(hosts.insert(host).inserted, "\(host) is queried again")
            harness.record(.a, of: host, [10, 0, 1, 2])
            harness.record(.aaaa, of: host, Self.linkLocal)
        }
        #expect(hosts.count == peers.count && harness.dns.isIdle)
    }

    @Test(
        "a host outside .local is not asked for [mdns.scope]",
        arguments: ["example.com", "local", "a.local.test"])
    func outside(_ host: DNSName) throws {
        var harness = resolving()
        harness.find(ann, host: host)
        harness.pass(.seconds(1))
        #expect(!harness.operations.contains { if case .query(host, _, _) = $0 { true } else { false } })
    }

    @Test("a resolution that ends while the responder is asked again leaves no operation")
    func endsWhileAskedAgain() throws {
        var harness = resolving(SystemHarness(interfaces: [2, 3]))
        harness.find(ann, host: "slow.local", on: 2)
        harness.find(ann, host: "here.local", on: 3)
        harness.record(.a, of: "here.local", [10, 0, 1, 2], on: 3)
        harness.record(.aaaa, of: "here.local", Self.linkLocal, on: 3)
        let invented = try (100..<UInt64(100 + SystemInstanceTable.most)).map {
            try Sample.advert($0, "invented")
        }
        for advert in invented { harness.instance(advert, on: 3) }
        #expect(candidates(harness) == nil)
        for advert in invented { harness.instance(advert, isAdded: false, on: 3) }
        #expect(candidates(harness)?.count == 2)
        #expect(harness.operations.isEmpty && harness.dns.isIdle)
    }

    @Test("addresses that were dropped for too many others are asked for again when those are gone")
    func incomplete() throws {
        var harness = resolving()
        harness.find(ann)
        let invented = (1...16).map { [127, 0, 0, UInt8($0)] as [UInt8] }
        for address in [[10, 0, 1, 2]] + invented { harness.record(.a, of: Sample.host, address) }
        let query = harness.operation(.query(Sample.host, .a, interface: 0))
        for address in invented { harness.record(.a, of: Sample.host, address, isAdded: false) }
        let next = harness.operation(.query(Sample.host, .a, interface: 0))
        #expect(query != nil && next != nil && query != next)
        harness.record(.a, of: Sample.host, [10, 0, 1, 2])
        harness.pass(.seconds(1))
        #expect(candidates(harness) == (try candidate([10, 0, 1, 2])))
    }
}
