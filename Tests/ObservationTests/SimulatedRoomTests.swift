import Multipeer
import MultipeerObservation
import MultipeerSimulation
import TestSupport
import Testing

@Suite("6 Rooms on a simulated network", .computing)
struct SimulatedRoomTests {
    /// The result of some minutes of four rooms.
    private struct Outcome: Equatable, Sendable {
        let history: [String]
        let members: [[String]]
        let texts: [[String]]
        let codes: [[String]]
    }

    @Test("rooms link, talk, survive a partition and notice a member whose machine vanishes")
    func evening() async throws {
        let outcome = try await evening(seed: 1)
        #expect(outcome.members == [["bob", "cid"], ["ann", "cid"], ["ann", "bob"]])
        for texts in outcome.texts {
            #expect(
                texts.sorted() == ["hello from ann", "hello from bob", "hello from cid", "hello from dan"])
        }
        for codes in outcome.codes { #expect(codes.last == "the peer did not respond in time") }
    }

    @Test("the same seed gives the same history, another seed another one", arguments: [3, 4] as [UInt64])
    func repeated(_ seed: UInt64) async throws {
        let first = try await evening(seed: seed)
        let second = try await evening(seed: seed)
        #expect(first == second)
        #expect(first.history.count > 500)
        let other = try await evening(seed: seed + 100)
        #expect(first.history != other.history)
    }

    @Test("a room whose machine is gone ends by itself, and says why")
    func ended() async throws {
        let network = SimulatedNetwork(seed: 1)
        let (codes, isRunning) = try await network.run { network in
            let ann = try network.host("ann")
            let room = try await Self.rooms(on: [ann], of: network)[0]
            await network.onMainActor { room.start() }
            try await network.clock.sleep(for: .seconds(1))
            network.kill(ann)
            try await network.clock.sleep(for: .seconds(1))
            return await network.onMainActor { (room.failures.map(\.error.code), room.isRunning) }
        }
        #expect(codes == [.discovery])
        #expect(!isRunning)
    }

    private static func rooms(
        on hosts: [SimulatedNetwork.Host], of network: SimulatedNetwork
    ) async throws -> [RoomModel] {
        try await network.onMainActor {
            try hosts.map {
                try RoomModel(
                    peer: $0.peer, service: "chat", session: $0.session(), discovery: $0.discovery())
            }
        }
    }

    private func evening(seed: UInt64) async throws -> Outcome {
        let network = SimulatedNetwork(seed: seed)
        let rooms = try await network.run { network in
            let hosts = try ["ann", "bob", "cid", "dan"].map { try network.host($0) }
            let rooms = try await Self.rooms(on: hosts, of: network)
            // Both ways to start a room are part of the run.
            for (host, room) in zip(hosts, rooms).dropFirst() { host.task { await room.run() } }
            await network.onMainActor { rooms[0].start() }
            network.task { try await Self.watch(rooms, on: network) }
            try await Self.meet(rooms, on: network)
            network.partition(Array(hosts[..<2]), Array(hosts[2...]))
            try await network.clock.sleep(for: .seconds(20))
            network.heal()
            // The halves have lost each other, and find each other again.
            try await network.clock.sleep(for: .seconds(30))
            try await Self.link(rooms, on: network)
            network.kill(hosts[3], silently: true)
            try await network.clock.sleep(for: .seconds(40))
            let outcome = await network.onMainActor { Self.outcome(of: Array(rooms.dropLast())) }
            for room in rooms { await room.stop() }
            return outcome
        }
        return Outcome(
            history: network.history, members: rooms.members, texts: rooms.texts, codes: rooms.codes)
    }

    /// All link, and everyone says hello.
    private static func meet(_ rooms: [RoomModel], on network: SimulatedNetwork) async throws {
        try await link(rooms, on: network)
        await network.onMainActor {
            for room in rooms { room.send("hello from \(room.peer.displayName)") }
        }
        try await network.clock.sleep(for: .seconds(5))
    }

    /// The first invites the peers that are nearby, which accept.
    private static func link(_ rooms: [RoomModel], on network: SimulatedNetwork) async throws {
        try await network.clock.sleep(for: .seconds(5))
        await network.onMainActor { for other in rooms[0].nearby { rooms[0].invite(other.id) } }
        try await network.clock.sleep(for: .seconds(5))
        await network.onMainActor {
            for room in rooms { for invitation in room.invitations { room.accept(invitation) } }
        }
        try await network.clock.sleep(for: .seconds(10))
    }

    /// Notes what the rooms show, ten times a second.
    private static func watch(_ rooms: [RoomModel], on network: SimulatedNetwork) async throws {
        while true {
            let shown = await network.onMainActor { rooms.map(Self.shown) }
            for line in shown { network.note(line) }
            try await network.clock.sleep(for: .milliseconds(100))
        }
    }

    @MainActor private static func shown(by room: RoomModel) -> String {
        let peers = (room.nearby + room.members).map { "\($0.name) \($0.state)" }
        return "\(room.peer.displayName) shows \(peers), \(room.messages.map { $0.text ?? "" })"
    }

    @MainActor private static func outcome(of rooms: [RoomModel]) -> Outcome {
        Outcome(
            history: [], members: rooms.map { $0.members.map(\.name).sorted() },
            texts: rooms.map(\.texts),
            codes: rooms.map { $0.failures.compactMap { $0.error.reason?.code.rawValue } })
    }
}
