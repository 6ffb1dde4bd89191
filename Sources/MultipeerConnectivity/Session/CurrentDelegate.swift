import Foundation
import MultipeerTransport

/// A session and its delegate during a run of messages: loaded once, and again when either may have changed. To load two weak
/// references for each message takes longer than everything else that is done for a small one.
///
/// As with a load before each call, one that was replaced or released since the last call is not called again. Not copyable, so
/// that the two are lent to a call, and not retained for it.
struct CurrentDelegate: ~Copyable {
    private struct Loaded: ~Copyable {
        var session: MCSession
        let delegate: any OwnedDelegate
        /// A subclass may have a delegate of its own making, and is asked before each call.
        let isSubclass: Bool

        @inline(__always)
        mutating func mayHaveChanged() -> Bool { isSubclass || isKnownUniquelyReferenced(&session) }
    }

    private let owner: Versioned<SessionCore.Owner>
    private var version: UInt64 = 0
    private var loaded: Loaded?

    init(_ owner: Versioned<SessionCore.Owner>) {
        self.owner = owner
        load()
    }

    /// Calls the delegate; does nothing when the session or its delegate is gone.
    mutating func received(_ data: Data, from peer: MCPeerID) {
        if owner.version != version || loaded?.mayHaveChanged() == true { load() }
        if pass(data, from: peer) { return }
        // Nothing else keeps the delegate: it is released, and there may be another.
        load()
        _ = pass(data, from: peer)
    }

    /// Returns false, and calls nothing, when the delegate may be gone.
    private func pass(_ data: Data, from peer: MCPeerID) -> Bool {
        switch loaded {
        case .some(let loaded): loaded.delegate.received(data, from: peer, in: loaded.session)
        case .none: true
        }
    }

    private mutating func load() {
        // Released first: what nothing else keeps is gone then.
        loaded = nil
        version = owner.version
        guard let session = owner.read({ $0.session }), let delegate = session.delegate else { return }
        loaded = Loaded(
            session: session, delegate: CurrentDelegate.own(delegate),
            isSubclass: type(of: session) != MCSession.self)
    }

    private static func own(_ delegate: some MCSessionDelegate) -> any OwnedDelegate {
        OwnedReference(delegate)
    }
}

private protocol OwnedDelegate: AnyObject {
    /// Calls the delegate; returns false instead when nothing else keeps it.
    func received(_ data: Data, from peer: MCPeerID, in session: MCSession) -> Bool
}

/// One reference to a delegate. Its type is known here: of a value of a protocol's type only a copy could be asked whether it is
/// the last one.
private final class OwnedReference<Delegate: MCSessionDelegate>: OwnedDelegate {
    private var delegate: Delegate
    private let lentDelegate: LentReference<Delegate>

    init(_ delegate: Delegate) {
        self.delegate = delegate
        lentDelegate = LentReference(delegate)
    }

    func received(_ data: Data, from peer: MCPeerID, in session: MCSession) -> Bool {
        if isKnownUniquelyReferenced(&delegate) { return false }
        lentDelegate.lend { $0.session(session, didReceive: data, fromPeer: peer) }
        return true
    }
}
