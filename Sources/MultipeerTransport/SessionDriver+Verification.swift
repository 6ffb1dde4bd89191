package import MultipeerCore
package import MultipeerEngine
import MultipeerIntroduction
import MultipeerSecurity

// MARK: the verification code

extension SessionDriver {
    /// The code of the link to a peer, once both ends have it: the other side does its part when its application asks.
    package func verificationCode(
        for uid: UID, within patience: Duration = VerificationCode.patience
    ) async throws(VerificationFault) -> String {
        guard !Task.isCancelled else { throw .cancelled }
        lastCodeRequest += 1
        let (request, promise) = (lastCodeRequest, Promise<Result<String, VerificationFault>>())
        codeRequests[request] = promise
        defer {
            codeRequests[request] = nil
            engine.cancelCodeRequest(request)
        }
        try engine.requestCode(of: uid, request, within: patience, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
        return try await promise.value(onCancel: { promise.send(.failure(.cancelled)) }).get()
    }

    func verified(_ requests: [UInt64], _ outcome: Result<String, VerificationFault>) {
        for request in requests { codeRequests[request]?.send(outcome) }
    }

    func deriveVerificationKey(_ id: ConnectionID) {
        do throws(SecurityFault) {
            guard
                var key = try wires[id]?.channel?.exportKey(
                    label: "EXPORTER-mpc1-sas", context: [], count: 32)
            else { throw .internal("the connection is closed") }
            var nonce = randomness.bytes(32)
            engine.verificationKey(
                id, key: SecureBytes(erasing: &key), nonce: SecureBytes(erasing: &nonce), at: loop.now)
        } catch {
            engine.verificationFailed(id, error, at: loop.now)
        }
    }
}
