import Multipeer

/// One session of a shim: carries out requests, and reports the session's events.
@ShimActor
final class ShimSubject {
    let context: ShimContext
    let streams: ShimStreams
    let resources: ShimResources
    let nearby: ShimNearby
    /// Closed while the application takes no events from the session.
    let gate = ShimGate()
    /// The last reported state of each peer.
    var peers: [UID: (peer: PeerID, state: String)] = [:]

    init(_ context: ShimContext) {
        self.context = context
        streams = ShimStreams(context)
        resources = ShimResources(context)
        nearby = ShimNearby(context)
    }

    var name: String { context.name }

    /// Closes the session gracefully, and releases everything.
    func leave() async {
        gate.open()
        streams.openGates()
        await nearby.stop()
        await context.session.disconnect()
        context.cancelTasks()
    }
}
