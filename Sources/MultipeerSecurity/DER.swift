import CLibSSL

/// The way of every i2d function: asked with null it tells the size, then it writes and advances the pointer.
enum DER {
    typealias Encoder = (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt

    /// Answers nil when OpenSSL cannot encode the object.
    static func encode(_ encode: Encoder) -> [UInt8]? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let size = encode(nil)
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe encode(&position)
        }
        return written == size ? bytes : nil
    }

    static func certificate(_ der: [UInt8]) -> Owned? {
        unsafe decode(der, X509_free) { unsafe d2i_X509(nil, $0, $1) }
    }

    static func privateKey(_ key: SecureBytes) -> Owned? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        return key.withBytes { bytes -> Owned? in
            unsafe bytes.withUnsafeBufferPointer { buffer -> Owned? in
                var position = buffer.baseAddress
                return unsafe Owned(d2i_AutoPrivateKey(nil, &position, buffer.count), EVP_PKEY_free)
            }
        }
    }

    /// Decodes one object that fills all of `der`; anything behind it is a fault.
    static func decode(
        _ der: [UInt8], _ free: @escaping (OpaquePointer?) -> Void,
        _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) -> OpaquePointer?
    ) -> Owned? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let span = der.span
        return unsafe span.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            let object = unsafe Owned(decode(&position, buffer.count), free)
            let end = unsafe buffer.baseAddress?.advanced(by: buffer.count)
            return unsafe position == end ? object : nil
        }
    }
}
