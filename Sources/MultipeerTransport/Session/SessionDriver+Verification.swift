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
