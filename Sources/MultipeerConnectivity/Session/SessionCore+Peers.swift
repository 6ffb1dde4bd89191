import Multipeer
import MultipeerCore
import MultipeerTransport

extension SessionCore {
    var connectedPeers: [MCPeerID] { reportedPeers.read { $0.connected } }

    func stateOf(_ peer: PeerID) -> MCSessionState { reportedPeers.read { $0.state(of: peer) } }

    /// Returns the object by which the delegate knows a peer.
    func object(_ peer: PeerID) -> MCPeerID { reportedPeers.read { $0.object(peer) } }

    /// Reports that an attempt to link with a peer failed before it began: the delegate receives `.notConnected`, after all
    /// earlier calls and events.
    func report(_ peer: PeerID) {
        Task(executorPreference: native.executor) { [native] in
            await native.driver.mark(.attemptFailed(peer))
        }
    }

    /// Returns when the delegate has received everything that had happened when this was called.
    func caughtUp() async {
        let isReached = Promise<Void>()
        await native.driver.mark(.reached(isReached))
        await isReached.value()
    }
}
