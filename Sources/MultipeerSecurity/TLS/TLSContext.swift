import CLibSSL
import Synchronization

/// What all TLS connections of one session share: the identity and the profile of Spec 5.3. What the profile leaves
/// unencrypted is listed in Spec 19. [privacy.clear]
///
/// A peer that is not expected is refused inside the handshake: the verify callback compares the leaf's fingerprint,
/// which replaces chain building and the check of dates.
package final class TLSContext: Sendable {
    let rules: TLSVerifier
    private let profile: TLSProfile
    private let identity: IdentityObjects
    /// The address of a connection that was made in advance, 0 once it was taken. The context owns it until then.
    private let prepared: Atomic<UInt>

    /// - Parameters:
    ///   - identity: what this side presents.
    ///   - applicationProtocol: the one ALPN name that both ends must offer.
    ///   - keyLog: where the secrets are logged; nil, as it should be, for nowhere.
    /// - Throws: ``SecurityFault`` when OpenSSL does not accept the key.
    package init(
        identity: Identity, applicationProtocol: String = "mpc/1", keyLog: KeyLog? = nil
    ) throws(SecurityFault) {
        let rules = TLSVerifier(applicationProtocol: Array(applicationProtocol.utf8))
        let profile = if let keyLog { try TLSProfile(keyLog) } else { try TLSProfile.shared.get() }
        // The first connection that presents the identity shows whether OpenSSL accepts it. It is kept: a peer that connects
        // does not wait until one is made.
        let first = unsafe try Self.makeConnection(profile, rules, identity.objects)
        prepared = Atomic(UInt(bitPattern: first))
        self.rules = rules
        self.profile = profile
        self.identity = identity.objects
    }

    deinit { unsafe SSL_free(takePrepared()) }

    private func takePrepared() -> OpaquePointer? {
        unsafe OpaquePointer(bitPattern: prepared.exchange(0, ordering: .acquiringAndReleasing))
    }

    /// Creates a connection, which the caller owns and has to free before it releases this context.
    func makeConnection() throws(SecurityFault) -> OpaquePointer {
        if let prepared = unsafe takePrepared() { return unsafe prepared }
        return unsafe try Self.makeConnection(profile, rules, identity)
    }

    private static func makeConnection(
        _ profile: TLSProfile, _ rules: TLSVerifier, _ identity: IdentityObjects
    ) throws(SecurityFault) -> OpaquePointer {
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
