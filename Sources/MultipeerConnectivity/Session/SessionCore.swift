import Multipeer
import MultipeerCore
import MultipeerSecurity
import MultipeerTransport

/// The implementation of an `MCSession`: the native session, its delegate's queue, and what was reported to the delegate.
///
/// Tasks of a session keep this and not the `MCSession`, so that releasing the latter ends it. No lock is held during a call of
/// other code, and no thread waits for another.
final class SessionCore: Sendable {
    let native: Session
    let callbacks: CallbackQueue
    let reportedPeers = Versioned(ReportedPeers())
    let watches = SessionWatches()
    /// The ends of the files that are being received from each peer. They are reported before the peer is reported as lost.
    let receptions = Locked<[PeerID: [Promise<Void>]]>([:])
    /// Why no peer can be connected: the session was created with arguments that are not valid.
    let fault: MCError?
    let owner = Versioned(Owner())
    /// Takes the native session's events. Another one after each `disconnect`, which ends it.
    let reader = Locked<Session.EventReader?>(nil)

    /// Neither is kept alive.
    struct Owner {
        weak var session: MCSession?
        weak var delegate: (any MCSessionDelegate)?
    }

    init(_ peer: PeerID, _ configuration: Result<Session.Configuration, MCError>) {
        let trustDelegate = TrustDelegate()
        let trust = TrustPolicy.ask { evidence in await trustDelegate.decide(evidence) }
        (native, fault) = SessionCore.session(of: peer, configuration, trust)
        if let fault {
            ConsoleNotices.shared.write(
                once: "MCSession: no peer can be connected: \(fault.localizedDescription)")
        }
        callbacks = CallbackQueue("MCSession.callbackQueue")
        trustDelegate.attach(self)
    }

    /// Returns the native session, with the default configuration if that of the application is not valid.
    private static func session(
        of peer: PeerID, _ configuration: Result<Session.Configuration, MCError>, _ trust: TrustPolicy
    ) -> (Session, MCError?) {
        var fault: MCError?
        switch configuration {
        case .success(var configuration):
            configuration.trust = trust
            do { return (try Session(peer: peer, configuration: configuration), nil) } catch {
                fault = MCError(error)
            }
        case .failure(let error): fault = error
        }
        var standard = Session.Configuration.facade
        standard.trust = trust
        // With a keyed id, and without its identity, there is no session; this one connects no peer. [uid.proof]
        let standIn = PeerID(uid: peer.uid.asRandom, sanitizing: peer.displayName)
        do { return (try Session(peer: standIn, configuration: standard), fault) } catch {
            preconditionFailure("MCSession: the system has no memory or descriptors left: \(error)")
        }
    }

    /// Called once, when the session exists.
    func attach(_ session: MCSession) {
        owner.change { $0.session = session }
        deliverNext()
    }

    var delegate: (any MCSessionDelegate)? {
        get { owner.read { $0.delegate } }
        set { owner.change { $0.delegate = newValue } }
    }

    /// Calls the delegate; does nothing when the session or its delegate is gone. Only on the callback queue.
    func withDelegate(_ body: (MCSession, any MCSessionDelegate) -> Void) {
        guard let session = owner.read({ $0.session }), let delegate = session.delegate else { return }
        body(session, delegate)
    }

    /// Calls `body` in the same way, and returns nil when the session is gone; without a delegate the body gets none.
    func withSession<Result>(_ body: (MCSession, (any MCSessionDelegate)?) -> Result) -> Result? {
        guard let session = owner.read({ $0.session }) else { return nil }
        return body(session, session.delegate)
    }
}
