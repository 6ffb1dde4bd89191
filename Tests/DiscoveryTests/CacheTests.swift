import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.6 The cache", .computing)
struct CacheTests {
    /// A browser of `chat` that has found these.
    private func watcher(finding peers: Advertised..., scopes: [Scope] = [.one]) throws -> QuerierHarness {
        var watcher = QuerierHarness(scopes: scopes)
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        for peer in peers { watcher.hear(try peer.all()) }
        #expect(watcher.events() == peers.map(\.found))
        return watcher
    }

    @Test("a record from a one-shot query expires after ten seconds unless it is confirmed [mdns.one-shot]")
    func tentative() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.hearOneShot(try ann.legacy())
        #expect(watcher.events() == [ann.found])
        let start = watcher.now
        watcher.pass(.seconds(60))
        #expect(watcher.events() == [ann.found, ann.lost])
        #expect(watcher.events.last?.at == start + .seconds(10))
        #expect(watcher.asked(.ptr).count > 3)
        let known = watcher.sent.flatMap(\.message.answers)
        #expect(known.isEmpty, "it is no known answer")
    }

    @Test("a record from a one-shot query stays when the query of port 5353 confirms it [mdns.one-shot]")
    func confirmed() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.hearOneShot(try ann.legacy())
        watcher.pass(.milliseconds(200))
        watcher.hear(try ann.all())
        watcher.hearOneShot(try ann.legacy())
        watcher.pass(.seconds(100))
        #expect(watcher.events() == [ann.found])
    }

    @Test("an answer that matches no open one-shot query is ignored [mdns.one-shot]")
    func strayOneShot() throws {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        let id = try #require(watcher.oneShots.first).message.id
        watcher.hearOneShot(try Advertised("Ann", 1).legacy(), id: id &+ 1)
        watcher.pass(.seconds(11))
        watcher.hearOneShot(try Advertised("Ann", 1).legacy(), id: id)
        #expect(watcher.events.isEmpty)
        #expect(watcher.querier.recordCount == 0)
    }

    @Test(
        "a peer whose SRV expires is lost, and is queried until then [mdns.lost]",
        arguments: [20, 60, 120] as [UInt32])
    func expiry(ttl: UInt32) throws {
        var ann = try Advertised("Ann", 1)
        ann.serverTTL = ttl
        var watcher = try watcher(finding: ann)
        let start = watcher.now
        watcher.pass(.seconds(200))
        #expect(watcher.events() == [ann.found, ann.lost])
        let end = try #require(watcher.events.last).at
        let lifetime = Duration.seconds(Int(ttl))
        // Two of our own questions without an answer are as good as those of others.
        let earliest = lifetime * 85 / 100 + .seconds(10)
        #expect(end - start <= lifetime)
        #expect(end - start >= min(lifetime, earliest))
    }

    @Test("a record is removed ten seconds after two unanswered queries [mdns.reconfirm]")
    func silence() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(2))
        watcher.overhear([DNSQuestion(ann.instance, .srv)])
        watcher.pass(.seconds(5))
        watcher.overhear([DNSQuestion(ann.instance, .srv)])
        let second = watcher.now
        watcher.pass(.seconds(20))
        #expect(watcher.events() == [ann.found, ann.lost])
        #expect(watcher.events.last?.at == second + .seconds(10))
    }

    @Test(
        "a query that lists a record as known does not excuse it from the next, half a second later [mdns.reconfirm]"
    )
    func knownBefore() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        let question = DNSQuestion(Binding.serviceName(.chat), .ptr)
        for _ in 0..<2 {
            watcher.pass(.seconds(2))
            watcher.overhear([question], knowing: [ann.pointer()])
            watcher.pass(.milliseconds(500))
            watcher.overhear([question])
        }
        let second = watcher.now
        watcher.pass(.seconds(20))
        #expect(watcher.events() == [ann.found, ann.lost])
        #expect(watcher.events.last?.at == second + .seconds(10))
    }

    enum Excuse: CaseIterable {
        case answered, known, truncated, once, sameSecond, otherFamily, conventional, unicast, justHeard
    }

    @Test(
        "a query that need not be answered by multicast does not count as unanswered",
        arguments: Excuse.allCases)
    func excused(_ excuse: Excuse) throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann, scopes: [.init(.one, families: [.v4, .v6])])
        watcher.pass(excuse == .justHeard ? .milliseconds(500) : .seconds(2))
        let question = DNSQuestion(Binding.serviceName(.chat), .ptr)
        for round in 0..<2 {
            switch excuse {
            case .answered, .once, .sameSecond, .justHeard: watcher.overhear([question])
            case .known: watcher.overhear([question], knowing: [ann.pointer()])
            case .truncated: watcher.overhear([question], isTruncated: true)
            case .otherFamily: watcher.overhear([question], .v6)
            case .conventional: watcher.overhear([question], port: 50_000)
            case .unicast: watcher.overhear([DNSQuestion(question.name, .ptr, wantsUnicast: true)])
            }
            if excuse == .once || excuse == .justHeard { break }
            watcher.pass(excuse == .sameSecond ? .milliseconds(100) : .seconds(3))
            if excuse == .answered, round == 1 { watcher.hear([ann.pointer()]) }
        }
        watcher.pass(.seconds(15))
        #expect(watcher.events() == [ann.found])
    }

    @Test("a goodbye leaves one second in which the peer can return [mdns.lost]")
    func goodbye() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(5))
        watcher.hear(try ann.goodbye())
        watcher.pass(.milliseconds(999))
        #expect(watcher.events() == [ann.found])
        watcher.hear(try ann.all())
        watcher.pass(.seconds(50))
        #expect(watcher.events() == [ann.found])
        watcher.hear(try ann.goodbye())
        let goodbye = watcher.now
        watcher.pass(.milliseconds(80))
        watcher.hear(try ann.goodbye())
        watcher.pass(.milliseconds(80))
        watcher.hear(try ann.goodbye())
        watcher.pass(.seconds(5))
        #expect(watcher.events() == [ann.found, ann.lost])
        #expect(watcher.events.last?.at == goodbye + .seconds(1))
        #expect(watcher.querier.recordCount == 0)
    }

    @Test("the goodbye of an unknown record is ignored")
    func unknownGoodbye() throws {
        var watcher = try watcher()
        watcher.hear(try Advertised("Ann", 1).goodbye())
        #expect(watcher.querier.recordCount == 0)
        watcher.pass(.seconds(5))
        #expect(watcher.events.isEmpty)
    }

    @Test(
        "a restart with another port and host replaces the records, and is a loss and a discovery [mdns.flush] [mdns.restart]"
    )
    func restart() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(10))
        var again = ann
        (again.port, again.host, again.addresses) = (5_000, "mpc-other.local", [[10, 0, 0, 77]])
        watcher.hear(try again.all())
        watcher.pass(.seconds(3))
        #expect(watcher.events() == [ann.found, ann.lost, ann.found])
        #expect(watcher.querier.recordCount == 4, "the former SRV and its host's address are gone")
        watcher.do { $0.resolve(ann.peer.uid, of: .chat, within: .seconds(1), as: ResolveID(1), at: $1) }
        let candidates = try #require(watcher.resolutions[ResolveID(1)]).candidates
        #expect(candidates.map(\.port) == [5_000])
        #expect(candidates.map(\.address) == [[10, 0, 0, 77]])
    }

    @Test("the flush bit spares records received within the last second [mdns.flush]")
    func flushSparesTheNew() throws {
        var ann = try Advertised("Ann", 1)
        ann.addresses = [[10, 0, 0, 9], [10, 0, 0, 10]]
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(3))
        let all = ann.places
        watcher.hear([all[0]])
        watcher.pass(.milliseconds(900))
        watcher.hear([all[1]])
        watcher.pass(.seconds(3))
        #expect(watcher.querier.recordCount == 5)
        watcher.hear([all[1]])
        watcher.pass(.milliseconds(999))
        #expect(watcher.querier.recordCount == 5)
        watcher.pass(.milliseconds(1))
        #expect(watcher.querier.recordCount == 4)
    }

    @Test("no TTL keeps a peer for ever or causes constant queries [mdns.ttl]")
    func clampedLives() throws {
        var ann = try Advertised("Ann", 1)
        ann.serverTTL = .max
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(121))
        #expect(watcher.events() == [ann.found, ann.lost])
        var bob = try Advertised("Bob", 2)
        bob.serverTTL = 1
        watcher.forgetWhatWasSent()
        watcher.hear(try bob.all())
        watcher.pass(.seconds(9))
        #expect(watcher.asked(.srv).count <= 3)
        #expect(watcher.events().last == bob.found)
    }

    @Test(
        "reconfirming queries at least twice and takes at most ten seconds [mdns.reconfirm]",
        arguments: 1...5 as ClosedRange<UInt64>)
    func reconfirm(seed: UInt64) throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness(seed: seed)
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        watcher.hear(try ann.all())
        watcher.pass(.seconds(5))
        let start = watcher.now
        watcher.do { $0.miss(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.seconds(3))
        watcher.do { $0.miss(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.seconds(20))
        #expect(watcher.asked(.srv, of: ann.instance).count >= 2)
        #expect(watcher.events() == [ann.found, ann.lost])
        #expect(watcher.events.last?.at == start + .seconds(10))
        #expect(watcher.querier.recordCount == 0, "nor is it a known answer")
        watcher.hear(try ann.all())
        #expect(watcher.events() == [ann.found, ann.lost, ann.found])
    }

    @Test("a peer that answers while it is reconfirmed stays [mdns.reconfirm]")
    func reconfirmed() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(5))
        watcher.do { $0.miss(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.seconds(2))
        watcher.hear(try ann.all())
        let count = watcher.asked(.srv).count
        watcher.pass(.seconds(60))
        #expect(watcher.events() == [ann.found])
        #expect(watcher.asked(.srv).count == count)
    }

    @Test(
        "a missed peer is asked for after 1, 2, 4, 8 s and then every 10 s, until it answers, also one that was dropped [mdns.missed]",
        arguments: [true, false])
    func missed(isDropped: Bool) throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        // By now the gap of the query has grown.
        watcher.pass(.seconds(isDropped ? 70 : 5))
        watcher.hear(try ann.all())
        watcher.forgetWhatWasSent()
        let start = watcher.now
        watcher.do { $0.miss(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.seconds(isDropped ? 100 : 1))
        let asked = watcher.asked(.ptr).map { $0 - start }
        if isDropped {
            let gaps = zip(asked, asked.dropFirst()).map { $1 - $0 }
            #expect(gaps.max().map { $0 <= .seconds(10) } == true && gaps.count >= 10)
            #expect(gaps.min().map { $0 >= .seconds(1) } == true)
            #expect(watcher.events() == [ann.found, ann.lost])
        }
        #expect(watcher.returns.isEmpty)
        watcher.hear(try ann.all())
        #expect(watcher.returns.map(\.uid) == [ann.peer.uid])
        watcher.hear(try ann.all())
        #expect(watcher.returns.count == 1)
        // No peer is missed now: the gap grows again.
        watcher.pass(.seconds(30))
        watcher.forgetWhatWasSent()
        watcher.pass(.seconds(60))
        #expect(watcher.asked(.ptr).count <= 3)
    }

    @Test("a missed peer that refuses connections is lost in three seconds unless it answers [mdns.missed]")
    func refused() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(5))
        watcher.do { $0.refused(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.seconds(20))
        watcher.hear(try ann.all())
        #expect(watcher.events() == [ann.found], "it is not missed")
        watcher.forgetWhatWasSent()
        watcher.do { $0.miss(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.milliseconds(300))
        watcher.do { $0.refused(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.seconds(2))
        watcher.do { $0.refused(ann.peer.uid, of: .chat, at: $1) }
        watcher.hear(try ann.all())
        watcher.pass(.seconds(10))
        #expect(watcher.events() == [ann.found], "it has answered")
        watcher.do { $0.miss(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.milliseconds(300))
        watcher.forgetWhatWasSent()
        let start = watcher.now
        for _ in 0..<4 {
            watcher.do { $0.refused(ann.peer.uid, of: .chat, at: $1) }
            watcher.pass(.seconds(2))
        }
        #expect(watcher.events() == [ann.found, ann.lost])
        #expect(watcher.events.last?.at == start + .seconds(3))
        #expect(watcher.asked(.srv, of: ann.instance).contains { $0 < start + .seconds(3) })
        watcher.hear(try ann.all())
        #expect(watcher.events() == [ann.found, ann.lost, ann.found])
    }

    @Test(
        "a missed peer whose address was reached is asked for at once, but not twice within a second [mdns.missed]"
    )
    func reached() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(5))
        watcher.do { $0.miss(ann.peer.uid, of: .chat, at: $1) }
        watcher.pass(.seconds(40))
        watcher.forgetWhatWasSent()
        let start = watcher.now
        for _ in 0..<3 {
            watcher.do { $0.reached(ann.peer.uid, of: .chat, at: $1) }
            watcher.pass(.milliseconds(200))
        }
        #expect(watcher.oneShots.map(\.at).contains { $0 - start <= .milliseconds(1) })
        #expect(watcher.asked(.ptr).count { $0 - start < .seconds(1) } == 1)
        // After ten minutes, or when it is linked, it is no longer missed.
        watcher.do { querier, _ in querier.regain(ann.peer.uid, of: .chat) }
        watcher.pass(.seconds(30))
        watcher.forgetWhatWasSent()
        watcher.do { $0.reached(ann.peer.uid, of: .chat, at: $1) }
        #expect(watcher.oneShots.isEmpty)
    }

    @Test("when a peer disappears without a goodbye the query is sent again [mdns.query]")
    func askedAnew() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = try watcher(finding: ann)
        watcher.pass(.seconds(100))
        watcher.forgetWhatWasSent()
        watcher.pass(.seconds(25))
        let lost = try #require(watcher.events.last { $0.event == ann.lost }).at
        #expect(watcher.asked(.ptr).filter { $0 >= lost && $0 - lost < .seconds(4) }.count == 3)
    }

    @Test("types, hosts and records that no browser needs are not cached [mdns.limit]")
    func foreign() throws {
        var watcher = try watcher()
        let ann = try Advertised("Ann", 1)
        watcher.hear(try Advertised("Gil", 3, .game).all())
        watcher.hear([ann.server(), try ann.text()] + ann.places)
        watcher.hear([
            DNSRecord(ann.service, ttl: 100, .txt([0])),
            DNSRecord(ann.service, ttl: 100, .ptr("printer.local")),
            DNSRecord(ann.service, ttl: 100, .ptr(ann.service)),
            DNSRecord(ann.service, ttl: 100, .ptr("nobody._chat._tcp.local")),
            DNSRecord(ann.service, ttl: 100, .nsec(next: ann.service, types: [12])),
            DNSRecord(".", ttl: 100, .other(type: 5, [1, 2])),
        ])
        #expect(watcher.querier.recordCount == 0)
        #expect(watcher.querier.byteCount == 0)
    }
}

extension Scope {
    init(_ scope: Scope, families: Set<Family>) {
        self = scope
        self.families = families
    }
}
