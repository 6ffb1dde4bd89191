import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.5 Engines on a link", .computing)
struct LinkTests {
    @Test("eight peers of one machine find each other in half a second, and none finds itself [mdns.self]")
    func eight() throws {
        var link = VirtualLink(seed: 3, isShared: true)
        try link.join(8)
        link.run(for: .milliseconds(500))
        #expect(link.peersFound == (0..<8).map { own in Set(0..<8).subtracting([own]) })
        #expect(link.isUnrepeated && link.stuck == 0)
    }

    @Test("forty peers of one machine find each other in two seconds")
    func forty() throws {
        var link = VirtualLink(seed: 4, isShared: true)
        try link.join(40)
        link.run(for: .seconds(2))
        #expect(link.peersFound.allSatisfy { $0.count == 39 })
        #expect(link.isUnrepeated && link.stuck == 0)
    }

    /// With these seeds two minutes are enough. With this loss, one peer misses another's three announcements (0.4 each) and
    /// gets no answer to its eight queries until then (0.64 each) in 1.8 of 1,000 cases. There are 56 such pairs, so about one
    /// run in ten needs the queries after that, each twice as late as the one before: RFC 6762, 5.2, and the announcements of
    /// 12.6 allow nothing sooner.
    @Test(
        "eight peers find each other although 40 of 100 datagrams are lost and others are duplicated",
        arguments: [
            UInt64(1), 2, 3,
        ])
    func loss(_ seed: UInt64) throws {
        var link = VirtualLink(seed: seed)
        link.conditions.loss = 40
        link.conditions.twice = 10
        link.conditions.delay = 0...20_000_000
        try link.join(8)
        link.run(within: .seconds(120), until: { $0.peersFound.allSatisfy { $0.count == 7 } })
        #expect(link.isUnrepeated && link.stuck == 0)
    }

    @Test("two halves of a network find each other when it is whole again")
    func partition() throws {
        var link = VirtualLink(seed: 6)
        link.conditions.groups = [0: 0, 1: 0, 2: 1, 3: 1]
        try link.join(4)
        link.run(for: .seconds(5))
        #expect(link.peersFound == [[1], [0], [3], [2]])
        link.conditions.groups = [:]
        for engine in 0..<4 { link.with(engine) { $0.woke(at: $1) } }
        link.run(for: .seconds(2))
        #expect(link.peersFound.allSatisfy { $0.count == 3 })
    }

    @Test(
        "a peer that stops is lost within a second, even when one goodbye of three arrived [mdns.goodbye] [mdns.lost]"
    )
    func goodbye() throws {
        var link = VirtualLink(seed: 7)
        let adverts = try link.join(3)
        link.run(for: .seconds(3))
        link.conditions.loss = 40
        link.with(0) { $0.withdraw(adverts[0], at: $1) }
        link.run(for: .milliseconds(1_300))
        #expect(link.peersFound[1...] == [[2], [1]])
    }

    @Test("changed info is updated everywhere [mdns.announce] [mdns.lost]")
    func update() throws {
        var link = VirtualLink(seed: 8)
        let adverts = try link.join(3)
        link.run(for: .seconds(5))
        link.clearLog()
        let info = try DiscoveryInfo(validating: ["room": "2"])
        link.with(0) { $0.update(adverts[0], info: info, at: $1) }
        link.run(for: .milliseconds(10))
        let updates = link.told.compactMap { told -> DiscoveredPeer? in
            if case .browse(_, .updated(let peer)) = told.action { peer } else { nil }
        }
        #expect(
            updates
                == Array(
                    repeating: DiscoveredPeer(peer: try Sample.peer(0, "p0"), info: ["room": "2"]), count: 2))
        link.run(for: .seconds(10))
        #expect(link.told.count == 2)
    }

    @Test("a late peer learns of all others within 150 ms")
    func later() throws {
        var link = VirtualLink(seed: 9)
        try link.join(3)
        link.run(for: .seconds(60))
        let late = link.add()
        let type = try ServiceType(parsing: "chat")
        let start = link.time
        _ = try link.with(late) { engine, now throws(MulticastDNSFault) in
            try engine.browse(type, hiding: nil, at: now)
        }
        link.run(for: .milliseconds(150))
        #expect(link.told.filter { $0.engine == late }.count == 3)
        #expect(link.told.filter { $0.engine == late }.allSatisfy { $0.at - start <= .milliseconds(125) })
    }

    @Test("a killed peer is lost ten seconds after a query for it was not answered [mdns.reconfirm]")
    func killed() throws {
        var link = VirtualLink(seed: 10)
        try link.join(3)
        link.run(for: .seconds(5))
        link.kill(0)
        let type = try ServiceType(parsing: "chat")
        let uid = try Sample.peer(0).uid
        link.with(1) { $0.miss(uid, of: type, at: $1) }
        link.run(for: .seconds(11))
        #expect(link.peersFound[1] == [2])
    }

    @Test("a peer that was suspended for minutes is found again when it continues [mdns.resume]")
    func stopped() throws {
        var link = VirtualLink(seed: 11)
        try link.join(2)
        link.run(for: .seconds(5))
        link.kill(0)
        link.run(for: .seconds(150))
        #expect(link.peersFound[1] == [])
        link.resume(0)
        link.run(for: .milliseconds(50))
        #expect(link.peersFound[1] == [0])
    }

    @Test("two interfaces in one network do not conflict, and a peer there is found once [mdns.scope]")
    func twoInterfaces() throws {
        var link = VirtualLink(seed: 12)
        try link.join(2, on: [1, 2])
        link.run(for: .seconds(5))
        #expect(link.peersFound == [[1], [0]] && link.isUnrepeated)
        link.detach(1, from: 2)
        link.run(for: .seconds(5))
        #expect(link.peersFound == [[1], [0]])
    }

    @Test(
        "over ten minutes no host repeats a record within a second, or sends one unasked [mdns.answer] [mdns.announce]"
    )
    func audit() throws {
        var link = VirtualLink(seed: 13)
        try link.join(4)
        link.run(for: .seconds(600))
        var last: [Saying: Duration] = [:]
        for sent in link.sent where sent.way == .multicast && sent.message.isResponse {
            #expect(sent.count <= 1_472)
            for record in sent.message.answers + sent.message.additionals where record.ttl > 0 {
                let saying = Saying(engine: sent.engine, record: record)
                if let earlier = last[saying] { #expect(sent.at - earlier >= .seconds(1)) }
                last[saying] = sent.at
            }
        }
        let unasked = link.sent.filter { sent in
            sent.message.isResponse && sent.at > .seconds(5)
                && !link.sent.contains {
                    !$0.message.isResponse && $0.at <= sent.at && sent.at - $0.at < .seconds(2)
                }
        }
        #expect(unasked.isEmpty)
        #expect(
            link.sent.allSatisfy {
                $0.message.isResponse || $0.message.questions.allSatisfy { !$0.wantsUnicast }
            })
        #expect(link.stuck == 0)
    }

    private struct Saying: Hashable {
        let engine: Int
        let record: DNSRecord
    }

    /// Has an engine announce, and another one browse with the same id, which may announce as well.
    private func duplicates(
        isShared: Bool = false, announcesBoth: Bool, knows addresses: [[UInt8]]? = nil
    ) throws -> [Set<[[UInt8]]>] {
        var link = VirtualLink(seed: 15, isShared: isShared)
        let advert = try Sample.advert()
        for engine in 0..<2 {
            link.add()
            let own = addresses ?? link.scope(1, of: engine).addresses.map(\.bytes)
            link.with(engine) { engine, _ in engine.machineHas(own) }
        }
        try link.with(1) { engine, now throws(MulticastDNSFault) in _ = try engine.advertise(advert, at: now)
        }
        link.run(for: .seconds(2))
        try link.with(0) { engine, now throws(MulticastDNSFault) in
            _ = try engine.browse(advert.type, hiding: advert.peer.uid, at: now)
            if announcesBoth { _ = try engine.advertise(advert, at: now) }
        }
        link.run(for: .seconds(5))
        #expect(link.peersFound == [[], []])
        var found = [Set<[[UInt8]]>(), []]
        for case (_, let engine, .duplicated(advert.peer.uid, let addresses)) in link.told {
            found[engine].insert(addresses)
        }
        return found
    }

    @Test(
        "another machine that announces one's own id is reported, by each that announces or browses [mdns.self]"
    )
    func duplicates() throws {
        #expect(try duplicates(announcesBoth: false) == [[[[10, 0, 1, 2]]], []])
        #expect(try duplicates(announcesBoth: true) == [[[[10, 0, 1, 2]]], [[[10, 0, 1, 1]]]])
    }

    @Test("another process of this machine is no duplicate, nor is what had one of its addresses [mdns.self]")
    func noDuplicates() throws {
        for announcesBoth in [false, true] {
            #expect(try duplicates(isShared: true, announcesBoth: announcesBoth) == [[], []])
            // An interface that takes no part has it, or had it.
            let both: [[UInt8]] = [[10, 0, 1, 1], [10, 0, 1, 2]]
            #expect(try duplicates(announcesBoth: announcesBoth, knows: both) == [[], []])
        }
    }

    @Test(
        "what a reflector repeats of one's own announcement is no duplicate, nor is another type [mdns.self]")
    func reflected() throws {
        var link = VirtualLink(seed: 16)
        let advert = try Sample.advert()
        link.add()
        link.with(0) { engine, _ in engine.machineHas([[10, 0, 1, 1]]) }
        try link.with(0) { engine, now throws(MulticastDNSFault) in _ = try engine.advertise(advert, at: now)
        }
        link.run(for: .seconds(2))
        for sent in link.sent where sent.message.isResponse { try link.inject(sent.message) }
        let host: DNSName = "mpc-0123456789abcdef.local"
        let elsewhere = DNSRecord(host, ttl: 120, .a([10, 0, 1, 99]))
        let other = try ServiceType(parsing: "other")
        let name = Binding.instanceName(advert.peer, other)
        try link.inject(Sample.response(Sample.srv(name, port: 9, target: host), elsewhere))
        // Without an address it is not known where it is.
        try link.inject(Sample.response(Sample.srv(Sample.instance(advert), port: 9, target: host)))
        link.run(for: .seconds(2))
        #expect(!link.told.contains { if case .duplicated = $0.action { true } else { false } })
        try link.inject(
            Sample.response(Sample.srv(Sample.instance(advert), port: 9, target: host), elsewhere))
        link.run(for: .seconds(2))
        #expect(link.told.contains { $0.action == .duplicated(advert.peer.uid, by: [[10, 0, 1, 99]]) })
    }
}

extension VirtualLink {
    /// Adds `count` engines, each of which advertises itself (`p0`, `p1` …) and browses, without a pause between them.
    @discardableResult
    mutating func join(_ count: Int, on links: [UInt32] = [1]) throws -> [AdvertID] {
        var adverts: [AdvertID] = []
        for _ in 0..<count {
            let number = add(on: links)
            let advert = try Sample.advert(UInt64(number), "p\(number)", port: UInt16(4_000 + number))
            let id = try with(number) { engine, now throws(MulticastDNSFault) in
                _ = try engine.browse(advert.type, hiding: advert.peer.uid, at: now)
                return try engine.advertise(advert, at: now)
            }
            adverts.append(id)
        }
        return adverts
    }

    /// The engines that each engine has found and not lost, by their numbers.
    var peersFound: [Set<Int>] {
        var found = engines.map { _ in Set<Int>() }
        for (_, engine, action) in told {
            switch action {
            case .browse(_, .found(let peer)): found[engine].insert(Int(peer.peer.uid.low))
            case .browse(_, .lost(let peer)): found[engine].remove(Int(peer.uid.low))
            default: break
            }
        }
        return found
    }

    /// Whether no engine was notified of a known peer as found, or of an unknown one as lost.
    var isUnrepeated: Bool {
        var known = engines.map { _ in Set<UID>() }
        for (_, engine, action) in told {
            switch action {
            case .browse(_, .found(let peer)):
                guard known[engine].insert(peer.peer.uid).inserted else { return false }
            case .browse(_, .updated(let peer)):
                guard known[engine].contains(peer.peer.uid) else { return false }
            case .browse(_, .lost(let peer)):
                guard known[engine].remove(peer.uid) != nil else { return false }
            default: break
            }
        }
        return true
    }
}
