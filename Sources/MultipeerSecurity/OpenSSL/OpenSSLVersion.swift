import CLibSSL

/// Which OpenSSL does the cryptography.
package enum OpenSSLVersion {
    /// Of the library that is loaded, for people, as `OpenSSL 3.0.15 3 Sep 2024`.
    package static var text: String {
        guard let text = unsafe OpenSSL_version(OPENSSL_VERSION) else { return "of unknown version" }
        return unsafe String(cString: text)
    }
}
