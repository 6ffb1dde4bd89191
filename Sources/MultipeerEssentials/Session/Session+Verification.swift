public import MultipeerCore
import MultipeerEngine
import MultipeerTransport

extension Session {
    /// Returns the digits by which the two users verify each other: six to show, and six that only the other side shows.
    ///
    /// Call it when your user wants to verify the peer. Show ``VerificationDigits/own``, and have your user type the digits that the
    /// other user reads out, by voice or side by side. If ``VerificationDigits/match(_:)`` returns true, call
    /// `confirmVerification(of:)`: no third party is on the link, even if neither peer could be authenticated before; a man in the
    /// middle had one guess in a million. If it returns false, a typing mistake is likely, and asking once or twice more is safe: the
    /// digits cannot change. If your user says that the digits differ, call `rejectVerification(of:)`, and treat it as an attack:
    /// link and compare again only when a user asks for it, because each new link is a new guess. Until the digits are confirmed,
    /// neither send nor show anything.
    ///
    /// The code is made once both applications have requested it: until yours does, the session reveals nothing about it. The
    /// side that requests first waits, and the other side receives `Session.Event.verificationRequested`: when you receive it, ask
    /// your user before you call this, or call `declineVerification(of:)`. An application that calls it automatically on each such
    /// event lets a man in the middle try link after link until two codes are equal, with no user looking.
    ///
    /// The code is made once for each link and kept as long as the link lives; further calls return the same one.
    ///
    /// Throws `notConnected` without a link, `notEncrypted` on a plain one, `declined` when the other side does not compare codes
    /// now, `timedOut` when it has not done its part within 60 seconds (calling again waits again), `ended` when the link ends
    /// first, also because the other side violated the rules of the exchange, and `cancelled` when the task is cancelled, which ends
    /// only the wait.
    public func verificationCode(for peer: PeerID) async throws(MultipeerError) -> VerificationDigits {
        let isControlling = self.peer.uid < peer.uid
        let code = try await translating(peer) { (driver) async throws(VerificationFault) in
            try await driver.verificationCode(for: peer.uid)
        }
        return VerificationDigits(code, isControlling: isControlling)
    }

    /// Confirms that your user has typed the digits that the peer shows; returns once the other side's user has confirmed, too.
    ///
    /// From then on, `connectionInfo(for:)` says that the peer is verified by a code, for every link with the same key. If both
    /// peers have an identity and the configuration has a trust store, the peer's key is remembered there.
    ///
    /// Throws `invalidArgument` when there is no code, `notConnected` without a link, `ended` when the link ends first, with the
    /// reason `codesDiffer` if the other user says that the digits differ, `file` when the trust store cannot be written, and `cancelled` when the task is cancelled, which ends only
    /// the wait.
    public func confirmVerification(of peer: PeerID) async throws(MultipeerError) {
        try await translating(peer) { (driver) async throws(VerificationFault) in
            try await driver.confirmCode(of: peer.uid)
        }
    }

    /// Says that the digits differ: the link ends at both ends, with the reason `codesDiffer`.
    ///
    /// Throws `invalidArgument` when there is no code, and `notConnected` without a link.
    public func rejectVerification(of peer: PeerID) async throws(MultipeerError) {
        try await translating(peer) { (driver) async throws(VerificationFault) in
            try await driver.rejectCode(of: peer.uid)
        }
    }

    /// Declines to compare codes with a peer that wants to: its call of `verificationCode(for:)` throws `declined` at once.
    ///
    /// The link stays, and your user may still compare later. Does nothing when the peer does not wait for an answer, or received
    /// this one before. Throws `notConnected` without a link.
    public func declineVerification(of peer: PeerID) async throws(MultipeerError) {
        try await translating(peer) { (driver) async throws(VerificationFault) in
            try await driver.declineCode(of: peer.uid)
        }
    }

    /// Confirms that your user named the peer by its id, for example by scanning or typing all of it, and the id is the hash of a key
    /// (`UID.isKeyed`): the link has proven that the peer has that key.
    ///
    /// From then on, `connectionInfo(for:)` says that the peer is verified by its id. Without this call it does not, because an id
    /// that was only seen on the network says nothing about who has it.
    ///
    /// Throws `invalidArgument` when the id is random, `notConnected` without a link, and `file` when the trust store cannot be
    /// written.
    public func confirmID(of peer: PeerID) async throws(MultipeerError) {
        try await driver.confirmID(of: peer)
    }

    private func translating<Value: Sendable>(
        _ peer: PeerID, _ body: (SessionDriver) async throws(VerificationFault) -> Value
    ) async throws(MultipeerError) -> Value {
        do throws(VerificationFault) { return try await body(driver) } catch {
            throw MultipeerError(error, with: peer)
        }
    }
}
