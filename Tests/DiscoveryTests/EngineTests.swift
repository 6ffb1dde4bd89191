import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.5 The engine", .computing)
struct EngineTests {
    /// Returns an engine whose advertisement has been active for some seconds.
    private func standing() throws -> MulticastDNS {
        var engine = MulticastDNS(host: 0xA1, seed: 1)
        engine.scopeChanged(ResponderHarness.lan, at: VirtualLink.origin)
        _ = try engine.advertise(try Sample.advert(), at: VirtualLink.origin)
        while let next = engine.deadline, next < VirtualLink.origin + .seconds(5) { engine.advance(to: next) }
        _ = engine.takeActions()
        return engine
    }

    private let later = VirtualLink.origin + .seconds(9)

    private func query() throws -> [UInt8] {
        let advert = try Sample.advert()
        return try Sample.query(DNSQuestion(Sample.instance(advert), .srv)).encoded()
    }

    private func arrival(
        _ from: [UInt8] = [10, 0, 1, 9], port: UInt16 = 5353, isOneShot: Bool = false
    ) -> PacketInfo {
        PacketInfo(scope: 1, family: .v4, from: from, port: port, isOneShot: isOneShot)
    }

    @Test("a registered advertiser is quiet: only the heartbeat is due")
    func quiet() throws {
        var engine = try standing()
        var now = later
        for _ in 0..<60 {
            now = try #require(engine.deadline)
            engine.advance(to: now)
            #expect(engine.takeActions().isEmpty)
        }
        #expect(now - VirtualLink.origin >= .seconds(600))
    }

    @Test("a heartbeat that is long overdue makes everything be announced again [mdns.resume]")
    func gap() throws {
        var engine = try standing()
        let now = try #require(engine.deadline) + .seconds(150)
        engine.advance(to: now)
        #expect(engine.takeActions().count == 1)
    }

    @Test("a response from a port other than 5353 is ignored [mdns.source]")
    func port() throws {
        for (port, isHeard) in [(UInt16(5353), true), (5354, false)] {
            var engine = try standing()
            let advert = try Sample.advert()
            let conflict = try Sample.response(Sample.srv(Sample.instance(advert), port: 9)).encoded()
            engine.receive(conflict.span, arrival(port: port), at: later)
            let deadline = try #require(engine.deadline)
            #expect((deadline < later + .milliseconds(300)) == isHeard)
        }
    }

    @Test(
        "packets that come from no single host, or arrive at an unknown interface, are ignored [mdns.source]")
    func source() throws {
        var engine = try standing()
        let query = try query()
        engine.receive(query.span, arrival([0, 0, 0, 0]), at: later)
        engine.receive(query.span, arrival([224, 0, 0, 251]), at: later)
        engine.receive(query.span, arrival([1, 2, 3]), at: later)
        engine.receive(query.span, arrival(port: 0), at: later)
        engine.receive(query.span, arrival(isOneShot: true), at: later)
        engine.receive(
            query.span, PacketInfo(scope: 2, family: .v4, from: [10, 0, 1, 9], port: 5353), at: later)
        engine.receive(
            query.span, PacketInfo(scope: 1, family: .v6, from: [10, 0, 1, 9], port: 5353), at: later)
        #expect(engine.takeActions().isEmpty)
        engine.receive(query.span, arrival(), at: later)
        #expect(engine.takeActions().count == 1)
    }

    @Test("an opcode or response code other than 0 is ignored [dns.form]")
    func codes() throws {
        var engine = try standing()
        for index in [2, 3] {
            var query = try query()
            query[index] |= index == 2 ? 0x08 : 0x01
            engine.receive(query.span, arrival(), at: later)
        }
        #expect(engine.takeActions().isEmpty)
    }

    @Test("answers are split to fit the interface's MTU", arguments: [576, 1_500, 65_536])
    func split(_ mtu: Int) throws {
        var engine = MulticastDNS(host: 0xA1, seed: 1)
        var scope = ResponderHarness.lan
        scope.mtu = mtu
        engine.scopeChanged(scope, at: VirtualLink.origin)
        for number in UInt64(0)..<64 {
            _ = try engine.advertise(try Sample.advert(number), at: VirtualLink.origin)
        }
        _ = engine.takeActions()
        engine.woke(at: later)
        var pointers: Set<DNSRecord> = []
        for action in engine.takeActions() {
            guard case .multicast(let bytes, _, _) = action else { continue }
            #expect(bytes.count <= min(mtu - 28, 9_000))
            let message = try DNSMessage(bytes.span)
            #expect(!message.answers.isEmpty)
            pointers.formUnion(message.answers.filter { $0.name == Sample.service })
        }
        #expect(pointers.count == 64)
    }

    @Test("at most 64 advertisements and browses are accepted [mdns.limit]")
    func orders() throws {
        var engine = MulticastDNS(host: 0xA1, seed: 1)
        let type = try ServiceType(parsing: "chat")
        for number in UInt64(0)..<32 {
            _ = try engine.advertise(try Sample.advert(number), at: VirtualLink.origin)
            _ = try engine.browse(type, hiding: nil, at: VirtualLink.origin)
        }
        let one = try Sample.advert(99)
        #expect(throws: MulticastDNSFault.tooMany) { _ = try engine.advertise(one, at: later) }
        #expect(throws: MulticastDNSFault.tooMany) { _ = try engine.browse(type, hiding: nil, at: later) }
    }

    @Test("ids are never reused")
    func ids() throws {
        var engine = MulticastDNS(host: 0xA1, seed: 1)
        var numbers: Set<UInt64> = []
        for round in UInt64(0)..<10 {
            let now = VirtualLink.origin + .seconds(Int64(round))
            let advert = try engine.advertise(try Sample.advert(round), at: now)
            let browse = try engine.browse(try ServiceType(parsing: "chat"), hiding: nil, at: now)
            let resolve = engine.resolve(
                UID(high: 1, low: 2), of: try ServiceType(parsing: "chat"), within: .seconds(1), at: now)
            engine.withdraw(advert, at: now)
            engine.stopBrowsing(browse, at: now)
            numbers.formUnion([advert.number, browse.number, resolve.number])
        }
        #expect(numbers.count == 30)
    }

    @Test("shutting down says goodbye, refuses further requests and is quiet after 160 ms [mdns.goodbye]")
    func shutDown() throws {
        var engine = try standing()
        engine.shutDown(at: later)
        #expect(engine.takeActions().count == 1 && !engine.isQuiet)
        let advert = try Sample.advert(2)
        #expect(throws: MulticastDNSFault.shutDown) { _ = try engine.advertise(advert, at: later) }
        engine.advance(to: later + .milliseconds(80))
        engine.advance(to: later + .milliseconds(160))
        #expect(engine.takeActions().count == 2)
        #expect(engine.isQuiet && engine.deadline == nil)
    }

    @Test("a pending resolution ends with the engine")
    func resolveMeanwhile() throws {
        var engine = try standing()
        let uid = UID(high: 1, low: 2)
        let id = engine.resolve(uid, of: try ServiceType(parsing: "chat"), within: .seconds(9), at: later)
        _ = engine.takeActions()
        engine.shutDown(at: later)
        #expect(engine.takeActions().contains(.resolved(id, Resolution())))
    }

    @Test(
        "a query with many known answers sets the truncation bit in all packets but the last [mdns.known-answer]"
    )
    func knownAnswers() throws {
        var engine = MulticastDNS(host: 0xA1, seed: 1)
        var scope = ResponderHarness.lan
        scope.mtu = 576
        engine.scopeChanged(scope, at: VirtualLink.origin)
        _ = try engine.browse(try ServiceType(parsing: "chat"), hiding: nil, at: VirtualLink.origin)
        var known: Set<DNSRecord> = []
        for number in UInt64(0)..<40 {
            let instance = Sample.instance(try Sample.advert(number))
            let record = DNSRecord(Sample.service, ttl: 4_500, .ptr(instance))
            let bytes = try Sample.response(record, Sample.srv(instance, port: 9)).encoded()
            engine.receive(bytes.span, arrival(), at: VirtualLink.origin + .milliseconds(10))
            known.insert(record)
        }
        _ = engine.takeActions()
        engine.advance(to: VirtualLink.origin + .milliseconds(125))
        var messages: [DNSMessage] = []
        for case .multicast(let bytes, _, _) in engine.takeActions() {
            #expect(bytes.count <= 576 - 28)
            messages.append(try DNSMessage(bytes.span))
        }
        messages.removeAll { !$0.questions.isEmpty && $0.questions[0].type != .ptr }
        #expect(messages.count > 2)
        #expect(messages.map(\.isTruncated) == messages.indices.map { $0 < messages.count - 1 })
        #expect(messages.map(\.questions.count) == messages.indices.map { $0 == 0 ? 1 : 0 })
        #expect(Set(messages.flatMap(\.answers).map(\.data)) == Set(known.map(\.data)))
    }

    @Test("a resolution that can no longer be answered ends at once")
    func resolveAfterwards() throws {
        var engine = try standing()
        engine.shutDown(at: later)
        _ = engine.takeActions()
        let id = engine.resolve(
            UID(high: 1, low: 2), of: try ServiceType(parsing: "chat"), within: .seconds(1), at: later)
        #expect(engine.takeActions() == [.resolved(id, Resolution())])
    }

    @Test("whatever arrives, the deadline is in the future once the engine has advanced")
    func garbage() throws {
        var engine = try standing()
        var dice = Jitter(seed: 7)
        var now = later
        let advert = try Sample.advert()
        let names: [DNSName] = [Sample.service, Sample.meta, Sample.host, Sample.instance(advert), "x.local"]
        for _ in 0..<1_000 {
            now = now + .milliseconds(Int64.random(in: 0...40, using: &dice))
            let message = randomMessage(about: names, &dice)
            let bytes = try message.encoded()
            let port: UInt16 = Bool.random(using: &dice) ? 5353 : 40_000
            engine.receive(bytes.span, arrival(port: port), at: now)
            _ = engine.takeActions()
            if Int.random(in: 0..<4, using: &dice) == 0 { engine.advance(to: now) }
            if let due = engine.deadline, due <= now {
                engine.advance(to: now)
                let next = try #require(engine.deadline)
                #expect(next > now)
            }
        }
    }

    private func randomMessage(about names: [DNSName], _ dice: inout Jitter) -> DNSMessage {
        var message = DNSMessage()
        message.isResponse = Bool.random(using: &dice)
        message.isTruncated = Bool.random(using: &dice)
        let types: [DNSType] = [.ptr, .srv, .txt, .a, .any]
        for _ in 0..<Int.random(in: 0...3, using: &dice) {
            let name = names[Int.random(in: 0..<names.count, using: &dice)]
            let type = types[Int.random(in: 0..<types.count, using: &dice)]
            message.questions.append(DNSQuestion(name, type, wantsUnicast: Bool.random(using: &dice)))
            let data: [DNSData] = [
                .a([10, 0, 1, 1]), .a([9, 9, 9, 9]), .ptr(name), .txt([0]),
                .srv(priority: 0, weight: 0, port: 4_000, target: Sample.host),
            ]
            let record = DNSRecord(
                name, ttl: UInt32.random(in: 0...5_000, using: &dice),
                data[Int.random(in: 0..<data.count, using: &dice)])
            if Bool.random(using: &dice) {
                message.answers.append(record)
            } else {
                message.authorities.append(record)
            }
        }
        return message
    }
}
