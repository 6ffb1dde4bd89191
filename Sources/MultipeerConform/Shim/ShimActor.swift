/// A shim runs on one actor: no lock is needed, and its tasks report events in the order in which they get to the actor.
@globalActor
actor ShimActor {
    static let shared = ShimActor()
}
