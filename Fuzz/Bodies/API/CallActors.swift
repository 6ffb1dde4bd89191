import Distributed

// The actors of the method names in the inputs. They are never called: only their names matter.

@Resolvable
protocol Weigher: DistributedActor where ActorSystem == LocalTestingDistributedActorSystem {
    distributed func weigh() -> Int
    distributed func weigh<Load: Codable & Sendable>(_ load: Load) -> Int
}

/// A registered actor, with everything that a distributed actor may declare.
distributed actor Sorter: Weigher {
    typealias ActorSystem = LocalTestingDistributedActorSystem

    distributed var count: Int { 0 }
    distributed func sort(_ tiles: [String]) throws -> [String] { tiles }
    distributed func pick<Tile: Codable & Sendable>(_ tile: Tile) -> String { "\(tile)" }
    distributed func weigh() -> Int { 0 }
    distributed func weigh<Load: Codable & Sendable>(_ load: Load) -> Int { 0 }

    /// An actor that is not registered.
    distributed actor Bin {
        typealias ActorSystem = LocalTestingDistributedActorSystem
        distributed func empty() {}
    }
}

extension Sorter {
    distributed func größe() async -> Int { 0 }
}

/// A generic actor.
distributed actor Box<Content: Codable & Sendable> {
    typealias ActorSystem = LocalTestingDistributedActorSystem
    distributed func put(_ content: Content) {}
    distributed func put<Label: Codable & Sendable>(_ content: Content, as label: Label) {}
    distributed func clear() where Content: Comparable {}

    /// Its methods have the names of those of the actor, but for the type between.
    distributed actor Lid {
        typealias ActorSystem = LocalTestingDistributedActorSystem
        distributed func lift() {}
    }
}

extension Box where Content == Int {
    distributed func sum() -> Int { 0 }
}

/// Another actor that is not registered. Its methods have the names of those of a registered one.
distributed actor Stranger {
    typealias ActorSystem = LocalTestingDistributedActorSystem
    distributed var count: Int { 0 }
    distributed func sort(_ tiles: [String]) throws -> [String] { tiles }
}
