import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.6 Floods", .computing)
struct FloodTests {
    private func check(_ watcher: QuerierHarness, scopes: Int = 1) {
        #expect(watcher.querier.recordCount <= 1_024 * scopes)
        #expect(watcher.querier.byteCount <= 1 << 20)
    }

    @Test("100,000 garbage records fill no cache and lose no peer [mdns.limit]")
    func garbage() throws {
        let ann = try Advertised("Ann", 1)
        var dice = Seeded(5)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.hear(try ann.all())
        let chat = Binding.serviceName(.chat)
        let records = (0..<2_000).map { _ in
            let name = (try? chat.child([UInt8(ascii: "g")] + dice.bytes(6))) ?? chat
            return switch dice.next() % 5 {
            case 0: DNSRecord(chat, ttl: 4_500, .ptr(name))
            case 1: DNSRecord(name, isCacheFlush: true, ttl: 4_500, .txt(dice.bytes(40)))
            case 2: DNSRecord(name, ttl: 120, .srv(priority: 0, weight: 0, port: 1, target: name))
            case 3: DNSRecord(name, ttl: 120, .a(dice.bytes(4)))
            default: DNSRecord(chat, ttl: 0, .other(type: 99, dice.bytes(9)))
            }
        }
        for round in 0..<250 {
            let start = round % 5 * 400
            watcher.hear(Array(records[start..<(start + 400)]), from: [10, 0, 0, UInt8(2 + round % 200)])
        }
        #expect(watcher.querier.recordCount == 4)
        watcher.pass(.seconds(60))
        #expect(watcher.events() == [ann.found])
        check(watcher)
    }

    /// The senders of the flood.
    enum Sender: CaseIterable { case one, hundred, everyOther }

    private func source(_ sender: Sender, _ number: Int) -> [UInt8] {
        switch sender {
        case .one: [10, 0, 0, 66]
        case .hundred: [10, 0, 0, UInt8(100 + number % 100)]
        case .everyOther: [10, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
        }
    }

    /// Sends complete instances that no responder answers for.
    private func flood(_ watcher: inout QuerierHarness, _ sender: Sender, _ count: Int, from start: Int = 0)
        throws
    {
        for number in start..<(start + count) {
            var fake = try Advertised("Fake", UInt64(1_000 + number))
            fake.addresses = [[10, 9, 9, 9]]
            watcher.hear(try fake.all(), from: source(sender, number))
        }
    }

    @Test(
        "a peer that answered for itself stays when a flood of instances arrives [mdns.limit]",
        arguments: Sender.allCases)
    func confirmedStays(_ sender: Sender) throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.hear(try ann.all())
        watcher.pass(.seconds(5))
        watcher.do { $0.miss(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.milliseconds(200))
        watcher.hear([ann.server()])
        try flood(&watcher, sender, 600)
        check(watcher)
        #expect(watcher.events().contains(ann.found))
        #expect(!watcher.events().contains(ann.lost))
    }

    @Test("a peer from another address is found in the middle of a flood [mdns.limit]")
    func newcomer() throws {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        try flood(&watcher, .one, 400)
        let ann = try Advertised("Ann", 1)
        watcher.hear(try ann.all(), from: [10, 0, 0, 2])
        #expect(watcher.events().contains(ann.found))
        try flood(&watcher, .one, 400, from: 1_000)
        #expect(!watcher.events().contains(ann.lost))
        check(watcher)
    }

    @Test(
        "after a flood the cache has room after about ten seconds, and the query is sent again [mdns.limit]",
        arguments: Sender.allCases)
    func afterwards(_ sender: Sender) throws {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.pass(.seconds(300))
        try flood(&watcher, sender, 400)
        #expect(watcher.querier.recordCount >= 256 * 3)
        watcher.forgetWhatWasSent()
        watcher.pass(.seconds(12))
        #expect(watcher.querier.recordCount == 0)
        #expect(!watcher.asked(.ptr).isEmpty)
        let ann = try Advertised("Ann", 1)
        watcher.hear(try ann.all(), from: source(sender, 1))
        #expect(watcher.events().last == ann.found)
    }

    @Test("a flood of one type leaves room for another [mdns.limit]")
    func otherType() throws {
        var watcher = QuerierHarness()
        watcher.browse(.chat, as: 1)
        watcher.browse(.game, as: 2)
        try flood(&watcher, .hundred, 400)
        for number in 0..<200 {
            let gil = try Advertised("Gil", UInt64(number), .game)
            watcher.hear(try gil.all(), from: [10, 0, 0, 3])
        }
        #expect(watcher.events(of: 2).count >= 128)
        check(watcher)
    }

    @Test("a flood of names does not make the querier flood the network [mdns.limit]")
    func questions() throws {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.pass(.seconds(10))
        watcher.forgetWhatWasSent()
        for round in 0..<200 {
            watcher.hear(
                try (0..<20).map { try Advertised("Fake", UInt64(100 + 20 * round + $0)).pointer() },
                from: source(.everyOther, round))
            watcher.pass(.milliseconds(10))
        }
        let names = watcher.sent.flatMap(\.message.questions).filter { $0.type == .srv }.count
        #expect(names <= 256 + 3 * 64)
        check(watcher)
    }

    @Test(
        "addresses of hosts that are not needed do not fill the cache, and at most 32 are kept per host [mdns.limit]"
    )
    func addresses() throws {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        for number in 0..<200 as Range<UInt64> {
            var peer = try Advertised("Peer", number)
            peer.addresses = (0..<60).map { [10, 1, UInt8(number), $0] }
            watcher.hear(try peer.all(), from: source(.hundred, Int(number)))
        }
        check(watcher)
        #expect(watcher.events().count == 200)
    }

    @Test("when the cache is full, known records are still refreshed [mdns.limit]")
    func fullButAlive() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat, as: 1)
        watcher.browse(.game, as: 2)
        watcher.hear(try ann.all())
        for type in [ServiceType.chat, .game] {
            for number in 0..<255 as Range<UInt64> {
                var fake = try Advertised("Fake", 1_000 + number, type)
                for port in 1_000..<1_002 as Range<UInt16> {
                    fake.port = port
                    fake.info = ["port": "\(port)"]
                    let records = [fake.pointer(), fake.server(), try fake.text()]
                    watcher.hear(records, from: source(.everyOther, Int(number)))
                }
            }
        }
        #expect(watcher.querier.recordCount >= 1_020)
        watcher.hear(try ann.all())
        check(watcher)
        #expect(!watcher.events().contains(ann.lost))
        watcher.pass(.milliseconds(9_900))
        watcher.hear(try ann.all())
        watcher.pass(.seconds(90))
        #expect(!watcher.events().contains(ann.lost))
    }

    @Test(
        "random network events leave the deadline ahead and the state bounded",
        arguments: 1...3 as ClosedRange<UInt64>)
    func randomLife(seed: UInt64) throws {
        var dice = Seeded(seed)
        var watcher = QuerierHarness(seed: seed, scopes: [.one, .two])
        watcher.browse(.chat)
        let peers = try (0..<30).map { try Advertised("Peer \($0)", $0) }
        for step in 0..<400 as Range<UInt64> {
            var peer = peers[Int(dice.next() % 30)]
            peer.port = UInt16(4_000 + dice.next() % 3)
            peer.info = ["v": "\(dice.next() % 3)"]
            peer.attempt = dice.next() % 10 == 0 ? 1 : 0
            let scope = UInt32(1 + dice.next() % 2)
            switch dice.next() % 12 {
            case 0...3: watcher.hear(try peer.all(), on: scope)
            case 4: watcher.hear(try peer.goodbye(), on: scope)
            case 5: watcher.hearOneShot(try peer.legacy())
            case 6: watcher.overhear([DNSQuestion(peer.service, .ptr)], on: scope)
            case 7: watcher.overhear([DNSQuestion(peer.instance, .srv)], on: scope)
            case 8: watcher.do { $0.miss(peer.peer.uid, of: .chat, at: $1) }
            case 9:
                watcher.do {
                    $0.resolve(peer.peer.uid, of: .chat, within: .seconds(2), as: ResolveID(step), at: $1)
                }
            case 10 where dice.next() % 8 == 0: watcher.do { $0.woke(at: $1) }
            case 11 where dice.next() % 8 == 0:
                watcher.do { querier, now in
                    querier.scopeGone(2, at: now)
                    querier.scopeChanged(.two, at: now)
                }
            default: break
            }
            watcher.pass(.milliseconds(Int(dice.next() % 4_000)))
            check(watcher, scopes: 2)
        }
        watcher.pass(.seconds(5_000))
        #expect(watcher.querier.recordCount == 0)
        var there: Set<PeerID> = []
        for event in watcher.events() {
            switch event {
            case .found(let peer): #expect(there.insert(peer.peer).inserted)
            case .updated(let peer): #expect(there.contains(peer.peer))
            case .lost(let peer): #expect(there.remove(peer) != nil)
            }
        }
        #expect(there.isEmpty)
    }
}
