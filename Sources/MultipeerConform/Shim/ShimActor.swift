/// A shim does everything in turns of one actor: no lock is needed, and what its tasks have to tell is told in the order in
/// which they come to it.
@globalActor
actor ShimActor {
    static let shared = ShimActor()
}
