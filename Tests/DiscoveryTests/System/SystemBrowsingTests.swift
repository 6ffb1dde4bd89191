import MultipeerCore
import TestSupport
import Testing

@testable import MultipeerDiscovery

@Suite("12.4 Browsing by the system's responder", .computing)
struct SystemBrowsingTests {
    private let chat: ServiceType
    private let ann: Advert

    init() throws {
        chat = try ServiceType(parsing: "chat")
        ann = try Sample.advert(info: ["room": "7"])
    }

    private func browsing(
        _ harness: SystemHarness = SystemHarness(), hiding uid: UID? = nil
    ) throws -> SystemHarness {
        var harness = harness
        _ = try harness.with { [chat] dns, now throws(MulticastDNSFault) in
            try dns.browse(chat, hiding: uid, at: now)
        }
        return harness
    }

    /// What the last action says about a peer.
    private func last(_ harness: SystemHarness) -> PresentPeer? {
        if case .browse(_, _, let peer) = harness.told.last { peer } else { nil }
    }

    private func present(_ advert: Advert, host: DNSName = Sample.host) -> PresentPeer {
        PresentPeer(DiscoveredPeer(peer: advert.peer, info: advert.info.entries), host: host)
    }

    @Test(
        "a peer is found when PTR, SRV and TXT are known, in any order, and lost with one of them [mdns.lost]"
    )
    func life() throws {
        var harness = try browsing()
        #expect(harness.operations == [.browse(chat, interface: 0)])
        harness.instance(ann)
        let name = Sample.instance(ann)
        #expect(
            harness.operations.dropFirst() == [
                .query(name, .srv, interface: 0), .query(name, .txt, interface: 0),
            ])
        harness.text(ann)
        #expect(last(harness) == nil)
        harness.server(ann)
        #expect(last(harness) == present(ann))
        harness.server(ann, isAdded: false)
        #expect(last(harness) == nil)
        harness.server(ann)
        #expect(last(harness) == present(ann))
        harness.instance(ann, isAdded: false)
        #expect(last(harness) == nil)
        #expect(harness.operations == [.browse(chat, interface: 0)])
    }

    @Test("of two TXT records the newest counts, until it is taken back [mdns.lost]")
    func update() throws {
        var harness = try browsing()
        harness.find(ann)
        let changed = try Sample.advert(info: ["room": "8"])
        harness.text(changed)
        #expect(last(harness) == present(changed))
        harness.text(ann, isAdded: false)
        #expect(last(harness) == present(changed))
    }

    @Test("a new host is a restart, also while the old SRV record is still there [mdns.restart]")
    func restart() throws {
        var harness = try browsing()
        harness.find(ann)
        harness.server(ann, host: "mpc-00000000000000a2.local")
        #expect(last(harness) == present(ann, host: "mpc-00000000000000a2.local"))
        #expect(present(ann).isNews(after: try #require(last(harness))))
    }

    @Test("a peer stays as long as one interface has all its records [mdns.scope]")
    func interfaces() throws {
        var harness = try browsing()
        harness.find(ann, on: 2)
        harness.find(ann, on: 3)
        harness.instance(ann, isAdded: false, on: 2)
        #expect(last(harness) == present(ann))
        harness.text(ann, isAdded: false, on: 3)
        #expect(last(harness) == nil, "the TXT record of another interface does not count")
    }

    @Test(
        "where the responder reports each family, a record is gone when it is taken back as often",
        arguments: [true, false])
    func families(_ countsRepeats: Bool) throws {
        var harness = try browsing(SystemHarness(countsRepeats: countsRepeats))
        for _ in 0..<2 { harness.find(ann) }
        harness.instance(ann, isAdded: false)
        #expect((last(harness) == nil) == !countsRepeats)
        harness.instance(ann, isAdded: false)
        #expect(last(harness) == nil)
    }

    @Test("the local peer is not reported, but another browse may see it [mdns.self]")
    func hiding() throws {
        var harness = try browsing(hiding: ann.peer.uid)
        harness.find(ann)
        #expect(harness.told.isEmpty)
        harness = try browsing(harness)
        #expect(last(harness) == present(ann), "known ones are reported at once")
        #expect(harness.operations.count == 3, "one browse of the responder is enough")
    }

    @Test(
        "names, records and replies of another form are ignored [service.instance] [service.txt] [dns.form]")
    func hostile() throws {
        var harness = try browsing()
        for label in [[], [0xFF], Array("printer".utf8), [UInt8](repeating: 0x61, count: 300)] {
            harness.reply(.instance(label: label, isAdded: true, interface: 2), to: { _ in true })
        }
        #expect(harness.operations.count == 1)
        harness.find(ann)
        let name = Sample.instance(ann)
        for data in [
            [], [0], [UInt8](repeating: 0, count: 7), [0, 0, 0, 0, 1, 1, 0xC0, 0x0C],
            [0, 0, 0, 0, 1, 1, 3, 0x61],
        ] {
            harness.record(.srv, of: name, data)
        }
        for data in [[], [9], [UInt8](repeating: 1, count: 1_301), Array("\u{5}mpc=2\u{3}n=a".utf8)] {
            harness.record(.txt, of: name, data)
        }
        harness.reply(.record(.a, [1, 2, 3, 4], isAdded: true, interface: 2), to: { _ in true })
        harness.reply(.registered(label: [1]), to: { _ in true })
        let reports = harness.told.filter { if case .browse(_, _, .some) = $0 { true } else { false } }
        #expect(reports.count == 1)
        #expect(last(harness) == present(ann))
    }

    @Test("invented instances delay a peer, but do not keep it out [mdns.limit]")
    func crowd() throws {
        var harness = try browsing()
        for number in 100..<UInt64(100 + 3 * SystemInstanceTable.mostQueried) {
            harness.instance(try Sample.advert(number, "nobody"))
        }
        #expect(harness.operations.count == 1 + 2 * SystemInstanceTable.mostQueried)
        harness.instance(ann)
        for _ in 0..<4 where last(harness) == nil {
            harness.pass(SystemInstanceTable.turnLength)
            harness.server(ann)
            harness.text(ann)
            #expect(harness.operations.count == 1 + 2 * SystemInstanceTable.mostQueried)
        }
        #expect(last(harness) == present(ann))
        harness.pass(.seconds(60))
        #expect(
            harness.operations.contains(.query(Sample.instance(ann), .txt, interface: 0)),
            "it keeps its place")
        for number in 1_000..<UInt64(2_100) { harness.instance(try Sample.advert(number, "nobody")) }
        #expect(harness.dns.services[chat]?.table.instances.count == SystemInstanceTable.most)
    }

    @Test("at the end of a turn as many instances give up their places as wait for one, and no more")
    func turns() throws {
        var harness = try browsing()
        for number in 100..<UInt64(101 + SystemInstanceTable.mostQueried) {
            harness.instance(try Sample.advert(number, "nobody"))
        }
        for _ in 0..<3 {
            let before = Set(harness.running.keys)
            harness.pass(SystemInstanceTable.turnLength)
            #expect(before.subtracting(harness.running.keys).count == 2, "its SRV and its TXT record")
            #expect(harness.dns.deadline == harness.now + SystemInstanceTable.turnLength)
        }
    }

    @Test("a peer whose record is replaced keeps its place, although others wait")
    func replaced() throws {
        var harness = try browsing()
        harness.find(ann)
        for number in 100..<UInt64(100 + SystemInstanceTable.mostQueried) {
            harness.instance(try Sample.advert(number, "nobody"))
        }
        harness.pass(.seconds(60))
        let query = harness.operation(.query(Sample.instance(ann), .txt, interface: 0))
        try #require(query != nil)
        harness.text(ann, isAdded: false)
        harness.pass(SystemInstanceTable.turnLength - .nanoseconds(1))
        harness.text(ann)
        #expect(harness.operation(.query(Sample.instance(ann), .txt, interface: 0)) == query)
        #expect(last(harness) == present(ann))
    }

    @Test("a peer that was ignored for too many others is found when those are gone")
    func room() throws {
        var harness = try browsing()
        let invented = try (100..<UInt64(100 + SystemInstanceTable.most)).map {
            try Sample.advert($0, "invented")
        }
        for advert in invented { harness.instance(advert) }
        harness.instance(ann)
        let browse = harness.operation(.browse(chat, interface: 0))
        for advert in invented { harness.instance(advert, isAdded: false) }
        #expect(harness.operation(.browse(chat, interface: 0)) != browse)
        harness.find(ann)
        #expect(last(harness) == present(ann))
    }

    @Test("a responder that ends takes the peers with it, and one that comes back brings them again")
    func failure() throws {
        var harness = try browsing()
        harness.find(ann)
        #expect(harness.dns.obstacle == nil)
        harness.reply(.failed(.notRunning), to: { _ in true })
        #expect(harness.operations.isEmpty)
        #expect(last(harness) == nil)
        #expect(harness.dns.obstacle == .notRunning)
        harness.pass(SystemDNS.pause)
        #expect(harness.operations == [.browse(chat, interface: 0)])
        #expect(harness.dns.obstacle == nil)
        harness.find(ann)
        #expect(last(harness) == present(ann))
    }

    @Test("with the last browse, all operations end")
    func stop() throws {
        var harness = SystemHarness(interfaces: [2, 3])
        let ids = try (0..<2).map { _ in
            try harness.with { [chat] dns, now throws(MulticastDNSFault) in
                try dns.browse(chat, hiding: nil, at: now)
            }
        }
        harness.find(ann)
        #expect(harness.operations.count == 4)
        harness.with { dns, _ in dns.stopBrowsing(ids[0]) }
        #expect(harness.operations.count == 4)
        harness.with { dns, _ in dns.stopBrowsing(ids[1]) }
        #expect(harness.operations.isEmpty && harness.dns.isIdle)
    }

    @Test("a peer that seems to be gone is checked by the records that the responder gave [mdns.reconfirm]")
    func reconfirm() throws {
        var harness = try browsing()
        harness.find(ann)
        _ = harness.takeTold()
        harness.with { [ann, chat] dns, _ in dns.reconfirm(ann.peer.uid, of: chat) }
        let name = Sample.instance(ann)
        #expect(
            harness.told == [
                .reconfirm(name, .srv, data: [0, 0, 0, 0, 15, 160] + Sample.host.wire, interface: 2),
                .reconfirm(Sample.service, .ptr, data: name.wire, interface: 2),
            ])
    }
}
