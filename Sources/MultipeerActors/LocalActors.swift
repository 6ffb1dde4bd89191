import Distributed
import MultipeerTransport

/// The actors of this system by their places, as weak references: the application keeps its actors.
final class LocalActors: Sendable {
    private struct LocalActor {
        weak var actor: (any DistributedActor)?
    }

    private struct State {
        var localActors: [ActorID.Place: LocalActor] = [:]
        /// Names that are taken or claimed.
        var names: Set<ActorID.Place> = []
    }

    private let state = Locked(State())

    /// Claims the name. Returns false when it is taken.
    func claim(_ name: String) -> Bool { state.withLock { $0.names.insert(.name(name)).inserted } }

    func giveBack(_ name: String) { state.withLock { state in _ = state.names.remove(.name(name)) } }

    /// Returns the place of an actor that is being created: the name that was claimed, or else a random number.
    ///
    /// The number cannot be guessed, so only peers that were given the actor, or have found it, can call it.
    func reserve(_ name: String?, _ incarnation: UInt64) -> ActorID.Place {
        if let name { return .name(name) }
        var randomness = SystemRandomness()
        return .number(randomness.next(), incarnation: incarnation)
    }

    func insert(_ actor: any DistributedActor, at place: ActorID.Place) {
        state.withLock { $0.localActors[place] = LocalActor(actor: actor) }
    }

    func remove(_ place: ActorID.Place) {
        state.withLock { state in
            state.localActors[place] = nil
            state.names.remove(place)
        }
    }

    func find(_ place: ActorID.Place) -> (any DistributedActor)? {
        state.withLock { $0.localActors[place]?.actor }
    }

    var count: Int { state.withLock { $0.localActors.count } }
}

/// A name for the next actor that is created in that system, and in no other.
final class PendingActorName: Sendable {
    private let name: Locked<String?>
    private let incarnation: UInt64

    init(_ name: String, _ incarnation: UInt64) {
        self.name = Locked(name)
        self.incarnation = incarnation
    }

    func take(by incarnation: UInt64) -> String? {
        incarnation == self.incarnation ? name.withLock { $0.take() } : nil
    }
}
