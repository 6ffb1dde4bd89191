import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.6 Probing and conflicts", .computing)
struct ConflictTests {
    @Test("probing sends three queries, 250 ms apart, and announces 250 ms later [mdns.probe]")
    func probes() throws {
        var ann = ResponderHarness(knownUnique: false)
        let advert = try Sample.advert()
        let id = try ann.advertise(advert)
        #expect(ann.told.isEmpty && ann.said.isEmpty)
        ann.run(for: .seconds(600))
        let start = try #require(ann.said.first).at
        #expect((.zero...Duration.milliseconds(250)).contains(start))
        #expect(
            ann.said.map { $0.at - start } == [
                .zero, .milliseconds(250), .milliseconds(500), .milliseconds(750), .milliseconds(1_750),
                .milliseconds(3_750),
            ])
        #expect(ann.said.map(\.message.isResponse) == [false, false, false, true, true, true])
        let probe = ann.said[0].message
        #expect(probe.questions == [DNSQuestion(Sample.instance(advert), .any)])
        #expect(probe.authorities.map(\.type) == [.txt, .srv])
        #expect(probe.authorities.allSatisfy { !$0.isCacheFlush })
        #expect(ann.told == [.registered(id)])
    }

    @Test("a name is not answered for while it is probed [mdns.probe]")
    func silence() throws {
        var ann = ResponderHarness(knownUnique: false)
        let advert = try Sample.advert()
        _ = try ann.advertise(advert)
        ann.hear(Sample.query(DNSQuestion(Sample.instance(advert), .srv)))
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr)))
        ann.run(for: .milliseconds(740))
        #expect(ann.said.allSatisfy { !$0.message.isResponse })
    }

    @Test("a probe is answered at once, and again after 250 ms at the earliest [mdns.conflict] [mdns.answer]")
    func defends() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        let instance = Sample.instance(advert)
        let probe = Sample.probe(instance, [Sample.srv(instance, port: 9)])
        ann.hear(probe)
        ann.run(for: .milliseconds(100))
        ann.hear(probe)
        ann.run(for: .milliseconds(200))
        ann.hear(probe)
        ann.run(for: .seconds(5))
        #expect(ann.said.map { $0.at - .seconds(10) } == [.zero, .milliseconds(250), .milliseconds(500)])
        #expect(ann.said.allSatisfy { $0.message.answers.map(\.type) == [.srv, .txt] })
    }

    @Test("a probe that requests unicast also gets a unicast answer [mdns.conflict]")
    func defendsPersonally() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        ann.run(for: .seconds(60))
        let instance = Sample.instance(advert)
        ann.hear(Sample.probe(instance, [Sample.srv(instance, port: 9)], wantsUnicast: true))
        #expect(ann.said.map(\.way) == [.unicast(to: [10, 0, 1, 99], port: 5353), .multicast])
    }

    @Test(
        "of two simultaneous probes, the one with the lesser records waits a second [mdns.probe]",
        arguments: [
            (UInt8(1), false), (255, true),
        ])
    func tie(firstByte: UInt8, isLost: Bool) throws {
        var ann = ResponderHarness(knownUnique: false)
        let advert = try Sample.advert()
        let id = try ann.advertise(advert)
        ann.run(for: .milliseconds(300))
        ann.forget()
        let instance = Sample.instance(advert)
        let text = DNSRecord(
            instance, ttl: 4_500, .txt([firstByte] + [UInt8](repeating: 126, count: Int(firstByte))))
        ann.hear(Sample.probe(instance, [Sample.srv(instance, port: 9), text]))
        ann.run(for: .seconds(5))
        let wait = try #require(ann.said.first).at - .milliseconds(300)
        #expect(isLost ? wait == .seconds(1) : wait <= .milliseconds(250))
        #expect(ann.said.map(\.message.isResponse).filter { !$0 }.count == (isLost ? 3 : ann.said.count - 3))
        #expect(ann.told == [.registered(id)])
    }

    @Test("an own probe that comes back is not a conflict [mdns.conflict]")
    func ownProbe() throws {
        var ann = ResponderHarness(knownUnique: false)
        _ = try ann.advertise(try Sample.advert())
        ann.run(for: .milliseconds(250))
        let probe = try #require(ann.said.first?.message)
        ann.hear(probe, from: [10, 0, 1, 1])
        ann.run(for: .seconds(5))
        #expect(ann.said.count == 6)
    }

    @Test("probing for a taken name chooses the next one, which keeps the id [mdns.conflict]")
    func renames() throws {
        var ann = ResponderHarness(knownUnique: false)
        let advert = try Sample.advert()
        let id = try ann.advertise(advert)
        ann.run(for: .milliseconds(260))
        ann.hear(Sample.response(Sample.srv(Sample.instance(advert), port: 9)))
        #expect(ann.told == [.renamed(id)])
        ann.run(for: .seconds(5))
        #expect(ann.told == [.renamed(id), .registered(id)])
        let next = Sample.instance(advert, attempt: 1)
        #expect(ann.multicastAnswers.filter { $0.type == .srv }.map(\.name) == [next, next, next])
        let label = try #require(next.firstLabel)
        #expect(Binding.uid(inLabel: label) == advert.peer.uid)
        #expect(String(decoding: label, as: UTF8.self).hasPrefix("ann (2)-"))
    }

    @Test("a name lost on one interface is withdrawn only on the others [mdns.conflict] [mdns.goodbye]")
    func renamesEverywhere() throws {
        let other = Scope(
            id: 2, addresses: [Scope.Address([10, 0, 2, 1], prefix: 24)], families: [.v4], mtu: 1_500)
        var ann = ResponderHarness(scopes: [ResponderHarness.lan, other])
        let advert = try Sample.advert()
        let id = try ann.stand(advert)
        let theirs = Sample.response(Sample.srv(Sample.instance(advert), port: 9))
        ann.hear(theirs)
        ann.run(for: .milliseconds(300))
        ann.hear(theirs)
        ann.run(for: .seconds(5))
        #expect(ann.told == [.renamed(id)])
        let goodbyes = ann.said.filter { $0.message.answers.contains { $0.ttl == 0 } }
        #expect(goodbyes.count == 3 && goodbyes.allSatisfy { $0.outgoing.scope == 2 })
        let next = Sample.instance(advert, attempt: 1)
        for scope in [UInt32(1), 2] {
            let services = ann.said.filter { $0.outgoing.scope == scope }.flatMap(\.message.answers)
            #expect(services.filter { $0.type == .srv && $0.ttl > 0 }.map(\.name) == [next, next, next])
        }
    }

    @Test("a contradicted record is probed again, and not announced meanwhile [mdns.conflict]")
    func contradicted() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        ann.hear(Sample.response(Sample.srv(Sample.instance(advert), port: 9)))
        ann.run(for: .seconds(5))
        #expect(ann.said.map(\.message.isResponse) == [false, false, false, true, true, true])
        #expect(ann.told.isEmpty, "nobody defended it")
    }

    @Test("the same data is not a conflict, and neither is a goodbye [mdns.conflict]")
    func noConflict() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        let instance = Sample.instance(advert)
        ann.hear(Sample.response(Sample.srv(instance, port: 4_000, target: Sample.host)))
        ann.hear(Sample.response(Sample.srv(instance, port: 9, ttl: 0)))
        ann.hear(Sample.response(DNSRecord(Sample.host, ttl: 120, .a([10, 0, 1, 1]))))
        ann.run(for: .seconds(5))
        #expect(ann.said.isEmpty)
    }

    @Test("after fifteen conflicts in ten seconds probing pauses for five [mdns.probe]")
    func pauses() throws {
        var ann = ResponderHarness(knownUnique: false)
        let advert = try Sample.advert()
        _ = try ann.advertise(advert)
        for attempt in 0..<15 {
            ann.hear(Sample.response(Sample.srv(Sample.instance(advert, attempt: attempt), port: 9)))
        }
        ann.forget()
        ann.run(for: .seconds(20))
        let first = try #require(ann.said.first).at
        #expect((.seconds(5)...Duration.milliseconds(5_250)).contains(first))
        #expect(ann.said[0].message.questions.map(\.name) == [Sample.instance(advert, attempt: 15)])
    }

    @Test("another host with the own host name makes the engine choose a new one [mdns.host]")
    func hostConflict() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        _ = try ann.stand(advert)
        ann.hear(Sample.response(DNSRecord(Sample.host, isCacheFlush: true, ttl: 120, .a([10, 0, 1, 66]))))
        ann.run(for: .seconds(5))
        let services = ann.multicastAnswers.filter { $0.type == .srv }
        #expect(
            !services.isEmpty
                && services.allSatisfy { $0 != Sample.srv($0.name, port: 4_000, target: Sample.host) })
        #expect(ann.told.isEmpty)
    }

    @Test("an address of another own interface is not a conflict [mdns.conflict] [mdns.scope]")
    func bridged() throws {
        let other = Scope(
            id: 2, addresses: [Scope.Address([10, 0, 2, 1], prefix: 24)], families: [.v4], mtu: 1_500)
        var ann = ResponderHarness(scopes: [ResponderHarness.lan, other])
        _ = try ann.advertise(try Sample.advert())
        for said in ann.said { ann.hear(said.message, scope: 3 - said.outgoing.scope) }
        ann.run(for: .seconds(10))
        #expect(Set(ann.multicastAnswers.compactMap { $0.type == .a ? $0.name : nil }) == [Sample.host])
        #expect(ann.said.allSatisfy { $0.message.isResponse })
    }

    @Test("five hosts with one name end with five names [mdns.conflict]", arguments: [UInt64(1), 2, 3, 4])
    func five(_ seed: UInt64) throws {
        var link = VirtualLink(seed: seed)
        let advert = try Sample.advert()
        for number in 0..<5 {
            let engine = link.add(knownUnique: false)
            let own = Advert(
                peer: advert.peer, type: advert.type, port: UInt16(4_000 + number), info: advert.info)
            _ = try link.with(engine) { engine, now throws(MulticastDNSFault) in
                try engine.advertise(own, at: now)
            }
        }
        link.run(for: .seconds(30))
        var names: [Int: DNSName] = [:]
        for sent in link.sent where sent.message.isResponse {
            for record in sent.message.answers where record.type == .srv { names[sent.engine] = record.name }
        }
        #expect(names.count == 5 && Set(names.values).count == 5)
        #expect(Set(names.values.map { $0.firstLabel.flatMap(Binding.uid(inLabel:)) }) == [advert.peer.uid])
        #expect(link.stuck == 0)
        let registered = link.told.filter { if case .registered = $0.action { true } else { false } }
        #expect(registered.count == 5)
    }

    @Test("two names that were said to be unique, but are the same, end as two names [mdns.conflict]")
    func twins() throws {
        var link = VirtualLink(seed: 5)
        let peer = try Sample.peer(1)
        for number in 0..<2 {
            let engine = link.add()
            let own = Advert(peer: peer, type: try ServiceType(parsing: "chat"), port: UInt16(4_000 + number))
            _ = try link.with(engine) { engine, now throws(MulticastDNSFault) in
                try engine.advertise(own, at: now)
            }
        }
        link.run(for: .seconds(20))
        link.clearLog()
        for engine in 0..<2 { link.with(engine) { $0.woke(at: $1) } }
        link.run(for: .seconds(2))
        let names = link.sent.flatMap(\.message.answers).filter { $0.type == .srv }.map(\.name)
        #expect(Set(names).count == 2)
    }
}
