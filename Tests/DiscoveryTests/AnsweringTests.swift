import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.6 Answering", .computing)
struct AnsweringTests {
    @Test("a query for unique records is answered at once [mdns.answer]")
    func unique() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        ann.hear(Sample.query(DNSQuestion(Sample.instance(advert), .srv)))
        #expect(ann.said.map(\.at) == [.seconds(10)])
        #expect(
            ann.multicastAnswers == [Sample.srv(Sample.instance(advert), port: 4_000, target: Sample.host)])
        #expect(ann.said[0].message.additionals.map(\.type) == [.nsec, .a, .nsec])
    }

    @Test("a query for shared records is answered after 20 to 120 ms, at random [mdns.answer]")
    func shared() throws {
        var delays: Set<Duration> = []
        for seed in UInt64(1)...20 {
            var ann = ResponderHarness(seed: seed)
            _ = try ann.stand(try Sample.advert())
            ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr)))
            ann.run(for: .seconds(5))
            #expect(ann.said.count == 1)
            delays.insert(try #require(ann.said.first).at - .seconds(10))
        }
        #expect(delays.count == 20)
        #expect(delays.allSatisfy { (.milliseconds(20)...Duration.milliseconds(120)).contains($0) })
    }

    @Test("several questions are answered together, after a delay [mdns.answer]")
    func several() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        let instance = Sample.instance(advert)
        ann.hear(Sample.query(DNSQuestion(instance, .srv), DNSQuestion(instance, .txt)))
        #expect(ann.said.isEmpty)
        ann.run(for: .seconds(5))
        #expect(ann.said.count == 1)
        #expect(ann.said[0].at - .seconds(10) >= .milliseconds(20))
        #expect(ann.multicastAnswers.map(\.type) == [.srv, .txt])
    }

    @Test("answers to several queriers are sent together [mdns.answer]")
    func aggregation() throws {
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr)), from: [10, 0, 1, 8])
        ann.hear(Sample.query(DNSQuestion(Sample.meta, .ptr)), from: [10, 0, 1, 9])
        ann.run(for: .seconds(5))
        #expect(ann.said.count == 1)
        #expect(Set(ann.multicastAnswers.map(\.name)) == [Sample.service, Sample.meta])
    }

    @Test("an answer for a service type includes the records that the querier needs next")
    func additionals() throws {
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr)))
        ann.run(for: .seconds(1))
        let message = try #require(ann.said.first?.message)
        #expect(message.answers.map(\.type) == [.ptr])
        #expect(message.additionals.map(\.type) == [.srv, .txt, .nsec, .a, .nsec])
    }

    @Test("no record is multicast more often than once a second, not even as an additional one [mdns.answer]")
    func rate() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        for round in 0..<100 {
            let type: DNSType = round % 2 == 0 ? .srv : .txt
            ann.hear(Sample.query(DNSQuestion(Sample.instance(advert), type)))
            ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr)))
            ann.run(for: .milliseconds(50))
        }
        ann.run(for: .seconds(2))
        var last: [DNSRecord: Duration] = [:]
        for said in ann.said {
            for record in said.message.answers + said.message.additionals {
                if let earlier = last[record] { #expect(said.at - earlier >= .seconds(1)) }
                last[record] = said.at
            }
        }
        #expect(last.count == 6)
        #expect(ann.said.count >= 5)
    }

    @Test(
        "an answer that was sent less than a second ago is sent again when the second is over [mdns.answer]")
    func late() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        ann.hear(Sample.query(DNSQuestion(Sample.instance(advert), .srv)))
        ann.run(for: .milliseconds(300))
        ann.hear(Sample.query(DNSQuestion(Sample.instance(advert), .srv)))
        ann.run(for: .seconds(5))
        #expect(ann.said.map(\.at) == [.seconds(10), .seconds(11)])
    }

    @Test("a record that the querier knows for at least half of its TTL is not sent [mdns.known-answer]")
    func knownAnswer() throws {
        let advert = try Sample.advert()
        for (ttl, isAnswered) in [(UInt32(4_500), false), (2_250, false), (2_249, true)] {
            var ann = ResponderHarness()
            _ = try ann.stand(advert)
            let known = DNSRecord(Sample.service, ttl: ttl, .ptr(Sample.instance(advert)))
            ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr), known: [known]))
            ann.run(for: .seconds(5))
            #expect(ann.said.isEmpty != isAnswered)
        }
    }

    @Test(
        "a querier that announces more known answers is waited for, 400 to 500 ms [mdns.answer] [mdns.known-answer]"
    )
    func truncated() throws {
        let advert = try Sample.advert()
        let known = DNSRecord(Sample.service, ttl: 4_500, .ptr(Sample.instance(advert)))
        var ann = ResponderHarness()
        _ = try ann.stand(advert)
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr), truncated: true))
        ann.run(for: .seconds(5))
        let delay = try #require(ann.said.first).at - .seconds(10)
        #expect((.milliseconds(400)...Duration.milliseconds(500)).contains(delay))
        ann.forget()
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr), truncated: true))
        ann.run(for: .milliseconds(10))
        ann.hear(Sample.query(known: [known]))
        ann.run(for: .seconds(5))
        #expect(ann.said.isEmpty)
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr), truncated: true))
        ann.hear(Sample.query(known: [known]), from: [10, 0, 1, 50])
        ann.run(for: .seconds(5))
        #expect(ann.said.count == 1, "somebody else's known answers are nothing to this asker")
    }

    @Test("a querier that keeps sending known answers is waited for at most a second [mdns.answer]")
    func cappedWait() throws {
        let other = DNSRecord(Sample.service, ttl: 4_500, .ptr("bob._chat._tcp.local"))
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr), truncated: true))
        for _ in 0..<20 {
            ann.run(for: .milliseconds(100))
            ann.hear(Sample.query(known: [other], truncated: true))
        }
        #expect(ann.said.map(\.at) == [.seconds(11)])
    }

    @Test("an answer that another responder has just sent is suppressed [mdns.duplicate]")
    func duplicate() throws {
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        let meta = DNSRecord(Sample.meta, ttl: 4_500, .ptr(Sample.service))
        ann.hear(Sample.query(DNSQuestion(Sample.meta, .ptr)))
        ann.hear(Sample.response(meta), from: [10, 0, 1, 50])
        ann.run(for: .seconds(5))
        #expect(ann.said.isEmpty)
        ann.hear(Sample.query(DNSQuestion(Sample.meta, .ptr)))
        ann.run(for: .seconds(5))
        #expect(ann.multicastAnswers == [meta])
    }

    @Test("a unicast answer is multicast when that has not happened for a quarter of its TTL [mdns.answer]")
    func wantsUnicast() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        let question = DNSQuestion(Sample.instance(advert), .srv, wantsUnicast: true)
        ann.hear(Sample.query(question), from: [10, 0, 1, 8])
        #expect(ann.said.map(\.way) == [.unicast(to: [10, 0, 1, 8], port: 5353)])
        #expect(ann.said[0].message.questions.isEmpty)
        #expect(ann.said[0].message.answers.map(\.isCacheFlush) == [true])
        ann.run(for: .seconds(25))
        ann.forget()
        ann.hear(Sample.query(question), from: [10, 0, 1, 8])
        #expect(ann.said.map(\.way) == [.multicast])
    }

    @Test("a legacy resolver gets its id and question back, and short TTLs [mdns.legacy]")
    func legacy() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        var query = Sample.query(DNSQuestion(Sample.service, .ptr))
        query.id = 0x1234
        ann.hear(query, from: [10, 0, 1, 8], port: 40_000)
        ann.run(for: .seconds(5))
        #expect(ann.said.map(\.way) == [.unicast(to: [10, 0, 1, 8], port: 40_000)])
        let message = try #require(ann.said.first?.message)
        #expect(message.id == 0x1234 && message.questions == query.questions)
        #expect(message.answers.map(\.type) == [.ptr] && message.additionals.map(\.type) == [.srv, .txt, .a])
        #expect((message.answers + message.additionals).allSatisfy { $0.ttl == 10 && !$0.isCacheFlush })
    }

    @Test("a legacy resolver on loopback is answered at once: no other host can interfere [mdns.answer]")
    func loopback() throws {
        let own: [UInt8] = [127, 0, 0, 1]
        var ann = ResponderHarness(scopes: [
            Scope(id: 1, isLoopback: true, addresses: [.init(own, prefix: 8)], families: [.v4], mtu: 65_536)
        ])
        _ = try ann.stand(try Sample.advert())
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr)), from: own, port: 40_000)
        #expect(ann.said.map(\.at) == [.seconds(10)])
        #expect(ann.said.map(\.way) == [.unicast(to: own, port: 40_000)])
    }

    @Test("a legacy resolver that sends too many queries at once gets no answer [mdns.limit]")
    func greedy() throws {
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        var query = Sample.query()
        query.questions = (0..<9).map { DNSQuestion(Sample.service, DNSType(rawValue: 247 + $0)) }
        ann.hear(query, port: 40_000)
        ann.run(for: .seconds(1))
        #expect(ann.said.isEmpty)
        query.questions.removeFirst()
        ann.hear(query, port: 40_000)
        ann.run(for: .seconds(1))
        #expect(ann.said.count == 1)
    }

    @Test("a legacy resolver on another network gets no answer [mdns.source]")
    func offLink() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        ann.hear(
            Sample.query(DNSQuestion(Sample.instance(advert), .srv)), from: [192, 0, 2, 1], port: 40_000)
        ann.run(for: .seconds(5))
        #expect(ann.said.isEmpty)
        let question = DNSQuestion(Sample.instance(advert), .srv, wantsUnicast: true)
        ann.hear(Sample.query(question), from: [192, 0, 2, 1])
        ann.run(for: .seconds(5))
        #expect(ann.said.map(\.way) == [.multicast])
    }

    @Test("an own name denies the record types that it does not have [mdns.nsec]")
    func nsec() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        let instance = Sample.instance(advert)
        ann.hear(Sample.query(DNSQuestion(instance, .a)))
        ann.hear(Sample.query(DNSQuestion(Sample.host, .aaaa)))
        #expect(
            ann.multicastAnswers.map(\.data) == [
                .nsec(next: instance, types: [16, 33]), .nsec(next: Sample.host, types: [1]),
            ])
        ann.forget()
        ann.hear(Sample.query(DNSQuestion("other.local", .a)))
        ann.hear(Sample.query(DNSQuestion(Sample.service, .txt)))
        ann.run(for: .seconds(5))
        #expect(ann.said.isEmpty)
    }

    @Test("own names are matched whatever the case of the query [dns.name]")
    func upperCase() throws {
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        ann.hear(Sample.query(DNSQuestion("_CHAT._TCP.LOCAL", .ptr)))
        ann.run(for: .seconds(1))
        #expect(ann.said.count == 1)
    }

    @Test("a flood of queries is answered with a limited number of datagrams [mdns.limit]")
    func flood() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        for number in 0..<1_000 {
            var query = Sample.query(DNSQuestion(Sample.instance(advert), .any))
            query.id = UInt16(number)
            ann.hear(query, from: [10, 0, 1, UInt8(number % 200)], port: UInt16(10_000 + number))
        }
        ann.run(for: .seconds(1))
        #expect(ann.said.count == 256)
        for number in 0..<200 {
            ann.hear(Sample.query(DNSQuestion(Sample.instance(advert), .any)), port: UInt16(10_000 + number))
        }
        #expect(ann.said.count == 256 + 64)
    }

    @Test("a response with too short a TTL is corrected [mdns.answer]")
    func lowTTL() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        let ours = Sample.srv(Sample.instance(advert), port: 4_000, ttl: 59, target: Sample.host)
        ann.hear(Sample.response(ours), from: [10, 0, 1, 50])
        #expect(ann.multicastAnswers.map(\.ttl) == [120])
        ann.forget()
        ann.run(for: .seconds(2))
        let goodbye = DNSRecord(Sample.service, ttl: 0, .ptr(Sample.instance(advert)))
        ann.hear(Sample.response(goodbye), from: [10, 0, 1, 50])
        ann.run(for: .seconds(1))
        #expect(ann.multicastAnswers.map(\.ttl) == [4_500])
    }

    @Test("each family of an interface is answered where the query arrived [mdns.scope]")
    func families() throws {
        var scope = ResponderHarness.lan
        scope.families = [.v4, .v6]
        let local = Scope.Address([0xFE, 0x80] + [UInt8](repeating: 1, count: 14), prefix: 64)
        scope.addresses.append(local)
        var ann = ResponderHarness(scopes: [scope])
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        let asker = [0xFE, 0x80] + [UInt8](repeating: 9, count: 14)
        ann.hear(Sample.query(DNSQuestion(Sample.host, .a)), from: asker, family: .v6)
        #expect(ann.said.map(\.outgoing.family) == [.v6])
        #expect(ann.said[0].message.answers.map(\.data) == [.a([10, 0, 1, 1])])
        #expect(ann.said[0].message.additionals.map(\.data) == [.aaaa(local.bytes)])
    }
}
