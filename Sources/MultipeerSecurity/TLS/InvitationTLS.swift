/// The shared TLS context of one end's connections for invitations: a freshly generated key of its own, and no pinning.
/// Spec 12.
///
/// A separate type, so that a channel that accepts any certificate can carry nothing but `mpc-invite/1`, and no
/// session's context can create one.
package final class InvitationTLS: Sendable {
    static let applicationProtocol = "mpc-invite/1"

    private let context: TLSContext

    /// Generates a key and a certificate for this object alone. [key.ephemeral]
    package init(keyLog: KeyLog? = nil) throws(SecurityFault) {
        context = try TLSContext(
            identity: try Identity.generated(), applicationProtocol: Self.applicationProtocol, keyLog: keyLog)
    }

    /// Creates a TLS 1.3 channel with any peer: a certificate is required, and any is accepted. [invite.tls]
    package func channel(_ role: SecureChannel.Role) throws(SecurityFault) -> SecureChannel {
        try SecureChannel.invitation(context, role: role)
    }
}
