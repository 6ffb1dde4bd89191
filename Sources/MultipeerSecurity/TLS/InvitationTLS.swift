/// What the TLS connections for invitations share at one end: a key of their own, made anew, and nobody pinned. Spec 12.
///
/// A type of its own, so that a channel that accepts any certificate can carry nothing but `mpc-invite/1`, and no
/// session's context can make one.
package final class InvitationTLS: Sendable {
    static let applicationProtocol = "mpc-invite/1"

    private let context: TLSContext

    /// Makes a key and a certificate for this value alone. [key.ephemeral]
    package init(keyLog: KeyLog? = nil) throws(SecurityFault) {
        context = try TLSContext(
            identity: try Identity.generate(), applicationProtocol: Self.applicationProtocol, keyLog: keyLog)
    }

    /// A TLS 1.3 channel with whoever is there: a certificate is demanded, and any will do. [invite.tls]
    package func channel(_ role: SecureChannel.Role) throws(SecurityFault) -> SecureChannel {
        try SecureChannel.invitation(context, role: role)
    }
}
