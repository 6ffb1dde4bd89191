import Distributed
import MultipeerActors
import TestSupport
import Testing

@Suite("Calls between two sessions", .inTurns, .timeLimit(.minutes(3)))
struct CallTests {
    private static func pair(_ format: PeerActorSystem.Format = .binary) async throws -> Pair {
        var configuration = PeerActorSystem.Configuration()
        configuration.format = format
        return try await Pair(ann: configuration, bob: configuration) { system in
            try system.register(Counter.self, generics: [Int.self, [String].self])
            try system.register(error: Mishap.self)
        }
    }

    @Test("arguments go and results come, whatever they are made of", arguments: [PeerActorSystem.Format.binary, .json])
    func values(_ format: PeerActorSystem.Format) async throws {
        let pair = try await Self.pair(format)
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        #expect(try await remote.add(3) == 3)
        #expect(try await remote.add(-5) == -2)
        #expect(try await remote.current == -2)
        try await remote.reset()
        #expect(try await remote.current == 0)
        let tile = Tile(name: "ä", pixels: [0, 255, 3], marks: ["x": 0.1, "y": -1e300])
        #expect(try await remote.mirror(tile) == tile)
        #expect(try await remote.describe(7) == "7")
        #expect(try await remote.describe(["a", "b"]) == "[\"a\", \"b\"]")
        #expect(try await remote.caller() == "ann")
        await pair.end()
    }
}
