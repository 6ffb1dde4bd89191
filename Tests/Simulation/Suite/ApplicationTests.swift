import MultipeerSimulation
import TestSupport
import Testing

/// What a test of an application looks like.
@Suite("11 A simulation for applications", .computing)
struct ApplicationTests {
    @Test("a room of three: all receive all messages, and a peer that crashes is missed and returns")
    func room() throws {
        let simulation = Simulation(seed: 42)
        let ann = try simulation.addPeer("ann")
        let bob = try simulation.addPeer("bob")
        let cem = try simulation.addPeer("cem")
        simulation.join(ann, bob)
        simulation.join(bob, cem)
        simulation.run(for: .seconds(5))
        #expect(Set(ann.linkedPeers) == [bob.id, cem.id])
        #expect(Set(cem.linkedPeers) == [ann.id, bob.id])

        #expect(ann.takeEvents().last == .peer(cem.id, .connected))
        #expect(ann.send([1, 2, 3], to: cem))
        simulation.run(for: .seconds(1))
        #expect(cem.takeEvents().last == .message([1, 2, 3], from: ann.id))

        simulation.network.crash(cem, silently: true)
        #expect(
            simulation.run(for: .seconds(13)) { ann.linkedPeers == [bob.id] && bob.linkedPeers == [ann.id] })
        simulation.network.restart(cem)
        simulation.join(ann, cem)
        #expect(simulation.run(for: .seconds(10)) { cem.linkedPeers.count == 2 })
        #expect(simulation.complaint == nil)
    }

    @Test("a network that splits: each side continues, and both find each other again [mesh.missed]")
    func split() throws {
        let simulation = Simulation(seed: 7)
        let peers = try (0..<4).map { try simulation.addPeer("p\($0)") }
        for (one, other) in zip(peers, peers.dropFirst()) { simulation.join(one, other) }
        simulation.run(for: .seconds(6))
        #expect(peers.allSatisfy { $0.linkedPeers.count == 3 })

        simulation.network.partition([peers[0], peers[1]])
        simulation.run(for: .seconds(20))
        #expect(peers.allSatisfy { $0.linkedPeers.count == 1 })

        simulation.network.heal()
        #expect(simulation.run(for: .seconds(5)) { peers.allSatisfy { $0.linkedPeers.count == 3 } })
        #expect(simulation.complaint == nil)
    }

    @Test("the ninth peer is refused because the session is full, and no other peer notices")
    func full() throws {
        let simulation = Simulation(seed: 3)
        simulation.network.delay(.short)
        let peers = try (0..<9).map { try simulation.addPeer("p\($0)") }
        for peer in peers[1..<8] { simulation.join(peers[0], peer) }
        #expect(simulation.run(for: .seconds(10)) { peers[..<8].allSatisfy { $0.linkedPeers.count == 7 } })
        for peer in peers { _ = peer.takeEvents() }

        simulation.join(peers[0], peers[8])
        simulation.run(for: .seconds(5))
        guard case .peer(_, .notConnected(let reason))? = peers[8].events.last else {
            Issue.record("the ninth heard \(peers[8].events)")
            return
        }
        #expect(reason.code == .full)
        #expect(peers[1..<8].allSatisfy { $0.events.isEmpty })
    }

    @Test("links without introductions do not form a mesh")
    func direct() throws {
        let simulation = Simulation(seed: 5)
        let peers = try (0..<3).map { try simulation.addPeer("p\($0)") }
        simulation.join(peers[0], peers[1], joinsMesh: false)
        simulation.join(peers[1], peers[2], joinsMesh: false)
        simulation.run(for: .seconds(10))
        #expect(peers[1].linkedPeers.count == 2)
        #expect(peers[0].linkedPeers == [peers[1].id])
    }
}
