import MultipeerCore
import MultipeerMesh
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("15 A peer that reconnects while nothing is read", .computing)
struct RelinkTests {
    /// Two peers that never encrypt; the application of the first takes nothing.
    private func world(credit: UInt32) -> World {
        let world = World(seed: 5)
        world.applications.chats = false
        world.add(Scenario.Peer(preference: .none, rank: 2, credit: credit), named: "ann")
        world.add(Scenario.Peer(preference: .none, rank: 1), named: "bob")
        world.nodes[0].application.isSlow = true
        return world
    }

    /// Lets bob join, send that many messages, and crash; returns whether he was linked.
    private func visit(_ world: World, messages: Int) -> Bool {
        let (ann, bob) = (world.nodes[0], world.nodes[1])
        world.applications.join(0, 1, joinsMesh: false, isAddressed: true)
        world.run(until: world.now + 3_000_000_000)
        let isLinked = ann.link(to: bob.uid) != nil
        if let socket = bob.link(to: ann.uid) {
            world.applications.chat(bob, socket, messages: messages, longest: 1_000)
            world.settle(bob)
        }
        world.run(until: world.now + 1_000_000_000)
        world.crash(bob, isSilent: false)
        world.run(until: world.now + 1_000_000_000)
        world.start(bob)
        return isLinked
    }

    @Test("unread data of former links counts: a third window is not granted [limit.relink]")
    func messages() {
        let world = world(credit: 65_536)
        defer { world.dismantle() }
        #expect(visit(world, messages: 60))
        #expect(visit(world, messages: 60))
        for _ in 0..<10 {
            #expect(!visit(world, messages: 60))
            let unreadInput = world.nodes[0].application.unreadInput.costs.reduce(0) { $0 + $1.cost }
            #expect(unreadInput <= 2 * 65_536)
        }
        world.applications.take(world.nodes[0], world.nodes[0].process.life)
        #expect(visit(world, messages: 1))
        #expect(world.failure == nil)
    }

    @Test("64 unread changes of a peer's state are the limit [limit.relink]")
    func states() {
        let world = world(credit: 4_194_304)
        defer { world.dismantle() }
        var links = 0
        for _ in 0..<40 where visit(world, messages: 0) { links += 1 }
        // Connecting, connected, not connected.
        #expect(links == 21 || links == 22)
        let told = world.nodes[0].application.unreadInput.events.reduce(0) { $0 + $1.count }
        #expect(told < 64 + 40)
        world.applications.take(world.nodes[0], world.nodes[0].process.life)
        #expect(visit(world, messages: 0))
        #expect(world.failure == nil)
    }

    @Test("an application that reads its events accepts any number of reconnections [limit.relink]")
    func attentive() {
        let world = world(credit: 65_536)
        defer { world.dismantle() }
        world.nodes[0].application.isSlow = false
        for _ in 0..<40 { #expect(visit(world, messages: 60)) }
        #expect(world.failure == nil)
    }
}
