import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.4 Resolving peers", .computing)
struct ResolvingTests {
    private let id = ResolveID(7)

    private func resolve(
        _ peer: Advertised, in watcher: inout QuerierHarness, within time: Duration = .seconds(5)
    ) {
        watcher.do { [id] in $0.resolve(peer.peer.uid, of: .chat, within: time, as: id, at: $1) }
    }

    @Test("known addresses are returned at once, for each scope")
    func cached() throws {
        var ann = try Advertised("Ann", 1)
        ann.addresses = [[10, 0, 0, 9], [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [9]]
        var watcher = QuerierHarness(scopes: [.one, .two])
        watcher.browse(.chat)
        watcher.hear(try ann.all(), on: 1)
        watcher.hear(try ann.all(), on: 2)
        resolve(ann, in: &watcher)
        let resolution = try #require(watcher.resolutions[id])
        #expect(resolution.at == watcher.now)
        #expect(resolution.candidates.count == 3)
        #expect(Set(resolution.candidates.map(\.port)) == [4_000])
        #expect(resolution.candidates.filter { $0.address.count == 16 }.map(\.zone).sorted() == [1, 2])
        #expect(resolution.candidates.filter { $0.address.count == 4 }.map(\.zone) == [0])
    }

    @Test("unknown addresses are queried, at once from an own port and soon from 5353 [mdns.one-shot]")
    func asked() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.hear([ann.pointer(), ann.server(), try ann.text()])
        watcher.pass(.seconds(3))
        watcher.forgetWhatWasSent()
        resolve(ann, in: &watcher)
        #expect(
            watcher.oneShots.first?.message.questions == [
                DNSQuestion(ann.host, .a), DNSQuestion(ann.host, .aaaa),
            ])
        watcher.pass(.milliseconds(120))
        #expect(watcher.asked(.a, of: ann.host).count == 1)
        #expect(watcher.asked(.aaaa, of: ann.host).count == 1)
        watcher.hear(ann.places)
        #expect(watcher.resolutions[id]?.candidates.map(\.address) == ann.addresses)
        let count = watcher.sent.count
        watcher.pass(.milliseconds(2_000))
        #expect(
            watcher.sent.dropFirst(count).allSatisfy { $0.message.questions.allSatisfy { $0.type == .ptr } })
    }

    @Test("an unknown peer is queried")
    func unknown() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        resolve(ann, in: &watcher)
        #expect(watcher.oneShots.count == 1)
        watcher.hearOneShot(try ann.legacy())
        #expect(watcher.resolutions[id]?.candidates.map(\.address) == ann.addresses)
        #expect(watcher.querier.recordCount == 0)
        #expect(watcher.querier.deadline == nil)
    }

    @Test("resolving ends with its timeout, and returns what was found", arguments: [true, false])
    func timeOut(isKnown: Bool) throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        if isKnown { watcher.hear([ann.pointer(), ann.server(), try ann.text()]) }
        let start = watcher.now
        resolve(ann, in: &watcher, within: .seconds(3))
        watcher.pass(.seconds(10))
        #expect(watcher.resolutions[id]?.at == start + .seconds(3))
        #expect(watcher.resolutions[id]?.candidates == [])
    }

    @Test("when one scope answers, the others get a quarter of a second more")
    func settling() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness(scopes: [.one, .two])
        watcher.browse(.chat)
        for scope in [1, 2] as [UInt32] {
            watcher.hear([ann.pointer(), ann.server(), try ann.text()], on: scope)
        }
        resolve(ann, in: &watcher)
        watcher.pass(.milliseconds(100))
        watcher.hear(ann.places, on: 2)
        #expect(watcher.resolutions[id] == nil)
        let answered = watcher.now
        watcher.pass(.seconds(1))
        #expect(watcher.resolutions[id]?.at == answered + .milliseconds(250))
        #expect(watcher.resolutions[id]?.candidates.count == 1)
    }

    @Test("only the SRV record's target is followed, and no address that must not be dialled [mdns.scope]")
    func target() throws {
        var ann = try Advertised("Ann", 1)
        ann.addresses = [
            [127, 0, 0, 1], [224, 0, 0, 251], [0, 0, 0, 0], [255, 255, 255, 255],
            [UInt8](repeating: 0, count: 15) + [1], [10, 0, 0, 9],
        ]
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.hear(try ann.all() + [DNSRecord("elsewhere.local", ttl: 120, .a([10, 0, 0, 66]))])
        watcher.hear([DNSRecord(ann.host, ttl: 120, .other(type: 5, [0]))])
        resolve(ann, in: &watcher)
        #expect(watcher.resolutions[id]?.candidates.map(\.address) == [[10, 0, 0, 9]])
    }

    @Test("on the loopback interface its addresses are accepted [mdns.scope]")
    func loopback() throws {
        var ann = try Advertised("Ann", 1)
        ann.addresses = [[127, 0, 0, 1]]
        var watcher = QuerierHarness(scopes: [.loopback])
        watcher.browse(.chat)
        watcher.hear(try ann.all(), on: 3)
        resolve(ann, in: &watcher)
        #expect(watcher.resolutions[id]?.candidates.map(\.address) == [[127, 0, 0, 1]])
    }

    @Test("there are at most 32 candidates, with some of every label [mdns.limit]")
    func many() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.hear(try ann.all())
        for attempt in 1...3 {
            var other = ann
            other.attempt = attempt
            other.host = try #require(DNSName("mpc-\(attempt).example.local"))
            other.addresses = (0..<40).map { [10, 0, UInt8(attempt), $0] }
            watcher.hear(try other.all())
        }
        resolve(ann, in: &watcher)
        let addresses = try #require(watcher.resolutions[id]).candidates.map(\.address)
        #expect(addresses.count == 32)
        #expect(addresses.contains(ann.addresses[0]))
    }

    @Test(
        "a forged SRV record that is repeated does not hide a peer with a keyed uid, and stays one of four [mdns.flush]",
        arguments: [true, false])
    func forged(isKeyed: Bool) throws {
        let ann = try Advertised("Ann", 1, isKeyed: isKeyed)
        #expect(ann.peer.uid.isKeyed == isKeyed)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.hear(try ann.all())
        var forged = ann
        (forged.port, forged.host, forged.addresses) = (6_660, "mpc-forged.local", [[10, 0, 0, 66]])
        for _ in 0..<50 {
            watcher.hear([forged.server()] + forged.places)
            watcher.pass(.milliseconds(100))
        }
        resolve(ann, in: &watcher)
        watcher.pass(.seconds(1))
        let candidates = try #require(watcher.resolutions[id]).candidates
        #expect(candidates.map(\.port) == (isKeyed ? [6_660, 4_000] : [6_660]))
        #expect(candidates.map(\.address) == (isKeyed ? [forged, ann] : [forged]).flatMap(\.addresses))
        // However many are forged, the number is bounded, and one that is repeated stays among them.
        for port in 5_001...5_021 as ClosedRange<UInt16> {
            forged.port = port
            watcher.hear([forged.server()])
            if port.isMultiple(of: 3) { watcher.hear([ann.server()]) }
        }
        watcher.do { $0.resolve(ann.peer.uid, of: .chat, within: .seconds(1), as: ResolveID(8), at: $1) }
        watcher.pass(.seconds(2))
        let ports = try #require(watcher.resolutions[ResolveID(8)]).candidates.map(\.port)
        #expect(ports.count <= 4 && (!isKeyed || ports.contains(4_000)), "\(ports)")
    }

    @Test("a scope that disappears removes its addresses, and resolving continues on the others")
    func scopeGone() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness(scopes: [.one, .two])
        watcher.browse(.chat)
        watcher.hear([ann.pointer(), ann.server(), try ann.text()], on: 1)
        watcher.hear(try ann.all(), on: 2)
        watcher.do { $0.scopeGone(2, at: $1) }
        resolve(ann, in: &watcher)
        watcher.pass(.seconds(1))
        #expect(watcher.resolutions[id] == nil)
        watcher.hear(ann.places, on: 1)
        #expect(watcher.resolutions[id]?.candidates.count == 1)
    }
}
