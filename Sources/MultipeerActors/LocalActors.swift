import Distributed
import MultipeerTransport

/// The actors of this system by their places. It does not keep them: whoever made an actor does.
final class LocalActors: Sendable {
    private struct LocalActor {
        weak var actor: (any DistributedActor)?
    }

    private struct State {
        var localActors: [ActorID.Place: LocalActor] = [:]
        /// Names that are given away, or will be.
        var names: Set<ActorID.Place> = []
    }

    private let state = Locked(State())

    /// False when somebody has the name.
    func claim(_ name: String) -> Bool { state.withLock { $0.names.insert(.name(name)).inserted } }

    func giveBack(_ name: String) { state.withLock { state in _ = state.names.remove(.name(name)) } }

    /// The place of an actor that is being made: the name that was claimed, or else a number that nobody can guess.
    ///
    /// Nobody but those to whom an actor was given, or who have found it, can then name it in a call.
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

/// A name for the next actor that is made in that system, and for no other.
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
