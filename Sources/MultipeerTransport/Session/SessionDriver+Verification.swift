package import MultipeerCore
package import MultipeerEngine
import MultipeerHandshake
import MultipeerSecurity

// MARK: the verification code

extension SessionDriver {
    /// Returns the code of the link to a peer, once both ends have it: the other side does its part when its application asks for
    /// it.
    package func verificationCode(
        for uid: UID, within timeLimit: Duration = VerificationCode.timeout
    ) async throws(VerificationFault) -> String {
        guard !Task.isCancelled else { throw .cancelled }
        let (request, promise) = calls.awaitCode()
        defer {
            calls.endCode(request)
            engine.cancelCodeRequest(request)
        }
        try engine.requestCode(of: uid, request, within: timeLimit, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
        return try await promise.value(onCancel: { promise.send(.failure(.cancelled)) }).get()
    }

    /// Confirms that the local user has compared the code; returns once the other side's user has, too, and the peer is
    /// remembered.
    package func confirmCode(of uid: UID) async throws(VerificationFault) {
        guard !Task.isCancelled else { throw .cancelled }
        let (request, promise) = calls.awaitCode()
        defer {
            calls.endCode(request)
            engine.cancelCodeRequest(request)
        }
        try engine.confirmCode(of: uid, request, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
        _ = try await promise.value(onCancel: { promise.send(.failure(.cancelled)) }).get()
        do throws(MultipeerError) { try await rememberVerified(uid, by: .code) } catch {
            throw .notRemembered("\(error)")
        }
    }

    /// Ends the link because the codes differ.
    package func rejectCode(of uid: UID) throws(VerificationFault) {
        try engine.rejectCode(of: uid, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }

    /// Declines to compare codes now.
    package func declineCode(of uid: UID) throws(VerificationFault) {
        try engine.declineCode(of: uid, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }

    /// Notes that the user named a linked peer by its keyed uid, of which the peer has the key. [uid.proof]
    ///
    /// Throws `invalidArgument` for a random uid, `notConnected` without a link, and `file` if the trust store cannot be written.
    package func confirmID(of peer: PeerID) async throws(MultipeerError) {
        guard peer.uid.isKeyed else {
            throw MultipeerError(.invalidArgument, "the id of \(peer) is random: it proves nothing")
        }
        guard let key = sockets.link(to: peer.uid)?.channel?.peerFingerprint else {
            throw MultipeerError(.notConnected, "\(peer) is not connected")
        }
        noteVerified(peer.uid, key, by: .id)
        try await rememberVerified(peer.uid, by: .id)
    }

    /// Both users have compared the code of this link: the holder of the peer's key is that peer.
    func codeConfirmed(_ id: ConnectionID, _ peer: PeerID) {
        guard let key = sockets.connections[id]?.channel?.peerFingerprint else { return }
        noteVerified(peer.uid, key, by: .code)
    }

    func deriveVerificationKey(_ id: ConnectionID) {
        do throws(SecurityFault) {
            guard let key = try sockets.connections[id]?.verificationKey() else {
                throw .internal("the connection is closed")
            }
            var nonce = randomness.bytes(32)
            engine.verificationKey(id, key: key, nonce: SecureBytes(erasing: &nonce), at: loop.now)
        } catch {
            engine.verificationFailed(id, error, at: loop.now)
        }
    }
}
