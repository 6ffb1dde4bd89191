import CLibSSL
import MultipeerSecurity

/// A DTLS end that does not follow the profile: made of raw OpenSSL, with the right key.
@safe
struct ForeignDatagramEnd: ~Copyable {
    struct ProfileDeviations: Sendable, CustomStringConvertible {
        var name: String
        var isServer = false
        var version = DTLS1_2_VERSION
        var suites = "ECDHE-PSK-CHACHA20-POLY1305"
        var extendsSecret = true
        var identity = "mpc/1"
        /// A DER certificate and its key in PEM.
        var certificate: [UInt8] = []
        var keyPEM: [UInt8] = []

        var description: String { name }

        func serving() -> ProfileDeviations {
            var deviations = self
            deviations.isServer = true
            return deviations
        }
    }

    private static let key = DatagramPair.key
    private let context: OpaquePointer?
    private let ssl: OpaquePointer?
    private(set) var isEstablished = false
    private(set) var received: [[UInt8]] = []

    init(_ deviations: ProfileDeviations) {
        unsafe context = SSL_CTX_new(DTLS_method())
        // The library's default forbids what some of these deviations need.
        unsafe SSL_CTX_set_security_level(context, 0)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(deviations.version), nil)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(deviations.version), nil)
        unsafe SSL_CTX_set_cipher_list(context, deviations.suites)
        // SSL_OP_NO_EXTENDED_MASTER_SECRET, a macro that Swift cannot see.
        if !deviations.extendsSecret { unsafe SSL_CTX_set_options(context, 1) }
        unsafe SSL_CTX_set_psk_server_callback(context) { _, _, room, _ in
            for (index, byte) in ForeignDatagramEnd.key.enumerated() { unsafe room?[index] = byte }
            return CUnsignedInt(ForeignDatagramEnd.key.count)
        }
        unsafe Self.name(deviations.identity, in: context)
        unsafe Self.show(deviations, in: context)
        unsafe ssl = SSL_new(context)
        unsafe SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        unsafe SSL_ctrl(ssl, DTLS_CTRL_SET_LINK_MTU, 1_191, nil)
        if deviations.isServer { unsafe SSL_set_accept_state(ssl) } else { unsafe SSL_set_connect_state(ssl) }
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe SSL_CTX_free(context)
    }

    /// A C callback captures nothing, so there is one for each name.
    private static func name(_ identity: String, in context: OpaquePointer?) {
        if identity == "mpc/1" {
            unsafe SSL_CTX_set_psk_client_callback(context) { _, _, name, _, room, _ in
                unsafe ForeignDatagramEnd.answer("mpc/1", name, room)
            }
        } else {
            unsafe SSL_CTX_set_psk_client_callback(context) { _, _, name, _, room, _ in
                unsafe ForeignDatagramEnd.answer("mpc/2", name, room)
            }
        }
    }

    private static func answer(
        _ identity: String, _ name: UnsafeMutablePointer<CChar>?, _ room: UnsafeMutablePointer<UInt8>?
    ) -> CUnsignedInt {
        for (index, byte) in (Array(identity.utf8) + [0]).enumerated() {
            unsafe name?[index] = CChar(bitPattern: byte)
        }
        for (index, byte) in key.enumerated() { unsafe room?[index] = byte }
        return CUnsignedInt(key.count)
    }

    private static func show(_ deviations: ProfileDeviations, in context: OpaquePointer?) {
        guard !deviations.certificate.isEmpty else { return }
        unsafe SSL_CTX_use_certificate_ASN1(
            context, CInt(deviations.certificate.count), deviations.certificate)
        unsafe deviations.keyPEM.withUnsafeBytes { pem in
            let bio = unsafe BIO_new_mem_buf(pem.baseAddress, CInt(pem.count))
            let key = unsafe PEM_read_bio_PrivateKey(bio, nil, nil, nil)
            unsafe SSL_CTX_use_PrivateKey(context, key)
            unsafe EVP_PKEY_free(key)
            unsafe BIO_free_all(bio)
        }
    }
}

extension ForeignDatagramEnd {
    /// Takes a datagram and continues; returns what it sends, in one datagram.
    mutating func step(_ datagram: [UInt8] = []) -> [UInt8] {
        if !datagram.isEmpty { unsafe BIO_write(SSL_get_rbio(ssl), datagram, CInt(datagram.count)) }
        ERR_clear_error()
        if !isEstablished { isEstablished = unsafe SSL_do_handshake(ssl) == 1 }
        if isEstablished {
            var content = [UInt8](repeating: 0, count: 2_000)
            while true {
                let count = unsafe SSL_read(ssl, &content, CInt(content.count))
                guard count > 0 else { break }
                received.append(Array(content.prefix(Int(count))))
            }
        }
        ERR_clear_error()
        return output()
    }

    mutating func write(_ content: [UInt8]) -> [UInt8] {
        unsafe SSL_write(ssl, content, CInt(content.count))
        return output()
    }

    /// Asks for another handshake inside the association.
    mutating func renegotiate() -> [UInt8] {
        unsafe SSL_renegotiate(ssl)
        unsafe SSL_do_handshake(ssl)
        ERR_clear_error()
        return output()
    }

    mutating func sayGoodbye() -> [UInt8] {
        unsafe SSL_shutdown(ssl)
        return output()
    }

    private func output() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 10_000)
        let count = unsafe BIO_read(SSL_get_wbio(ssl), &bytes, CInt(bytes.count))
        return count > 0 ? Array(bytes.prefix(Int(count))) : []
    }

    /// Exchanges data with one of our ends until neither sends anything.
    mutating func meet(_ end: inout DatagramEnd) {
        end.step()
        var toUs = step()
        for _ in 0..<10 {
            if !toUs.isEmpty { end.receive(toUs) }
            let datagrams = end.takeDatagrams()
            if datagrams.isEmpty && toUs.isEmpty { return }
            toUs = []
            for datagram in datagrams { toUs += step(datagram) }
        }
    }
}
