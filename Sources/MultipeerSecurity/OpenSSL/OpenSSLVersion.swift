import CLibSSL

/// The OpenSSL version in use.
package enum OpenSSLVersion {
    /// The version of the loaded library, human-readable, such as `OpenSSL 3.0.15 3 Sep 2024`.
    package static var text: String {
        guard let text = unsafe OpenSSL_version(OPENSSL_VERSION) else { return "of unknown version" }
        return unsafe String(cString: text)
    }
}
