import Multipeer

/// One session of a shim: it does what requests ask of the session, and tells what the session has to say.
@ShimActor
final class ShimSubject {
    let context: ShimContext
    let streams: ShimStreams
    let resources: ShimResources
    let nearby: ShimNearby
    /// Closed while the application takes nothing of the session.
    let gate = ShimGate()
    /// What was told last of each peer.
    var peers: [UID: (peer: PeerID, state: String)] = [:]

    init(_ context: ShimContext) {
        self.context = context
        streams = ShimStreams(context)
        resources = ShimResources(context)
        nearby = ShimNearby(context)
    }

    var name: String { context.name }

    /// Says goodbye, and forgets everything.
    func leave() async {
        gate.open()
        streams.openGates()
        await nearby.stop()
        await context.session.disconnect()
        context.cancelTasks()
    }
}
