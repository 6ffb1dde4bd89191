import Multipeer
import MultipeerCore
public import MultipeerSecurity
public import MultipeerTransport

/// Sessions, the network between them and the time, for tests of applications: seconds of virtual time pass in
/// milliseconds, nothing waits, and the same seed gives the same run every time.
///
/// What makes decisions in a real session does so here, too: introductions, links, the mesh with its cap, liveness.
/// Sockets, TLS and clocks are simulated. So an application can test how it behaves when a peer crashes, when the network
/// splits or when two meshes meet, without a network and without flaky tests:
///
/// ```swift
/// let simulation = Simulation(seed: 1)
/// let ann = try simulation.addPeer("ann")
/// let bob = try simulation.addPeer("bob")
/// simulation.join(ann, bob)
/// simulation.run(for: .seconds(5))
/// // ann.linkedPeers contains bob.id alone
///
/// ann.send([1, 2, 3], to: bob)
/// simulation.run(for: .seconds(1))
/// // bob.takeEvents() ends with .message([1, 2, 3], from: ann.id)
///
/// simulation.network.cut(ann, bob)
/// simulation.run(for: .seconds(30))
/// // both were notified of the loss and of the new link: peers of one mesh dial each other for as long as it exists
/// ```
///
/// Ids, keys and delays follow from the seed. To search for bugs, run the same test over many seeds, and name the seed in
/// the test's failure message.
public final class Simulation {
    let world: World
    /// All peers, in the order in which they were added.
    public private(set) var peers: [SimulatedPeer] = []

    /// Creates an empty network; `peers` is the most that a mesh may have, as in a session's configuration.
    public init(seed: UInt64, peers: Int = 8) {
        world = World(seed: seed, cap: min(max(peers, 2), 16))
        world.applications.keepsJournal = true
        world.applications.chats = false
    }

    deinit { world.dismantle() }

    /// Adds a session that runs on a computer of its own; 32 at most.
    ///
    /// - Throws: `invalidArgument` for a name that no peer may have.
    public func addPeer(
        _ name: String, preference: EncryptionPreference = .optional, hasIdentity: Bool = false
    ) throws(MultipeerError) -> SimulatedPeer {
        precondition(peers.count < 32, "a simulation has at most 32 peers")
        guard
            let uid = world.add(Scenario.Peer(preference: preference, hasIdentity: hasIdentity), named: name)
        else {
            throw MultipeerError(.invalidArgument, "\(InvalidPeerID.displayName)")
        }
        let peer = SimulatedPeer(try PeerID(uid: uid, displayName: name), world, peers.count)
        peers.append(peer)
        return peer
    }

    /// Lets two applications exchange connection data and connect to each other; links join the mesh, unless `joinsMesh` is
    /// false.
    public func join(_ one: SimulatedPeer, _ other: SimulatedPeer, joinsMesh: Bool = true) {
        world.applications.join(one.index, other.index, joinsMesh: joinsMesh, isAddressed: true)
    }

    /// Lets that much virtual time pass.
    public func run(for duration: Duration) { world.run(until: world.now + duration.wholeNanoseconds) }

    /// Lets time pass until `condition` holds, which is checked every 10 ms; returns whether it did within `limit`.
    @discardableResult
    public func run(for limit: Duration, until condition: () -> Bool) -> Bool {
        let end = world.now + limit.wholeNanoseconds
        while !condition() {
            guard world.now < end, complaint == nil else { return false }
            world.run(until: min(end, world.now + 10_000_000))
        }
        return true
    }

    /// The virtual time since the simulation began.
    public var elapsed: Duration { .nanoseconds(world.now - World.start) }

    /// What can be done to the network and to computers.
    public var network: Network { Network(world) }

    /// Set, and time stands still, when the library itself has broken one of its invariants: please report it.
    public var complaint: String? { world.failure?.description }
}
