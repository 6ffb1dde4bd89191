@preconcurrency import MultipeerConnectivity
import MultipeerTransport

/// A call of a session's delegate.
///
/// Unchecked: streams are not `Sendable`; only the test that waits for one uses it.
enum DelegateEvent: @unchecked Sendable {
    case state(MCPeerID, MCSessionState)
    case data(Data, MCPeerID)
    case stream(InputStream, String, MCPeerID)
    case started(String, MCPeerID, Progress)
    case finished(String, MCPeerID, URL?, MCError?)
    case certificate([MCCertificate]?, MCPeerID)

    /// Returns the state of a peer, if it is such an event.
    func state(of peer: MCPeerID) -> MCSessionState? {
        if case .state(peer, let state) = self { state } else { nil }
    }

    /// Returns the message of a peer, if it is such an event.
    func data(of peer: MCPeerID) -> Data? {
        if case .data(let data, peer) = self { data } else { nil }
    }
}

/// A delegate that notes everything, and runs a test's code inside each call.
///
/// Accepts certificates by default.
final class Recorder: NSObject, MCSessionDelegate, Sendable {
    typealias Reaction = @Sendable (MCSession, DelegateEvent) -> Void
    typealias Verdict = @Sendable (@escaping @Sendable (Bool) -> Void) -> Void

    private struct State {
        var reaction: Reaction?
        var verdict: Verdict = { $0(true) }
    }

    let log = EventLog<DelegateEvent>()
    private let state = Locked(State())

    /// Sets the code that runs inside each call, before that is noted.
    func react(_ body: Reaction?) { state.withLock { $0.reaction = body } }

    /// Sets the answer to certificates.
    func judge(_ body: @escaping Verdict) { state.withLock { $0.verdict = body } }

    private func hear(_ session: MCSession, _ heard: DelegateEvent) {
        state.withLock { $0.reaction }?(session, heard)
        log.note(heard)
    }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        hear(session, .state(peerID, state))
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        hear(session, .data(data, peerID))
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        hear(session, .stream(stream, streamName, peerID))
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        hear(session, .started(resourceName, peerID, progress))
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        hear(session, .finished(resourceName, peerID, localURL, error as? MCError))
    }

    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void
    ) {
        hear(session, .certificate(certificate?.compactMap { $0 as? MCCertificate }, peerID))
        state.withLock { $0.verdict }(certificateHandler)
    }
}

extension Recorder {
    /// Returns all states of a peer, in order.
    func states(of peer: MCPeerID) -> [MCSessionState] { log.all.compactMap { $0.state(of: peer) } }

    /// Returns all messages of a peer, in order.
    func messages(of peer: MCPeerID) -> [Data] { log.all.compactMap { $0.data(of: peer) } }

    /// Waits until the last state of a peer is this.
    func hears(_ state: MCSessionState, of peer: MCPeerID, within timeLimit: Duration = .seconds(30))
        async throws
    {
        try await log.until(within: timeLimit) { $0.compactMap { $0.state(of: peer) }.last == state }
    }

    /// Waits until that many messages of a peer have come; returns them.
    @discardableResult
    func hears(messages count: Int, of peer: MCPeerID) async throws -> [Data] {
        try await log.until { $0.lazy.compactMap { $0.data(of: peer) }.count >= count }
        return messages(of: peer)
    }
}
