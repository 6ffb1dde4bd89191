import CLibSSL

/// Which name a server answers and which certificates an end trusts, for C callbacks.
@safe
final class TLSCallbackContext {
    let word: String
    let needsProtocol: Bool
    private let needsStrongKeys: Bool
    private let checksDates: Bool
    private let verify: (([[UInt8]]) -> Bool)?
    private let name: UnsafeMutableBufferPointer<UInt8>?
    /// How many of these messages were received.
    var keyUpdates = 0
    var tickets = 0

    init(_ setup: TLSEnd.Setup) {
        word = setup.protocols.first ?? ""
        needsProtocol = setup.needsProtocol
        needsStrongKeys = setup.needsStrongKeys
        checksDates = setup.checksDates
        verify = setup.verify
        unsafe name = setup.protocols.first.map { name in
            let bytes = Array(name.utf8)
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            _ = unsafe copy.initialize(from: bytes)
            return unsafe copy
        }
    }

    deinit { unsafe name?.deallocate() }

    static let select:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, CUnsignedInt, UnsafeMutableRawPointer?
        ) -> CInt = { _, chosen, count, offer, size, place in
            guard let place = unsafe place else { return SSL_TLSEXT_ERR_NOACK }
            let choice = unsafe Unmanaged<TLSCallbackContext>.fromOpaque(place).takeUnretainedValue()
            guard let name = unsafe choice.name else { return SSL_TLSEXT_ERR_NOACK }
            let offered = unsafe Array(UnsafeBufferPointer(start: offer, count: Int(size)))
            if choice.needsProtocol, !names(offered).contains(choice.word) {
                return SSL_TLSEXT_ERR_ALERT_FATAL
            }
            unsafe chosen?.pointee = UnsafePointer(name.baseAddress)
            unsafe count?.pointee = UInt8(name.count)
            return SSL_TLSEXT_ERR_OK
        }

    /// Refuses a client that does not offer the name alone.
    static let judgeOffer: SSL_client_hello_cb_fn = { ssl, alert, place in
        var data: UnsafePointer<UInt8>?
        var count = 0
        guard let place = unsafe place, unsafe SSL_client_hello_get0_ext(ssl, 16, &data, &count) == 1,
            count > 2
        else { return SSL_CLIENT_HELLO_ERROR }
        let choice = unsafe Unmanaged<TLSCallbackContext>.fromOpaque(place).takeUnretainedValue()
        let list = unsafe Array(UnsafeBufferPointer(start: data, count: count).dropFirst(2))
        return names(list) == [choice.word] ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR
    }

    /// Counts the messages that come after the handshake: 24 is KeyUpdate, 4 is NewSessionTicket.
    static let note:
        @convention(c) (
            CInt, CInt, CInt, UnsafeRawPointer?, Int, OpaquePointer?, UnsafeMutableRawPointer?
        ) -> Void = { isSent, _, contentType, bytes, count, _, place in
            guard isSent == 0, contentType == 22, count > 0, let bytes = unsafe bytes,
                let place = unsafe place
            else { return }
            let choice = unsafe Unmanaged<TLSCallbackContext>.fromOpaque(place).takeUnretainedValue()
            switch unsafe bytes.load(as: UInt8.self) {
            case 24: choice.keyUpdates += 1
            case 4: choice.tickets += 1
            default: break
            }
        }

    private static func names(_ offer: [UInt8]) -> [String] {
        var names: [String] = []
        var rest = offer[...]
        while let count = rest.popFirst(), rest.count >= Int(count) {
            names.append(String(decoding: rest.prefix(Int(count)), as: UTF8.self))
            rest.removeFirst(Int(count))
        }
        return names
    }

    static let judge: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> CInt = { store, place in
        guard let place = unsafe place, let leaf = unsafe X509_STORE_CTX_get0_cert(store) else { return 0 }
        let choice = unsafe Unmanaged<TLSCallbackContext>.fromOpaque(place).takeUnretainedValue()
        if choice.needsStrongKeys {
            guard let key = unsafe X509_get0_pubkey(leaf), unsafe EVP_PKEY_get_security_bits(key) >= 112
            else { return 0 }
        }
        if choice.checksDates {
            guard unsafe X509_cmp_current_time(X509_get0_notBefore(leaf)) < 0,
                unsafe X509_cmp_current_time(X509_get0_notAfter(leaf)) > 0
            else { return 0 }
        }
        guard let verify = choice.verify else { return 1 }
        let others = unsafe X509_STORE_CTX_get0_untrusted(store)
        var chain: [[UInt8]] = []
        for index in 0..<max(0, unsafe OPENSSL_sk_num(others)) {
            guard let one = unsafe OPENSSL_sk_value(others, index) else { continue }
            unsafe chain.append(TLSEnd.encoded(OpaquePointer(one)))
        }
        let first = unsafe TLSEnd.encoded(leaf)
        return verify(chain.first == first ? chain : [first] + chain) ? 1 : 0
    }
}
