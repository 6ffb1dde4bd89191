import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerPlatform
import MultipeerSecurity

// What the TLS of a connection proves.
extension SocketConnection {
    /// Returns the result of a completed handshake for the engine.
    func secured() throws(SecurityFault) -> SecuredChannel {
        guard channel?.isEncrypted == true else { return .plain }
        guard let fingerprint = channel?.peerFingerprint,
            let binding = try channel?.exportKey(label: "EXPORTER-mpc1-binding", context: [], count: 32)
        else { throw .internal("an encrypted channel shows no certificate") }
        return .encrypted(fingerprint, keyedUID: channel?.keyedUID, binding: binding)
    }

    /// Returns the evidence by which to judge the peer. `known`: what is remembered of it; `origin`: where its key
    /// came from.
    func evidence(
        of peer: PeerID, showsIdentity: Bool, from origin: PeerVerification.Origin,
        known: TrustEvidence.Known
    ) -> TrustEvidence {
        TrustEvidence(
            peer: peer.uid, name: peer.displayName, chain: showsIdentity ? channel?.peerChain ?? [] : [],
            fingerprint: channel?.peerFingerprint, origin: origin, known: known, now: Int64(time(nil)))
    }

    /// Returns what the exchange of a code needs of an invitation's connection.
    func codeSecrets() throws(SecurityFault) -> CodeSecrets {
        guard
            let binding = try channel?.exportKey(
                label: CodeSecrets.exporterLabel, context: [], count: CodeSecrets.bindingByteCount)
        else { throw .internal("a connection without a channel") }
        var randomness = SystemRandomness()
        var scalar = randomness.bytes(CodeSecrets.scalarByteCount)
        return CodeSecrets(scalar: SecureBytes(erasing: &scalar), binding: binding)
    }

    /// Returns the key of the link's verification code; nil when the connection is closed.
    func verificationKey() throws(SecurityFault) -> SecureBytes? {
        var key = try channel?.exportKey(label: "EXPORTER-mpc1-sas", context: [], count: 32) ?? []
        return key.isEmpty ? nil : SecureBytes(erasing: &key)
    }
}
