import CLibSSL
import MultipeerSecurity

/// A TLS end that does not follow the profile: made of raw OpenSSL, accepting every peer.
@safe
struct ForeignEnd: ~Copyable {
    struct ProfileDeviations {
        var isServer = false
        var version = TLS1_3_VERSION
        var protocols: [String] = ["mpc/1"]
        /// DER certificates, the leaf first, and the key in PEM. Empty: none is shown.
        var chain: [[UInt8]] = []
        var keyPEM: [UInt8] = []
        /// Whether it selects the first name that a client offers, as a server.
        var selectsFirst = false
        /// Session tickets that it hands out as a server.
        var tickets = 0
        /// Whether it permits keys of any strength.
        var isInsecure = false
    }

    private let context: OpaquePointer?
    private let ssl: OpaquePointer?
    private(set) var isEstablished = false
    /// The number of the alert that ended it, if one did.
    private(set) var alert: UInt8?

    init(_ deviations: ProfileDeviations) {
        unsafe context = SSL_CTX_new(TLS_method())
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(deviations.version), nil)
        if deviations.isInsecure { unsafe SSL_CTX_set_security_level(context, 0) }
        _ = unsafe SSL_CTX_set_num_tickets(context, deviations.tickets)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        unsafe SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
        let offer = deviations.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !offer.isEmpty { unsafe SSL_CTX_set_alpn_protos(context, offer, CUnsignedInt(offer.count)) }
        if deviations.selectsFirst {
            unsafe SSL_CTX_set_alpn_select_cb(context, Self.selectFirst, nil)
        }
        unsafe Self.show(deviations, in: context)
        unsafe ssl = SSL_new(context)
        unsafe SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        if deviations.isServer { unsafe SSL_set_accept_state(ssl) } else { unsafe SSL_set_connect_state(ssl) }
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe SSL_CTX_free(context)
    }

    private static func show(_ deviations: ProfileDeviations, in context: OpaquePointer?) {
        guard !deviations.chain.isEmpty else { return }
        for (index, der) in deviations.chain.enumerated() {
            unsafe der.withUnsafeBufferPointer { buffer in
                var position = buffer.baseAddress
                let certificate = unsafe d2i_X509(nil, &position, buffer.count)
                if index == 0 {
                    unsafe SSL_CTX_use_certificate(context, certificate)
                    unsafe X509_free(certificate)
                } else {
                    let pointer = unsafe UnsafeMutableRawPointer(certificate)
                    unsafe SSL_CTX_ctrl(context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, pointer)
                }
            }
        }
        unsafe deviations.keyPEM.withUnsafeBytes { pem in
            let bio = unsafe BIO_new_mem_buf(pem.baseAddress, CInt(pem.count))
            let key = unsafe PEM_read_bio_PrivateKey(bio, nil, nil, nil)
            unsafe SSL_CTX_use_PrivateKey(context, key)
            unsafe EVP_PKEY_free(key)
            unsafe BIO_free_all(bio)
        }
    }

    private static let selectFirst:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, CUnsignedInt, UnsafeMutableRawPointer?
        ) -> CInt = { _, chosen, count, offered, _, _ in
            unsafe chosen?.pointee = unsafe offered?.advanced(by: 1)
            unsafe count?.pointee = unsafe offered?.pointee ?? 0
            return SSL_TLSEXT_ERR_OK
        }

    /// Whether the other side has shown a certificate.
    var hasSeenCertificate: Bool { unsafe SSL_get0_peer_certificate(ssl) != nil }

    /// Changes its keys, and asks the other side to change its own.
    mutating func updateKeys() -> [UInt8] {
        _ = unsafe SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED)
        _ = unsafe SSL_do_handshake(ssl)
        return takeOutput()
    }

    /// Takes bytes and continues; returns what it sends.
    mutating func step(_ bytes: [UInt8]) -> [UInt8] {
        if !bytes.isEmpty { unsafe BIO_write(SSL_get_rbio(ssl), bytes, CInt(bytes.count)) }
        ERR_clear_error()
        if !isEstablished { isEstablished = unsafe SSL_do_handshake(ssl) == 1 }
        if isEstablished {
            var byte: UInt8 = 0
            unsafe SSL_read(ssl, &byte, 1)
        }
        let reason = multipeer_err_reason(ERR_get_error())
        if reason >= SSL_AD_REASON_OFFSET { alert = alert ?? UInt8(exactly: reason - SSL_AD_REASON_OFFSET) }
        return takeOutput()
    }

    /// Encrypts any bytes, valid for the other side or not.
    mutating func write(_ bytes: [UInt8]) -> [UInt8] {
        unsafe SSL_write(ssl, bytes, CInt(bytes.count))
        return takeOutput()
    }

    private func takeOutput() -> [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe multipeer_bio_contents(SSL_get_wbio(ssl), &start)
        let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
        _ = unsafe multipeer_bio_skip(SSL_get_wbio(ssl), count)
        return bytes
    }

    /// Exchanges data with one of our channels; returns how our side ended.
    mutating func meet(_ channel: inout SecureChannel) -> SecurityFault? {
        var fault: SecurityFault?
        for _ in 0..<10 {
            do throws(SecurityFault) { if try channel.handshake() { _ = try channel.readAll() } } catch {
                fault = fault ?? error
            }
            let answer = step(channel.takeOutput())
            do throws(SecurityFault) { try channel.receive(answer.span) } catch { fault = fault ?? error }
        }
        return fault
    }
}
