// The sample in the documentation of MultipeerSimulation; a test compares the two. Run it to see which peer remains.

import Multipeer
import MultipeerSimulation

/// Application code, which is unaware of the simulation.
actor Room {
    private(set) var present: Set<PeerID> = []

    private let peer: PeerID
    private let session: Session
    private let advertiser: Advertiser
    private let browser: Browser

    init(_ peer: PeerID, session: Session.Configuration, discovery: DiscoveryConfiguration) throws {
        self.peer = peer
        self.session = try Session(peer: peer, configuration: session)
        advertiser = try Advertiser(peer: peer, service: "chat", configuration: discovery)
        browser = try Browser(peer: peer, service: "chat", configuration: discovery)
    }

    func run(on clock: any Clock<Duration>) async throws {
        try await advertiser.start()
        try await browser.start()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await event in self.session.events { await self.take(event) } }
            group.addTask {
                for await invitation in self.advertiser.invitations {
                    try? await invitation.accept(into: self.session)
                }
            }
            group.addTask {
                while true {
                    await self.inviteWhoIsMissing()
                    try await clock.sleep(for: .seconds(1))
                }
            }
        }
    }

    private func take(_ event: Session.Event) {
        switch event {
        case .peer(let peer, .connected): present.insert(peer)
        case .peer(let peer, .notConnected): present.remove(peer)
        default: break
        }
    }

    private func inviteWhoIsMissing() async {
        for found in await browser.peers where peer.uid < found.peer.uid && !present.contains(found.peer) {
            try? await browser.invite(found.peer, to: session, timeout: .seconds(5))
        }
    }
}

func whoIsLeft(seed: UInt64) async throws -> Set<PeerID> {
    let network = SimulatedNetwork(seed: seed)
    return try await network.run { network in
        let hosts = try ["ann", "bob", "cas"].map { try network.host($0) }
        let rooms = try hosts.map { host in
            let room = try Room(host.peer, session: host.session(), discovery: host.discovery())
            host.task { try await room.run(on: network.clock) }
            return room
        }
        try await network.clock.sleep(for: .seconds(10))
        network.partition([hosts[0]], [hosts[1], hosts[2]])
        try await network.clock.sleep(for: .seconds(20))
        network.heal()
        network.kill(hosts[2])
        try await network.clock.sleep(for: .seconds(30))
        return await rooms[0].present  // only bob: check this with as many seeds as you like
    }
}

for seed in 1...3 as ClosedRange<UInt64> { print(try await whoIsLeft(seed: seed)) }
