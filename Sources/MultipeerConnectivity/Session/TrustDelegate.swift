import MultipeerCore
import MultipeerSecurity
import MultipeerTransport

/// Decides for the native session whether a peer may be connected. The session is created with it, so it comes first.
final class TrustDelegate: Sendable {
    private struct State {
        weak var core: SessionCore?
    }

    private let state = Locked(State())

    func attach(_ core: SessionCore) { state.withLock { $0.core = core } }

    /// Refuses every peer without a session.
    func decide(_ evidence: TrustEvidence) async -> Bool {
        guard let core = state.withLock({ $0.core }) else { return false }
        return await core.decide(evidence)
    }
}

extension SessionCore {
    /// Asks the delegate, after everything that has happened until now. The first answer counts; when the native session does not
    /// wait any longer the task is cancelled, and the peer is refused.
    fileprivate func decide(_ evidence: TrustEvidence) async -> Bool {
        guard let peer = try? PeerID(validating: evidence.peer, displayName: evidence.name) else {
            return false
        }
        let chain = evidence.chain.map { MCCertificate($0) }
        let answer = Promise<Bool>()
        await caughtUp()
        if Task.isCancelled { return false }
        callbacks.async { [self] in
            // Cancelled in the meantime: no answer is expected.
            if answer.isSent { return }
            let object = object(peer)
            let isAsked = withSession { session, delegate in
                guard let delegate else { return false }
                delegate.session(
                    session, didReceiveCertificate: chain.isEmpty ? nil : chain, fromPeer: object
                ) { answer.send($0) }
                return true
            }
            // Accepts, like a delegate that does not implement the question; a session that is gone refuses every peer.
            if isAsked != true { answer.send(isAsked != nil) }
        }
        return await answer.value(onCancel: { answer.send(false) })
    }
}
