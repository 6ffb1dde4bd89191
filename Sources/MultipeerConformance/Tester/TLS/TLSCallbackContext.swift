import CLibSSL

/// Which name a server answers and which certificates an end trusts, for C callbacks.
@safe
final class TLSCallbackContext {
    let word: String
    let needsProtocol: Bool
    private let checksDates: Bool
    private let verify: (([[UInt8]]) -> Bool)?
    private let name: UnsafeMutableBufferPointer<UInt8>?

    init(_ setup: TLSEnd.Setup) {
        word = setup.protocols.first ?? ""
        needsProtocol = setup.needsProtocol
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
