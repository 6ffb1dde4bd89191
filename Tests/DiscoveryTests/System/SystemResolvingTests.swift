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
        #expect(candidates(harness) == nil, "the other family may follow")
        harness.record(.aaaa, of: Sample.host, Self.linkLocal)
        harness.pass(SystemResolution.otherFamily)
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

    @Test("of too many addresses, those that fit are returned [mdns.limit]")
    func most() throws {
        var harness = resolving()
        harness.find(ann)
        for number in UInt8(1)...200 {
            harness.record(.a, of: Sample.host, [10, 0, 1, number])
            harness.record(.aaaa, of: Sample.host, [0xFD] + [UInt8](repeating: 0, count: 14) + [number])
        }
        harness.pass(.seconds(1))
        #expect(candidates(harness)?.count == SystemResolution.mostCandidates)
    }
}
