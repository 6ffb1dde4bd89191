import Distributed
import MultipeerActors
import MultipeerTransport

/// An error that both sides have registered.
struct Mishap: Error, Codable, Equatable {
    let depth: Int
}

/// One that nobody has.
struct Secret: Error, CustomStringConvertible {
    let description = "the drawer is stuck"
}

struct Tile: Codable, Equatable, Sendable {
    var name: String
    var pixels: [UInt8]
    var marks: [String: Double] = [:]
}

distributed actor Counter {
    typealias ActorSystem = PeerActorSystem

    private var total = 0
    private var tiles: [Tile] = []

    distributed func add(_ number: Int) -> Int {
        total += number
        return total
    }

    distributed func reset() { total = 0 }
    distributed var current: Int { total }
    distributed func mirror(_ tile: Tile) -> Tile { tile }
    distributed func fail(_ depth: Int) throws { throw Mishap(depth: depth) }
    distributed func failStrangely() throws { throw Secret() }
    distributed func describe<Value: Codable & Sendable>(_ value: Value) -> String { "\(value)" }
    distributed func caller() -> String { PeerActorSystem.caller?.displayName ?? "nobody" }
    distributed func repeated(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    /// Calls back whoever is given to it.
    distributed func descend(_ depth: Int, with other: Counter) async throws -> Int {
        depth == 0 ? 0 : 1 + (try await other.descend(depth - 1, with: self))
    }
}
