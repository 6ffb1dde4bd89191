import CLibSSL

/// What all TLS connections of one session share: the identity and the profile of Spec 5.3. What the profile leaves
/// unencrypted is listed in Spec 19. [privacy.clear]
///
/// A peer that is not expected is refused inside the handshake: the verify callback compares the leaf's fingerprint,
/// which replaces chain building and the check of dates.
package final class TLSContext: Sendable {
    /// The ALPN name of links. [tls.alpn]
    package static let linkProtocol = "mpc/1"

    let rules: TLSVerifier
    private let profile: TLSProfile
    private let identity: IdentityObjects

    /// - Parameters:
    ///   - identity: what this side presents.
    ///   - applicationProtocol: the one ALPN name that both ends must offer.
    ///   - keyLog: where the secrets are logged; nil, as it should be, for nowhere.
    /// - Throws: ``SecurityFault`` when OpenSSL does not accept the key.
    package init(
        identity: Identity, applicationProtocol: String = TLSContext.linkProtocol, keyLog: KeyLog? = nil
    ) throws(SecurityFault) {
        rules = TLSVerifier(applicationProtocol: Array(applicationProtocol.utf8))
        if let keyLog { profile = try TLSProfile(keyLog) } else { profile = try TLSProfile.shared.get() }
        self.identity = identity.objects
        // The first connection that presents the identity shows whether OpenSSL accepts it. It does so with one that was
        // generated here, whose key has signed for its certificate.
        if !self.identity.isProven { unsafe SSL_free(try makeConnection()) }
    }

    /// Creates a connection, which the caller owns and has to free before it releases this context.
    func makeConnection() throws(SecurityFault) -> OpaquePointer {
        OpenSSLErrors.clear()
        guard let ssl = unsafe SSL_new(profile.pointer) else {
            throw .internal("no TLS connection: \(OpenSSLErrors.drain().text)")
        }
        // ALPN is the only setter here that returns 0 for success. [tls.alpn]
        guard unsafe SSL_set_alpn_protos(ssl, rules.offer, CUnsignedInt(rules.offer.count)) == 0 else {
            unsafe SSL_free(ssl)
            throw .internal("TLS cannot be configured: \(OpenSSLErrors.drain().text)")
        }
        guard unsafe identity.present(on: ssl) else {
            unsafe SSL_free(ssl)
            throw .local(.unsupportedKey(OpenSSLErrors.drain().text))
        }
        return unsafe ssl
    }
}
