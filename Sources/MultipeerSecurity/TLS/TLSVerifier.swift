import CLibSSL
import MultipeerCore

/// The values that the callbacks of the handshake compare with.
final class TLSVerifier: Sendable {
    /// 16 KiB of certificates, and the framing that TLS 1.3 adds to 8 of them.
    static let largestCertificateMessage = Identity.largestChain + 64

    /// Which keys the other side may have.
    enum Acceptance {
        case anyone
        /// Any key, unless the uid is keyed.
        case holder(UID)
        /// No pins accept no one.
        case only([CertificatePin])
    }

    let applicationProtocol: [UInt8]
    let accepted: Acceptance

    init(applicationProtocol: [UInt8], accepted: Acceptance = .only([])) {
        self.applicationProtocol = applicationProtocol
        self.accepted = accepted
    }

    /// The ALPN list with the one name, as sent: length, name.
    var offer: [UInt8] { [UInt8(applicationProtocol.count)] + applicationProtocol }

    func accepting(_ accepted: Acceptance) -> TLSVerifier {
        TLSVerifier(applicationProtocol: applicationProtocol, accepted: accepted)
    }

    /// Returns the verifier that is attached to a connection. The connection's owner keeps it alive.
    private static func of(_ ssl: OpaquePointer?) -> TLSVerifier? {
        guard let data = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<TLSVerifier>.fromOpaque(data).takeUnretainedValue()
    }

    func attach(to ssl: OpaquePointer) {
        _ = unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    }
}

// MARK: - Certificates

extension TLSVerifier {
    /// Verifies the peer's certificates instead of chain building. Any result but 1 ends the handshake with the
    /// alert that corresponds to the error.
    static let verify: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> CInt = { store, _ in
        let data = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
        let ssl = OpaquePointer(data)
        let verdict = unsafe TLSVerifier.of(ssl)?.judge(ssl, store) ?? X509_V_ERR_UNSPECIFIED
        unsafe X509_STORE_CTX_set_error(store, verdict)
        return verdict == X509_V_OK ? 1 : 0
    }

    /// Returns the result for the peer's chain. Dates are not checked: a pinned key is valid at any time.
    /// [tls.dates]
    private func judge(_ ssl: OpaquePointer?, _ store: OpaquePointer?) -> CInt {
        guard unsafe Self.selectedProtocol(ssl) == applicationProtocol else {  // [tls.alpn]
            return X509_V_ERR_APPLICATION_VERIFICATION
        }
        guard let leaf = unsafe X509_STORE_CTX_get0_cert(store) else { return X509_V_ERR_UNSPECIFIED }
        return unsafe judge(leaf, X509_STORE_CTX_get0_untrusted(store))
    }

    private func judge(_ leaf: OpaquePointer, _ chain: OpaquePointer?) -> CInt {
        guard unsafe Self.fits(chain) else { return X509_V_ERR_CERT_CHAIN_TOO_LONG }  // [chain.limit]
        guard let fingerprint = unsafe Self.fingerprint(leaf) else { return X509_V_ERR_UNSPECIFIED }
        guard unsafe KeyStrength.isSufficient(X509_get0_pubkey(leaf)) else {  // [tls.strength]
            return X509_V_ERR_EE_KEY_TOO_SMALL
        }
        switch accepted {
        case .anyone: return X509_V_OK  // [invite.tls]
        case .holder(let uid): return unsafe Self.verdict(leaf, [uid])
        case .only(let pins):  // [tls.pin]
            let uids = pins.filter { $0.fingerprint == fingerprint }.map(\.uid)
            return uids.isEmpty ? X509_V_ERR_CERT_UNTRUSTED : unsafe Self.verdict(leaf, uids)
        }
    }

    /// Returns whether this may be the certificate of one of the uids: any may be of a random one. [uid.proof]
    private static func verdict(_ leaf: OpaquePointer, _ uids: [UID]) -> CInt {
        let proven = unsafe UID.keyed(by: leaf)
        return uids.contains { !$0.isKeyed || $0 == proven } ? X509_V_OK : X509_V_ERR_CERT_REJECTED
    }

    static func fingerprint(_ certificate: OpaquePointer) -> Fingerprint? {
        var digest = [UInt8](repeating: 0, count: Fingerprint.byteCount)
        guard unsafe X509_digest(certificate, EVP_sha256(), &digest, nil) == 1 else { return nil }
        return Fingerprint(digest)
    }

    private static func fits(_ chain: OpaquePointer?) -> Bool {
        let count = unsafe OPENSSL_sk_num(chain)
        guard count >= 1, count <= Identity.longestChain else { return false }
        let size = (0..<count).reduce(0) { size, index in
            unsafe size + Int(max(i2d_X509(OpaquePointer(OPENSSL_sk_value(chain, index)), nil), 0))
        }
        return size <= Identity.largestChain
    }
}

/// The result of a handshake for the certificates that the other side presents.
package enum ChainVerdict: Equatable, Sendable {
    case accepted
    /// No certificates, more than 8, or more than 16 KiB.
    case chainRefused
    /// The leaf is not the pinned certificate.
    case notPinned
    /// The leaf's key is too weak.
    case keyTooWeak
    /// The leaf is pinned, and its key does not hash to the keyed uid of the peer.
    case foreignKey

    /// Returns the verdict on a chain, the leaf first, by the code that is used in a handshake.
    package static func on(_ chain: [Certificate], accepting pins: [CertificatePin]) -> ChainVerdict {
        let rules = TLSVerifier(applicationProtocol: []).accepting(.only(pins))
        return switch rules.judge(chain) {
        case X509_V_OK: .accepted
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: .chainRefused
        case X509_V_ERR_EE_KEY_TOO_SMALL: .keyTooWeak
        case X509_V_ERR_CERT_REJECTED: .foreignKey
        default: .notPinned
        }
    }
}

extension TLSVerifier {
    fileprivate func judge(_ chain: [Certificate]) -> CInt {
        guard let leaf = chain.first.flatMap({ DER.certificate($0.der) }),
            let stack = CertificateStack.of(chain)
        else { return X509_V_ERR_CERT_CHAIN_TOO_LONG }
        return unsafe judge(leaf.pointer, stack.pointer)
    }
}

// MARK: - Application protocol

extension TLSVerifier {
    /// Refuses a client that does not offer exactly the one name, before anything is sent but the alert: neither a
    /// scanner nor a client of another protocol receives a certificate.
    static let judgeClientHello: SSL_client_hello_cb_fn = { ssl, alert, _ in
        var data: UnsafePointer<UInt8>?
        var count = 0
        guard let rules = unsafe TLSVerifier.of(ssl),
            unsafe SSL_client_hello_get0_ext(
                ssl, CUnsignedInt(TLSEXT_TYPE_application_layer_protocol_negotiation), &data, &count) == 1,
            rules.isOffered(in: unsafe Array(UnsafeBufferPointer(start: data, count: count)))
        else {
            unsafe alert?.pointee = SSL_AD_NO_APPLICATION_PROTOCOL
            return SSL_CLIENT_HELLO_ERROR
        }
        return SSL_CLIENT_HELLO_SUCCESS
    }

    /// Returns whether the extension has the one name and no other: the length of the list, then the list.
    private func isOffered(in extensionData: [UInt8]) -> Bool {
        extensionData == [0, UInt8(offer.count)] + offer
    }

    /// Selects the one name as a server; no client that offers others comes this far.
    static let selectProtocol:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, CUnsignedInt, UnsafeMutableRawPointer?
        ) -> CInt = { ssl, chosen, chosenCount, offered, count, _ in
            guard let rules = unsafe TLSVerifier.of(ssl), let offered = unsafe offered,
                unsafe Array(UnsafeBufferPointer(start: offered, count: Int(count))) == rules.offer
            else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            unsafe chosen?.pointee = offered.advanced(by: 1)
            unsafe chosenCount?.pointee = UInt8(rules.applicationProtocol.count)
            return SSL_TLSEXT_ERR_OK
        }

    private static func selectedProtocol(_ ssl: OpaquePointer?) -> [UInt8] {
        var name: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        return unsafe Array(UnsafeBufferPointer(start: name, count: Int(count)))
    }
}
