package import MultipeerCore

/// The shared TLS context of one end's connections for invitations, with a certificate of its own, and no pinning. Spec 12.
///
/// A separate type, so that a channel that accepts any certificate can carry nothing but `mpc-invite/1`, and no
/// session's context can create one.
package final class InvitationTLS: Sendable {
    static let applicationProtocol = "mpc-invite/1"

    private let context: TLSContext

    /// Generates a certificate for this object alone, of the key that a keyed `uid` demands, otherwise of a new one.
    /// [key.ephemeral]
    ///
    /// Throws `SecurityFault.local(.foreignIdentity)` when `uid` is keyed, and not of `identity`.
    package init(
        for uid: UID? = nil, with identity: Identity? = nil, keyLog: KeyLog? = nil
    ) throws(SecurityFault) {
        let own: Identity
        if let uid, uid.isKeyed {
            try Identity.check(identity, for: uid)
            guard let identity else { throw .local(.foreignIdentity) }
            own = try identity.withoutChain()
        } else {
            own = try .generated()
        }
        context = try TLSContext(
            identity: own, applicationProtocol: Self.applicationProtocol, keyLog: keyLog)
    }

    /// Creates a TLS 1.3 channel: a certificate is required, and any is accepted, unless `uid`, the peer that is dialled, is
    /// keyed. [invite.tls] [uid.proof]
    package func channel(
        _ role: SecureChannel.Role, to uid: UID? = nil
    ) throws(SecurityFault) -> SecureChannel {
        try SecureChannel.invitation(context, role: role, to: uid)
    }
}
