import MultipeerCore
import MultipeerMesh
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("14.1 A peer that dies as soon as it is linked", .computing)
struct CrashTests {
    /// Returns the states of bob that ann was notified of. He dies when he has had the link for `pause`, at once if that is
    /// zero; 5 seconds pass after that.
    private func states(ofBobRanked rank: Int, seed: UInt64, after pause: Int64) -> [PeerStateMachine.State] {
        let world = World(seed: seed)
        defer { world.dismantle() }
        world.applications.chats = false
        world.applications.keepsJournal = true
        world.add(Scenario.Peer(rank: 2), named: "ann")
        world.add(Scenario.Peer(rank: rank), named: "bob")
        let (ann, bob) = (world.nodes[0], world.nodes[1])
        world.applications.join(0, 1, joinsMesh: true, isAddressed: true)
        while bob.link(to: ann.uid) == nil, world.now < World.start + 30_000_000_000 {
            world.run(until: world.now + 100_000)
        }
        world.run(until: world.now + pause)
        world.crash(bob, isSilent: false)
        world.run(until: world.now + 5_000_000_000)
        #expect(world.failure == nil)
        return ann.application.journal.compactMap { event in
            guard case .peer(let peer, let state) = event, peer.uid == bob.uid else { return nil }
            return switch state {
            case .notConnected: .notConnected
            case .connecting: .connecting
            case .connected: .connected
            }
        }
    }

    @Test(
        "it is not connected, and not connecting any longer, whether or not it had used its link [state.unused]",
        arguments: [1, 3], [0, 1_000_000, 50_000_000] as [Int64])
    func atOnce(_ rank: Int, _ pause: Int64) {
        var linked = 0
        for seed in UInt64(0)..<60 {
            let states = states(ofBobRanked: rank, seed: seed, after: pause)
            guard states.contains(.connected) else { continue }
            linked += 1
            #expect(states == [.connecting, .connected, .notConnected], "seed \(seed)")
        }
        #expect(linked > 30)
    }
}
