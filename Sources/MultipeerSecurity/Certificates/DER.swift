import CLibSSL

/// The convention of every i2d function: called with null it returns the size; otherwise it writes and
/// advances the pointer.
enum DER {
    typealias Encoder = (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt

    /// Returns nil when OpenSSL cannot encode the object.
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

    static func certificate(_ der: [UInt8]) -> OwnedPointer? {
        unsafe decode(der, X509_free) { unsafe d2i_X509(nil, $0, $1) }
    }

    /// Decodes one object that fills all of `der`; trailing bytes are a fault.
    static func decode(
        _ der: [UInt8], _ free: @escaping (OpaquePointer?) -> Void,
        _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) -> OpaquePointer?
    ) -> OwnedPointer? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let span = der.span
        return unsafe span.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            let object = unsafe OwnedPointer(decode(&position, buffer.count), free)
            let end = unsafe buffer.baseAddress?.advanced(by: buffer.count)
            return unsafe position == end ? object : nil
        }
    }
}
