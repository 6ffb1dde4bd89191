import Multipeer
import MultipeerCore
import MultipeerTransport

extension SessionCore {
    var connectedPeers: [MCPeerID] { roster.withLock { $0.connected } }

    func stateOf(_ peer: PeerID) -> MCSessionState { roster.withLock { $0.state(of: peer) } }

    /// The object by which the delegate knows a peer.
    func object(_ peer: PeerID) -> MCPeerID { roster.withLock { $0.object(peer) } }

    /// An attempt to link with a peer begins: an invitation, or connection data. It ends with `succeeded` or `failed`.
    func begin(_ peer: PeerID) -> Roster.Attempt { roster.withLock { $0.begin(peer) } }

    /// The native session links the peer, and tells of it.
    func succeeded(_ attempt: Roster.Attempt) { roster.withLock { $0.succeed(attempt) } }

    /// The attempt came to nothing. The delegate hears `.notConnected`, behind everything that has happened until now,
    /// unless it has heard so since the attempt began, or the peer is connected or connecting by something else.
    func failed(_ attempt: Roster.Attempt) async {
        await caughtUp()
        await callbacks.run { [self] in
            guard let peer = roster.withLock({ $0.fail(attempt) }) else { return }
            tell(peer, .notConnected)
        }
    }

    /// An attempt that came to nothing as soon as it began.
    func report(_ peer: PeerID) {
        let attempt = begin(peer)
        Task(executorPreference: native.executor) { [self] in await failed(attempt) }
    }

    /// Returns when the delegate has heard everything that had happened when this was called.
    func caughtUp() async {
        let count = await native.driver.eventCount
        await roster.withLock { $0.until(count) }?.value()
    }
}
