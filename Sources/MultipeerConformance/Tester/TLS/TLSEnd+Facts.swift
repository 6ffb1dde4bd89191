import CLibSSL

/// The negotiated parameters, and the peer's certificate.
extension TLSEnd {
    /// Returns the binding of the connection. Spec 5.3.
    func binding() -> [UInt8] { exported("EXPORTER-mpc1-binding") }

    /// Returns 32 bytes of the exporter of RFC 8446, 7.5.
    func exported(_ label: String, context: [UInt8] = []) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: 32)
        _ = unsafe SSL_export_keying_material(
            ssl, &key, 32, label, label.utf8.count, context, context.count, context.isEmpty ? 0 : 1)
        return key
    }

    /// DER of the other end's leaf.
    var peerLeaf: [UInt8]? {
        guard let leaf = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
        return unsafe TLSEnd.encoded(leaf)
    }

    /// Returns the DER of a certificate.
    static func encoded(_ certificate: OpaquePointer) -> [UInt8] {
        let size = unsafe i2d_X509(certificate, nil)
        guard size > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        _ = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe i2d_X509(certificate, &position)
        }
        return bytes
    }

    /// Whether the server handed out a session ticket.
    var hasTicket: Bool {
        guard let session = unsafe SSL_get_session(ssl) else { return false }
        return unsafe SSL_SESSION_has_ticket(session) == 1
    }

    var version: CInt { unsafe SSL_version(ssl) }

    var suite: String? {
        guard let cipher = unsafe SSL_get_current_cipher(ssl),
            let name = unsafe SSL_CIPHER_standard_name(cipher)
        else { return nil }
        return unsafe String(cString: name)
    }

    var chosenProtocol: String {
        var name: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }
}
