import Multipeer
import MultipeerSimulation

/// A room whose network fails for a while: how long after the end of the outage each member hears each other one again.
///
/// The members are programs as the documentation shows them; nobody tells them that anything has failed.
package struct Outage: Sendable {
    /// How an application comes by its links.
    package enum Program: String, CaseIterable, Sendable {
        /// It invites what it finds, once each time: Apple's clients do.
        case invitesWhatItFinds
        /// It calls `run(linking:)`, as the README does.
        case keepsLinked
        /// The same, and only the peer with the lower id invites, in stars: nothing is introduced by a mesh.
        case keepsLinkedInStars
    }

    package let seed: UInt64
    package let program: Program
    package let peers: Int
    package let duration: Duration
    /// Whether one member is cut off, or nothing reaches anyone.
    package let isOfOne: Bool

    /// Within this time after the end of the outage all hear each other again.
    package static let limit = Duration.seconds(5)
    package static let durations = [1, 3, 6, 7, 8, 10, 12, 16, 20, 60, 150, 300].map { Duration.seconds($0) }

    package init(seed: UInt64, program: Program, peers: Int, duration: Duration, isOfOne: Bool) {
        (self.seed, self.program, self.peers) = (seed, program, peers)
        (self.duration, self.isOfOne) = (duration, isOfOne)
    }

    /// The outage of a seed: one for each combination, in turn.
    package init(seed: UInt64) {
        var rest = seed
        func draw<Element>(_ choices: [Element]) -> Element {
            defer { rest /= UInt64(choices.count) }
            return choices[Int(rest % UInt64(choices.count))]
        }
        self.init(
            seed: seed, program: draw(Program.allCases), peers: draw([2, 4]),
            duration: draw(Outage.durations),
            isOfOne: draw([true, false]))
    }

    package struct Result: Sendable {
        /// When all heard each other again, from the end of the outage; nil if they did not within a minute.
        package let time: Duration?
        package let history: [String]
    }

    package func run() async throws -> Result {
        let network = SimulatedNetwork(seed: seed)
        let time = try await network.run { [self] in try await happen(on: $0) }
        return Result(time: time, history: network.history)
    }

    private func happen(on network: SimulatedNetwork) async throws -> Duration? {
        let hosts = try (0..<peers).map { try network.host("m\($0)") }
        let members = try hosts.map { host in
            let member = try Chatter(host, program, of: peers, log: { network.note($0) })
            host.task { try await member.run() }
            return member
        }
        guard try await wait(for: members, since: network.elapsed, within: .seconds(30), on: network) != nil
        else { return nil }
        var random = network.randomness
        try await network.clock.sleep(for: .milliseconds(Int64.random(in: 0..<6_000, using: &random)))
        if isOfOne {
            network.partition([hosts[0]], Array(hosts.dropFirst()))
        } else {
            network.partition(hosts, hosts)
        }
        try await network.clock.sleep(for: duration)
        network.heal()
        return try await wait(for: members, since: network.elapsed, within: .seconds(60), on: network)
    }

    /// Lets all talk until each has heard each other one say something that was said since then.
    private func wait(
        for members: [Chatter], since: Duration, within limit: Duration, on network: SimulatedNetwork
    ) async throws -> Duration? {
        while network.elapsed < since + limit {
            for member in members { await member.say(UInt64(network.elapsed / .milliseconds(1))) }
            try await network.clock.sleep(for: .milliseconds(250))
            let start = UInt64(since / .milliseconds(1))
            var areAllHeard = true
            for member in members where await member.countOfHeard(since: start) < peers - 1 {
                areAllHeard = false
            }
            if areAllHeard { return network.elapsed - since }
        }
        return nil
    }
}

/// A program with one of the documented patterns.
private actor Chatter {
    private let session: Session
    private let advertiser: Advertiser
    private let browser: Browser
    private let program: Outage.Program
    private let log: @Sendable (String) -> Void
    private var heard: [PeerID: UInt64] = [:]

    init(
        _ host: SimulatedNetwork.Host, _ program: Outage.Program, of peers: Int,
        log: @escaping @Sendable (String) -> Void
    ) throws {
        var configuration = Session.Configuration()
        if program == .keepsLinkedInStars { configuration.topology = .star }
        session = try Session(peer: host.peer, configuration: host.session(configuration))
        advertiser = try Advertiser(peer: host.peer, service: "outage", configuration: host.discovery())
        browser = try Browser(peer: host.peer, service: "outage", configuration: host.discovery())
        (self.program, self.log) = (program, log)
    }

    func run() async throws {
        let (session, advertiser, browser) = (session, advertiser, browser)
        let me = session.peer
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await advertiser.run(into: session) { _ in true } }
            group.addTask {
                for await event in session.events { await self.take(event) }
            }
            group.addTask { [program, log] in
                switch program {
                case .keepsLinked: try await browser.run(linking: session)
                case .keepsLinkedInStars: try await browser.run(linking: session) { me.uid < $0.peer.uid }
                case .invitesWhatItFinds:
                    try await browser.run { events in
                        await withDiscardingTaskGroup { invitations in
                            for await case .found(let found) in events {
                                invitations.addTask {
                                    do throws(MultipeerError) {
                                        try await browser.invite(found.peer, to: session)
                                    } catch {
                                        log("\(me.displayName) invites \(found.peer.displayName): \(error)")
                                    }
                                }
                            }
                        }
                    }
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private func take(_ event: Session.Event) {
        switch event {
        case .peer(let peer, let state): log("\(session.peer.displayName): \(peer.displayName) \(state)")
        case .message(let message):
            let time = message.bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            heard[message.peer] = max(heard[message.peer] ?? 0, time)
        default: break
        }
    }

    func countOfHeard(since time: UInt64) -> Int { heard.values.count { $0 >= time } }

    func say(_ time: UInt64) async {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * $0)) }
        for peer in await session.connectedPeers {
            do throws(MultipeerError) { try await session.send(message, to: peer) } catch {
                log("\(session.peer.displayName) does not reach \(peer.displayName): \(error)")
            }
        }
    }
}
