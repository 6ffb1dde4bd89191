package import MultipeerSecurity

/// What CONFIRM proves: that its sender holds both tokens and has seen both HELLOs, on this connection. Spec 6.3.
package enum LinkConfirmation {
    /// Returns `K = HMAC("MPC/1 link", token_i ‖ token_r)`, which only a holder of both tokens can compute.
    package static func key(initiator: [UInt8], responder: [UInt8]) -> SecureBytes {
        SecureBytes(HMAC.sha256(key: Array("MPC/1 link".utf8), initiator + responder))
    }

    /// Returns `th = SHA-256(HELLO_i ‖ HELLO_r)`, of the whole frames.
    package static func transcript(initiator: [UInt8], responder: [UInt8]) -> [UInt8] {
        SHA256.hash(initiator + responder)
    }

    /// Returns `HMAC(K, role ‖ th ‖ binding)`.
    package static func mac(
        of sender: Handshake.Role, key: SecureBytes, transcript: [UInt8], binding: [UInt8]
    ) -> [UInt8] {
        HMAC.sha256(key: key, [sender.rawValue] + transcript + binding)  // [confirm.role] [confirm.binding]
    }
}
