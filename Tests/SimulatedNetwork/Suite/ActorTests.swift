import Distributed
import Multipeer
import MultipeerActors
import MultipeerSimulation
import TestSupport
import Testing

distributed actor Sleeper {
    typealias ActorSystem = PeerActorSystem

    private let clock: SimulatedNetwork.Clock

    init(_ clock: SimulatedNetwork.Clock, actorSystem: PeerActorSystem) {
        self.clock = clock
        self.actorSystem = actorSystem
    }

    /// What came, and then how many bytes that was.
    distributed func count(_ bytes: ByteStream) async throws -> Int {
        var count = 0
        for try await piece in bytes { count += piece.count }
        return count
    }

    /// How long it has slept, in seconds.
    distributed func sleep(_ seconds: Int) async throws -> Int {
        try await clock.sleep(for: .seconds(seconds))
        return seconds
    }
}

@Suite("Actor systems on a simulated network", .computing)
struct ActorTests {
    @Test("calls and their timeouts take virtual time")
    func calls() async throws {
        let network = SimulatedNetwork(seed: 4)
        try await network.run { network in
            let pair = try await Pair(on: network)
            let (here, there) = (try await PeerActorSystem(pair.ann), try await PeerActorSystem(pair.bob))
            try there.register(Sleeper.self)
            let original = Sleeper(network.clock, actorSystem: there)
            let sleeper = try Sleeper.resolve(id: original.id, using: here)
            #expect(try await sleeper.sleep(20) == 20)
            #expect(try await took(network) { _ = try await sleeper.sleep(5) } == nil)
            // The system's own limit, and one of the caller's.
            #expect(try await took(network) { _ = try await sleeper.sleep(1_000) } == .seconds(30))
            let limited = try await took(network) {
                try await PeerActorSystem.withTimeout(.seconds(7)) { _ = try await sleeper.sleep(1_000) }
            }
            #expect(limited == .seconds(7))
            withExtendedLifetime(original) {}
        }
    }

    @Test("actors are found, streams are passed in calls, and the session's executor is the network's")
    func found() async throws {
        let network = SimulatedNetwork(seed: 5)
        let count = try await network.run { network in
            let pair = try await Pair(on: network)
            var configuration = PeerActorSystem.Configuration()
            configuration.executor = pair.bob.executor
            let here = try await PeerActorSystem(pair.ann)
            let there = try await PeerActorSystem(pair.bob, configuration: configuration)
            try there.register(Sleeper.self)
            let original = Sleeper(network.clock, actorSystem: there)
            try there.receptionist.checkIn(original, as: "sleepers")
            for await sleeper in here.receptionist.checkIns(of: Sleeper.self, as: "sleepers") {
                let (stream, writer) = ByteStream.make()
                network.task {
                    for _ in 0..<10 {
                        try await writer.write([UInt8](repeating: 1, count: 50_000))
                        try await network.clock.sleep(for: .seconds(1))
                    }
                    writer.finish()
                }
                defer { withExtendedLifetime(original) {} }
                return try await sleeper.count(stream)
            }
            return 0
        }
        #expect(count == 500_000)
        #expect(network.elapsed >= .seconds(9))
    }

    /// Returns how long the call took to time out; nil when it did not.
    private func took(
        _ network: SimulatedNetwork, _ body: () async throws -> Void
    ) async throws -> Duration? {
        let start = network.elapsed
        do {
            try await body()
            return nil
        } catch let error as ActorCallError where error.code == .timedOut {
            return network.elapsed - start
        }
    }
}
