import MultipeerConnectivity

/// A session and its delegate, with the events of that.
///
/// Unchecked: the condition guards everything that changes, and a session may be used on any thread.
final class Party: NSObject, @unchecked Sendable {
    let session: MCSession
    private let condition = NSCondition()
    private var states: [MCPeerID: MCSessionState] = [:]
    private var messages = 0
    private var streams: [InputStream] = []
    private var resources = 0
    private var gate: DispatchSemaphore?

    init(_ name: String) {
        session = MCSession(peer: MCPeerID(displayName: name))
        super.init()
        session.delegate = self
    }

    var me: MCPeerID { session.myPeerID }

    /// Blocks the delegate: from now on it does not return from a message before the gate is opened.
    func block(at gate: DispatchSemaphore) { condition.withLock { self.gate = gate } }

    /// Connects two parties: each creates data for the other, and then connects with what it gets.
    static func connect(_ one: Party, _ other: Party) throws {
        one.session.nearbyConnectionData(forPeer: other.me) { ones, _ in
            other.session.nearbyConnectionData(forPeer: one.me) { others, _ in
                guard let ones, let others else { return }
                one.session.connectPeer(other.me, withNearbyConnectionData: others)
                other.session.connectPeer(one.me, withNearbyConnectionData: ones)
            }
        }
        try one.await("connected") { $0.states[other.me] == .connected }
        try other.await("connected") { $0.states[one.me] == .connected }
    }

    func awaitEnd(of peer: MCPeerID) throws {
        try self.await("not connected") { $0.states[peer] == .notConnected }
    }

    func awaitMessages(_ count: Int) throws { try self.await("\(count) messages") { $0.messages >= count } }

    func awaitResources(_ count: Int) throws { try self.await("\(count) files") { $0.resources >= count } }

    func awaitStream() throws { try self.await("a stream") { !$0.streams.isEmpty } }

    /// Waits for a stream, which is open, and returns it.
    func firstStream() throws -> InputStream {
        try awaitStream()
        return condition.withLock { streams[0] }
    }

    /// Releases the streams that were received.
    func dropStreams() {
        let dropped = condition.withLock {
            defer { streams = [] }
            return streams
        }
        for stream in dropped { stream.close() }
    }

    private func await(_ what: String, _ isSo: (Party) -> Bool) throws {
        let end = Date(timeIntervalSinceNow: 60)
        try condition.withLock {
            while !isSo(self) {
                guard condition.wait(until: end) else {
                    throw MultipeerReuse.Failure(description: "\(me.displayName) was not notified: \(what)")
                }
            }
        }
    }

    private func note(_ body: () -> Void) {
        condition.withLock {
            body()
            condition.broadcast()
        }
    }
}

extension Party: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        note { states[peerID] = state }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        if let gate = condition.withLock({ gate }) {
            gate.wait()
            gate.signal()
        }
        note { messages += 1 }
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        stream.open()
        note { streams.append(stream) }
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {}

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?
    ) {
        note { resources += 1 }
    }
}
