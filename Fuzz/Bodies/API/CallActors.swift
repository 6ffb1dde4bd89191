import Distributed

// Whom the names of methods in the inputs belong to. Nobody calls them: what they are called is what counts.

@Resolvable
protocol Weigher: DistributedActor where ActorSystem == LocalTestingDistributedActorSystem {
    distributed func weigh() -> Int
    distributed func weigh<Load: Codable & Sendable>(_ load: Load) -> Int
}

/// One that is registered, with everything that a distributed actor may declare.
distributed actor Sorter: Weigher {
    typealias ActorSystem = LocalTestingDistributedActorSystem

    distributed var count: Int { 0 }
    distributed func sort(_ tiles: [String]) throws -> [String] { tiles }
    distributed func pick<Tile: Codable & Sendable>(_ tile: Tile) -> String { "\(tile)" }
    distributed func weigh() -> Int { 0 }
    distributed func weigh<Load: Codable & Sendable>(_ load: Load) -> Int { 0 }

    /// Nobody has registered it.
    distributed actor Bin {
        typealias ActorSystem = LocalTestingDistributedActorSystem
        distributed func empty() {}
    }
}

extension Sorter {
    distributed func größe() async -> Int { 0 }
}

/// One that is generic.
distributed actor Box<Content: Codable & Sendable> {
    typealias ActorSystem = LocalTestingDistributedActorSystem
    distributed func put(_ content: Content) {}
    distributed func put<Label: Codable & Sendable>(_ content: Content, as label: Label) {}
    distributed func clear() where Content: Comparable {}

    /// Its methods are called like those of the actor, but for the type between.
    distributed actor Lid {
        typealias ActorSystem = LocalTestingDistributedActorSystem
        distributed func lift() {}
    }
}

extension Box where Content == Int {
    distributed func sum() -> Int { 0 }
}

/// Nobody has registered it either. Its methods are called like those of one that is.
distributed actor Stranger {
    typealias ActorSystem = LocalTestingDistributedActorSystem
    distributed var count: Int { 0 }
    distributed func sort(_ tiles: [String]) throws -> [String] { tiles }
}
