import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.6 Announcing", .computing)
struct AnnouncingTests {
    @Test(
        "an advertiser announces at 0, 1 and 3 s, without probing [mdns.announce] [mdns.probe]"
    )
    func announces() throws {
        var ann = ResponderHarness()
        let id = try ann.advertise(try Sample.advert())
        #expect(ann.told == [.registered(id)])
        ann.run(for: .seconds(600))
        #expect(ann.said.map(\.at) == [.zero, .seconds(1), .seconds(3)])
        #expect(ann.said.allSatisfy { $0.message.isResponse && $0.way == .multicast })
    }

    @Test("an announcement has all records, each with its TTL and flush bit [mdns.announce] [mdns.ttl]")
    func records() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert(info: ["colour": "green"])
        _ = try ann.advertise(advert)
        let instance = Sample.instance(advert)
        let message = try #require(ann.said.first?.message)
        #expect(
            message.answers == [
                DNSRecord(Sample.meta, ttl: 4_500, .ptr(Sample.service)),
                DNSRecord(Sample.service, ttl: 4_500, .ptr(instance)),
                Sample.srv(instance, port: 4_000, target: Sample.host),
                DNSRecord(
                    instance, isCacheFlush: true, ttl: 4_500, .txt(Binding.txt(advert.peer, advert.info))),
                DNSRecord(Sample.host, isCacheFlush: true, ttl: 120, .a([10, 0, 1, 1])),
            ])
        #expect(
            message.additionals == [
                DNSRecord(instance, isCacheFlush: true, ttl: 120, .nsec(next: instance, types: [16, 33])),
                DNSRecord(Sample.host, isCacheFlush: true, ttl: 120, .nsec(next: Sample.host, types: [1])),
            ])
        #expect(message.isAuthoritative && message.id == 0 && message.questions.isEmpty)
    }

    @Test(
        "the TTL of SRV and addresses is a setting between 10 and 120 s [mdns.ttl]",
        arguments: [1, 10, 20, 500])
    func setting(_ ttl: UInt32) throws {
        var ann = ResponderHarness(hostTTL: ttl)
        _ = try ann.advertise(try Sample.advert())
        let answers = try #require(ann.said.first?.message.answers)
        #expect(answers.map(\.ttl) == [4_500, 4_500, min(max(ttl, 10), 120), 4_500, min(max(ttl, 10), 120)])
    }

    @Test("the host name is random and the engine's own [mdns.host]")
    func host() throws {
        var ann = ResponderHarness()
        _ = try ann.advertise(try Sample.advert())
        let srv = try #require(ann.said.first?.message.answers[2])
        #expect(srv.data == .srv(priority: 0, weight: 0, port: 4_000, target: "mpc-00000000000000a1.local"))
    }

    @Test("new info is announced at once, and not sooner than a second after the last [mdns.announce]")
    func update() throws {
        var ann = ResponderHarness()
        let id = try ann.stand(try Sample.advert())
        let info = try DiscoveryInfo(validating: ["room": "2"])
        ann.act { $0.update(id, info: info, at: $1) }
        ann.act { $0.update(id, info: info, at: $1) }
        #expect(ann.said.map(\.at) == [.seconds(10)])
        ann.run(for: .milliseconds(100))
        let newer = try DiscoveryInfo(validating: ["room": "3"])
        ann.act { $0.update(id, info: newer, at: $1) }
        ann.run(for: .seconds(60))
        #expect(ann.said.map(\.at) == [.seconds(10), .seconds(11), .seconds(12), .seconds(14)])
        let peer = try Sample.peer(1)
        #expect(ann.said[1].message.answers.contains { $0.data == .txt(Binding.txt(peer, newer)) })
        #expect(ann.told.isEmpty)
    }

    @Test("the own old info that comes back is not a conflict [mdns.conflict]")
    func echo() throws {
        var ann = ResponderHarness()
        let id = try ann.advertise(try Sample.advert())
        let first = try #require(ann.said.first?.message)
        let info = try DiscoveryInfo(validating: ["room": "2"])
        ann.act { $0.update(id, info: info, at: $1) }
        ann.hear(first, from: [10, 0, 1, 1])
        ann.run(for: .seconds(10))
        #expect(ann.said.allSatisfy { $0.message.isResponse })
    }

    @Test("a new address is announced at once [mdns.announce]")
    func address() throws {
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        var scope = ResponderHarness.lan
        scope.addresses = [
            Scope.Address([10, 0, 1, 7], prefix: 24), Scope.Address([10, 0, 1, 1], prefix: 24),
        ]
        ann.act { $0.scopeChanged(scope, at: $1) }
        ann.run(for: .seconds(60))
        #expect(ann.said.map(\.at) == [.seconds(10), .seconds(11), .seconds(13)])
        let addresses = ann.said[0].message.answers.map(\.data)
        #expect(addresses == [.a([10, 0, 1, 1]), .a([10, 0, 1, 7])])
    }

    @Test("when a family has no addresses any more its records are withdrawn [mdns.goodbye]")
    func family() throws {
        var scope = ResponderHarness.lan
        let global = Scope.Address([0x20, 1] + [UInt8](repeating: 7, count: 14), prefix: 64)
        scope.families = [.v4, .v6]
        scope.addresses.append(global)
        var ann = ResponderHarness(scopes: [scope])
        _ = try ann.stand(try Sample.advert())
        scope.addresses.removeLast()
        ann.act { $0.scopeChanged(scope, at: $1) }
        ann.run(for: .seconds(10))
        let goodbyes = ann.said.filter { $0.message.answers.contains { $0.ttl == 0 } }
        #expect(goodbyes.map(\.message.answers).allSatisfy { $0.map(\.data) == [.aaaa(global.bytes)] })
        #expect(goodbyes.filter { $0.outgoing.family == .v4 }.map(\.at) == goodbyeTimes(from: .seconds(10)))
        #expect(goodbyes.filter { $0.outgoing.family == .v6 }.map(\.at) == goodbyeTimes(from: .seconds(10)))
    }

    @Test("a new interface gets an announcement with its own addresses, the others get none [mdns.scope]")
    func scope() throws {
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        let other = Scope(
            id: 2, addresses: [Scope.Address([10, 0, 2, 1], prefix: 24)], families: [.v4], mtu: 1_500)
        ann.act { $0.scopeChanged(other, at: $1) }
        ann.run(for: .seconds(60))
        #expect(ann.said.map(\.at) == [.seconds(10), .seconds(11), .seconds(13)])
        #expect(ann.said.allSatisfy { $0.outgoing.scope == 2 })
        #expect(ann.said[0].message.answers.map(\.data).contains(.a([10, 0, 2, 1])))
        #expect(!ann.said[0].message.answers.map(\.data).contains(.a([10, 0, 1, 1])))
    }

    @Test("after a sleep everything is announced again [mdns.resume]")
    func wake() throws {
        var ann = ResponderHarness()
        _ = try ann.stand(try Sample.advert())
        ann.act { $0.woke(at: $1) }
        ann.run(for: .seconds(60))
        #expect(ann.said.map(\.at) == [.seconds(10), .seconds(11), .seconds(13)])
        #expect(ann.told.isEmpty)
    }

    @Test("goodbye is sent three times, and then nothing more [mdns.goodbye]")
    func goodbye() throws {
        var ann = ResponderHarness()
        let advert = try Sample.advert()
        let id = try ann.stand(advert)
        ann.act { $0.withdraw(id, at: $1) }
        #expect(!ann.responder.isQuiet)
        ann.run(for: .seconds(60))
        #expect(ann.responder.isQuiet && ann.responder.deadline == nil)
        #expect(ann.said.map(\.at) == goodbyeTimes(from: .seconds(10)))
        let instance = Sample.instance(advert)
        let names = ann.multicastAnswers.filter { $0.ttl == 0 }.map(\.name)
        for name in [Sample.service, instance, instance, Sample.host] {
            #expect(names.filter { $0 == name }.count == (name == instance ? 6 : 3))
        }
    }

    @Test("goodbye is sent only for what ends: the host stays while anything is advertised [mdns.goodbye]")
    func oneOfTwo() throws {
        var ann = ResponderHarness()
        let first = try ann.advertise(try Sample.advert(1))
        _ = try ann.stand(try Sample.advert(2))
        ann.act { $0.withdraw(first, at: $1) }
        ann.run(for: .seconds(10))
        let instance = Sample.instance(try Sample.advert(1))
        #expect(Set(ann.multicastAnswers.map(\.name)) == [Sample.service, instance])
        ann.forget()
        ann.hear(Sample.query(DNSQuestion(Sample.service, .ptr)))
        ann.run(for: .seconds(1))
        #expect(ann.multicastAnswers.map(\.data) == [.ptr(Sample.instance(try Sample.advert(2)))])
    }

    @Test("advertising again at once sends no goodbye for the new advertisement [mdns.goodbye]")
    func again() throws {
        var ann = ResponderHarness()
        let id = try ann.stand(try Sample.advert())
        ann.act { $0.withdraw(id, at: $1) }
        ann.run(for: .milliseconds(100))
        ann.forget()
        _ = try ann.advertise(try Sample.advert(port: 4_001))
        ann.run(for: .seconds(60))
        #expect(!ann.multicastAnswers.contains { $0.ttl == 0 })
    }

    @Test("a peer is advertised only once for a service type")
    func twice() throws {
        var ann = ResponderHarness()
        _ = try ann.advertise(try Sample.advert())
        let advert = try Sample.advert(port: 5_000)
        #expect(throws: MulticastDNSFault.advertisedAlready) { _ = try ann.advertise(advert) }
    }

    private func goodbyeTimes(from start: Duration) -> [Duration] {
        [start, start + .milliseconds(80), start + .milliseconds(160)]
    }
}
