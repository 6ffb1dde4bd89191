import CLibSSL

/// The private key of an identity and its certificates, as OpenSSL holds them, so that none is decoded again for each use.
///
/// OpenSSL erases the key when the last reference to it is released. [secret.erase]
@safe
final class IdentityObjects: Sendable {
    // Set in init, and from then on only passed to functions of OpenSSL that count references to them or read them, which it
    // allows from any thread.
    nonisolated(unsafe) let key: OpaquePointer
    nonisolated(unsafe) let leaf: OpaquePointer
    /// The other certificates of the chain; nil when there are none.
    private nonisolated(unsafe) let issuers: OpaquePointer?
    /// Whether a signature of the key was verified with the leaf when the identity was made.
    let isProven: Bool

    /// Shares the ownership of the key and of the leaf. Returns nil when a certificate cannot be read.
    init?(
        _ key: borrowing OwnedPointer, _ leaf: borrowing OwnedPointer, issuers: ArraySlice<Certificate>,
        isProven: Bool
    ) {
        var list: OpaquePointer?
        if !issuers.isEmpty {
            guard let stack = CertificateStack.of(issuers) else { return nil }
            unsafe list = stack.take()
        }
        _ = unsafe EVP_PKEY_up_ref(key.pointer)
        _ = unsafe X509_up_ref(leaf.pointer)
        unsafe self.key = key.pointer
        unsafe self.leaf = leaf.pointer
        unsafe self.issuers = list
        self.isProven = isProven
    }

    deinit {
        unsafe EVP_PKEY_free(key)
        unsafe X509_free(leaf)
        if let issuers = unsafe issuers { unsafe CertificateStack.free(issuers) }
    }

    /// The key, with a reference of its own.
    var sharedKey: OwnedPointer {
        _ = unsafe EVP_PKEY_up_ref(key)
        return unsafe OwnedPointer(counted: key, EVP_PKEY_free)
    }

    /// Makes a connection present the identity. Returns false when TLS cannot use the key.
    func present(on ssl: OpaquePointer) -> Bool {
        unsafe SSL_use_cert_and_key(ssl, leaf, key, issuers, 1) == 1
    }

    /// Encodes the identity as an archive of PKCS#12; nil when OpenSSL cannot.
    func archive(passphrase: String, rounds: CInt) -> OwnedPointer? {
        let made = unsafe PKCS12_create(passphrase, nil, key, leaf, issuers, 0, 0, rounds, rounds, 0)
        return unsafe OwnedPointer(made, PKCS12_free)
    }
}
