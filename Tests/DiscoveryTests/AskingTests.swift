import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.6 Questions", .computing)
struct AskingTests {
    private let chat = Binding.serviceName(.chat)

    @Test("the first query is sent at once from its own port, to one responder each [mdns.one-shot]")
    func oneShot() throws {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        let first = try #require(watcher.sent.first)
        #expect(watcher.sent.count == 1)
        #expect(first.at == watcher.now)
        #expect(first.outgoing.way == .ask)
        #expect(first.message.questions == [DNSQuestion(chat, .ptr)])
        #expect(first.message.id != 0)
    }

    @Test(
        "the query of port 5353 follows after 20 to 120 ms, then 1, 2, 4 … 3,600 s later [mdns.query]",
        arguments: 1...5 as ClosedRange<UInt64>)
    func backOff(seed: UInt64) throws {
        var watcher = QuerierHarness(seed: seed)
        let start = watcher.now
        watcher.browse(.chat)
        watcher.pass(.seconds(20_000))
        let times = watcher.asked(.ptr, of: chat)
        #expect((.milliseconds(20)...(.milliseconds(120))).contains(try #require(times.first) - start))
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        let expected =
            (0..<12).map { Duration.seconds(1 << $0) } + [3_600, 3_600, 3_600, 3_600].map(Duration.seconds)
        #expect(gaps == Array(expected.prefix(gaps.count)))
        #expect(gaps.count == 16)
        #expect(watcher.sent.filter { $0.outgoing.way == .multicast }.allSatisfy { $0.message.id == 0 })
        #expect(watcher.sent.flatMap(\.message.questions).allSatisfy { !$0.wantsUnicast })
    }

    @Test("queries are sent on every family of every scope [mdns.query]")
    func families() {
        var watcher = QuerierHarness(scopes: [.one, .two])
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        #expect(watcher.asked(.ptr, on: 1, .v4).count == 1)
        #expect(watcher.asked(.ptr, on: 1, .v6).isEmpty)
        #expect(watcher.asked(.ptr, on: 2, .v4).count == 1)
        #expect(watcher.asked(.ptr, on: 2, .v6).count == 1)
    }

    @Test("several browsers of one type share its queries")
    func shared() {
        var watcher = QuerierHarness()
        watcher.browse(.chat, as: 1)
        watcher.browse(.chat, as: 2)
        watcher.pass(.seconds(2))
        #expect(watcher.oneShots.count == 1)
        #expect(watcher.asked(.ptr).count == 2)
        watcher.do { querier, _ in querier.stopBrowsing(BrowseID(1), at: Moment(nanoseconds: 0)) }
        watcher.pass(.seconds(2))
        #expect(watcher.asked(.ptr).count == 3)
        watcher.do { querier, now in querier.stopBrowsing(BrowseID(2), at: now) }
        #expect(watcher.querier.deadline == nil)
        #expect(watcher.querier.recordCount == 0)
    }

    @Test("a new browser restarts the queries when they have become rare [mdns.query]")
    func late() {
        var watcher = QuerierHarness()
        watcher.browse(.chat, as: 1)
        watcher.pass(.seconds(300))
        watcher.forgetWhatWasSent()
        watcher.browse(.chat, as: 2)
        watcher.pass(.milliseconds(1_200))
        #expect(watcher.oneShots.count == 1)
        #expect(watcher.asked(.ptr).count == 2)
    }

    @Test("known answers are listed while more than half of their TTL is left [mdns.known-answer]")
    func knownAnswers() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        watcher.hear(try ann.all())
        // Keeps the rest alive, so that only the time of the pointer counts.
        for _ in 0..<80 {
            watcher.pass(.seconds(60))
            watcher.hear([ann.server(), try ann.text()])
        }
        let questions = watcher.sent.filter { $0.message.questions == [DNSQuestion(chat, .ptr)] }.dropFirst(2)
        for question in questions {
            let age = question.at - Moment(nanoseconds: 1_200_000_000)
            if age < .seconds(2_250) {
                let answer = try #require(question.message.answers.first)
                #expect(answer.data == .ptr(ann.instance))
                #expect(!answer.isCacheFlush)
                #expect(abs(Double(answer.ttl) - 4_500 + age / .seconds(1)) <= 1)
            } else {
                #expect(question.message.answers.isEmpty)
            }
        }
        #expect(questions.contains { $0.message.answers.isEmpty })
        #expect(questions.contains { !$0.message.answers.isEmpty })
    }

    @Test("a hundred known answers are listed in one message [mdns.known-answer]")
    func manyKnownAnswers() throws {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        for number in 0..<100 as Range<UInt64> { watcher.hear(try Advertised("Peer", number).all()) }
        watcher.pass(.seconds(1))
        #expect(watcher.sent.last?.message.answers.count == 100)
    }

    @Test("a query that another host has just sent suppresses the own one [mdns.duplicate]")
    func duplicate() {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.pass(.seconds(4))
        let before = watcher.asked(.ptr)  // After 0, 1 and 3 s; the next would be after 7 s.
        watcher.pass(.seconds(2))
        watcher.overhear([DNSQuestion(chat, .ptr)])
        let heard = watcher.now
        watcher.pass(.seconds(7))
        #expect(watcher.asked(.ptr) == before)
        watcher.pass(.seconds(2))
        #expect(watcher.asked(.ptr).last == heard + .seconds(8))
    }

    enum Another: CaseIterable { case soonAfter, knowsMore, truncated, unicast, conventional, otherFamily }

    @Test(
        "a query that differs from the own one, or was sent long before, is not a duplicate",
        arguments: Another.allCases)
    func noDuplicate(_ another: Another) throws {
        var watcher = QuerierHarness(scopes: [another == .otherFamily ? .two : .one])
        let scope: UInt32 = another == .otherFamily ? 2 : 1
        watcher.browse(.chat)
        watcher.pass(.seconds(another == .soonAfter ? 4 : 6))
        let count = watcher.asked(.ptr, on: scope).count
        let question = DNSQuestion(chat, .ptr)
        switch another {
        case .soonAfter: watcher.overhear([question])
        case .knowsMore: watcher.overhear([question], knowing: [try Advertised("Eve", 9).pointer()])
        case .truncated: watcher.overhear([question], isTruncated: true)
        case .unicast: watcher.overhear([DNSQuestion(chat, .ptr, wantsUnicast: true)])
        case .conventional: watcher.overhear([question], port: 40_000)
        case .otherFamily: watcher.overhear([question], on: 2, .v6)
        }
        watcher.pass(.seconds(another == .soonAfter ? 4 : 2))
        #expect(watcher.asked(.ptr, on: scope).count == count + 1)
        if another == .otherFamily { #expect(watcher.asked(.ptr, on: 2, .v6).count == count) }
    }

    @Test("own queries that come back change nothing")
    func echo() {
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        for _ in 0..<100 {
            let count = watcher.sent.count
            watcher.pass(.milliseconds(100))
            for echo in watcher.sent.dropFirst(count) { watcher.overhear(echo.message.questions) }
        }
        #expect(watcher.asked(.ptr).count == 4)
    }

    @Test("an instance without SRV and TXT is queried for them, four times [mdns.query]")
    func details() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        watcher.hear([ann.pointer()])
        watcher.pass(.milliseconds(120))
        #expect(watcher.asked(.srv, of: ann.instance).count == 1)
        #expect(watcher.asked(.txt, of: ann.instance).count == 1)
        watcher.hear([ann.server()])
        watcher.pass(.seconds(1))
        #expect(watcher.asked(.srv, of: ann.instance).count == 1)
        #expect(watcher.asked(.txt, of: ann.instance).count == 2)
        watcher.pass(.seconds(20))
        #expect(watcher.asked(.txt, of: ann.instance).count == 4)
        #expect(watcher.querier.recordCount == 0)
        #expect(watcher.events.isEmpty)
    }

    @Test(
        "SRV in use is queried again at 80, 85, 90 and 95 % of its TTL, up to 2 % later [mdns.refresh]",
        arguments: 1...10 as ClosedRange<UInt64>)
    func refresh(seed: UInt64) throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness(seed: seed)
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        watcher.hear(try ann.all())
        let start = watcher.now
        watcher.pass(.seconds(100))
        watcher.hear([ann.server()])
        let again = watcher.now
        watcher.pass(.seconds(110))
        let times = watcher.asked(.srv, of: ann.instance)
        #expect(times.count >= 3)
        #expect(isIn(times.first, start, 0.80))
        for (time, share) in zip(times.dropFirst(), [0.80, 0.85, 0.90, 0.95]) {
            #expect(isIn(time, again, share))
        }
        #expect(watcher.asked(.txt).isEmpty)
    }

    private func isIn(_ time: Moment?, _ start: Moment, _ share: Double) -> Bool {
        guard let time else { return false }
        let part = (time - start) / .seconds(120)
        return part >= share && part <= share + 0.0201
    }

    @Test("PTR and TXT are queried again when their long TTL ends [mdns.refresh]")
    func refreshLong() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        watcher.hear(try ann.all())
        let start = watcher.now
        for _ in 0..<37 {
            watcher.pass(.seconds(100))
            watcher.hear([ann.server()])
        }
        let before = watcher.asked(.txt).count
        watcher.forgetWhatWasSent()
        watcher.pass(.seconds(95))
        #expect(before + watcher.asked(.txt, of: ann.instance).count == 1)
        #expect(watcher.now - start < .seconds(4_500))
        #expect(watcher.events.count == 1)
    }

    @Test(
        "after waking up all records are queried, and a silent peer is lost ten seconds later [mdns.resume]")
    func wake() throws {
        let ann = try Advertised("Ann", 1)
        let bob = try Advertised("Bob", 2)
        var watcher = QuerierHarness()
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        watcher.hear(try ann.all() + bob.all())
        watcher.pass(.seconds(5))
        watcher.forgetWhatWasSent()
        watcher.sleep(.seconds(1_000))
        let woke = watcher.now
        watcher.do { $0.woke(at: $1) }
        #expect(watcher.oneShots.count == 1)
        watcher.pass(.milliseconds(150))
        #expect(watcher.asked(.ptr).count == 1)
        #expect(watcher.sent.last?.message.answers.isEmpty == true)
        watcher.hear(try ann.all())
        watcher.pass(.seconds(20))
        #expect(watcher.asked(.srv, of: ann.instance).isEmpty)
        #expect(watcher.asked(.srv, of: bob.instance).count >= 2)
        #expect(watcher.events() == [ann.found, bob.found, bob.lost])
        #expect(watcher.events.last?.at == woke + .seconds(10))
    }
}
