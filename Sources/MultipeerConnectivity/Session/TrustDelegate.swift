import MultipeerCore
import MultipeerSecurity
import MultipeerTransport

/// Whom the native session asks whether a peer may be connected. The session is made with it, so it comes first.
final class TrustDelegate: Sendable {
    private struct State {
        weak var core: SessionCore?
    }

    private let state = Locked(State())

    func attach(_ core: SessionCore) { state.withLock { $0.core = core } }

    /// Nobody is let in where nobody is.
    func decide(_ evidence: TrustEvidence) async -> Bool {
        guard let core = state.withLock({ $0.core }) else { return false }
        return await core.decide(evidence)
    }
}

extension SessionCore {
    /// Asks the delegate, after everything that has happened until now. The first answer counts; when the native session
    /// does not wait any longer the task is cancelled, and the answer is no.
    fileprivate func decide(_ evidence: TrustEvidence) async -> Bool {
        guard let peer = try? PeerID(uid: evidence.peer, displayName: evidence.name) else { return false }
        let chain = evidence.chain.map { MCCertificate($0) }
        let answer = Promise<Bool>()
        await caughtUp()
        if Task.isCancelled { return false }
        callbacks.async { [self] in
            // Called off meanwhile: nobody waits for an answer.
            if answer.isSent { return }
            let object = object(peer)
            let isAsked = withSession { session, delegate in
                guard let delegate else { return false }
                delegate.session(
                    session, didReceiveCertificate: chain.isEmpty ? nil : chain, fromPeer: object
                ) { answer.send($0) }
                return true
            }
            // Like a delegate that does not implement the question; a session that is gone lets nobody in.
            if isAsked != true { answer.send(isAsked != nil) }
        }
        return await answer.value(onCancel: { answer.send(false) })
    }
}
