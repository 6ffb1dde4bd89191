import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.4 Restarts and idle networks", .computing)
struct RestartTests {
    private static let origin = Duration.seconds(5)

    /// Two engines that know each other; the second dies and comes back as a third, elsewhere and with this info.
    private func restarted(
        after pause: Duration, info: [String: String] = [:]
    ) throws -> (link: VirtualLink, events: [DiscoveredPeer.Event]) {
        var link = VirtualLink(seed: 31)
        try link.join(2)
        link.run(for: Self.origin)
        link.kill(1)
        link.run(for: pause)
        let again = link.add()
        let advert = try Sample.advert(1, "p1", port: 4_999, info: info)
        _ = try link.with(again) { engine, now throws(MulticastDNSFault) in
            try engine.advertise(advert, at: now)
        }
        link.run(for: .seconds(3))
        let events = link.told.compactMap { told -> DiscoveredPeer.Event? in
            guard told.engine == 0, told.at > Self.origin, case .browse(_, let event) = told.action else {
                return nil
            }
            return event
        }
        return (link, events)
    }

    @Test(
        "a peer that restarted at once is lost and found, once, and is reached at its new address [mdns.restart] [mdns.flush]",
        arguments: [.milliseconds(10), .milliseconds(500), .seconds(2)] as [Duration])
    func atOnce(_ pause: Duration) throws {
        var (link, events) = try restarted(after: pause)
        let peer = DiscoveredPeer(peer: try Sample.peer(1, "p1"), info: [:])
        #expect(events == [.lost(peer.peer), .found(peer)])
        let uid = try Sample.peer(1).uid
        let type = try ServiceType(parsing: "chat")
        let id = link.with(0) { $0.resolve(uid, of: type, within: .seconds(1), at: $1) }
        link.run(for: .seconds(1))
        let candidates = link.told.compactMap { told -> [Candidate]? in
            if case .resolved(id, let resolution) = told.action { resolution.candidates } else { nil }
        }
        #expect(candidates == [[Candidate(address: [10, 0, 1, 3], port: 4_999)].compactMap(\.self)])
    }

    @Test("a peer that restarted with other info is lost, and found with that [mdns.restart]")
    func otherInfo() throws {
        let events = try restarted(after: .seconds(2), info: ["level": "2"]).events
        let peer = DiscoveredPeer(peer: try Sample.peer(1, "p1"), info: ["level": "2"])
        #expect(events == [.lost(peer.peer), .found(peer)])
    }

    @Test("a peer that restarted after its SRV had expired is lost and found [mdns.lost]")
    func late() throws {
        let events = try restarted(after: .seconds(125)).events
        let peer = DiscoveredPeer(peer: try Sample.peer(1, "p1"), info: [:])
        #expect(events == [.lost(peer.peer), .found(peer)])
    }

    @Test("an idle network is nearly silent, for an hour [mdns.query] [mdns.refresh]")
    func rest() throws {
        var link = VirtualLink(seed: 32)
        try link.join(8)
        link.run(for: .seconds(60))
        link.clearLog()
        link.run(for: .seconds(3_600))
        let told = link.told.count
        #expect(told == 0, "nobody is lost, or found again")
        // Each SRV record is queried by the first engine, at four fifths of 120 s after it was received, and answered.
        let perMinute = Double(link.sent.count) / 60
        #expect(perMinute < 16, "\(perMinute) datagrams a minute")
        #expect(link.stuck == 0)
    }
}
