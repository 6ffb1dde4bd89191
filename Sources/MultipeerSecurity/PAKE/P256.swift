import CLibSSL

/// The arithmetic on the curve P-256 that SPAKE2 needs, over libcrypto.
///
/// Each product of a secret number is computed alone, so that libcrypto uses its constant-time multiplication; secret
/// numbers carry the flag that requests the same of divisions.
@safe
struct P256: ~Copyable {
    /// The length of an uncompressed point.
    static let pointByteCount = 65
    static let scalarByteCount = 32

    private let group: OwnedPointer
    private let scratch: OwnedPointer

    init() throws(SecurityFault) {
        OpenSSLErrors.clear()
        guard
            let group = unsafe OwnedPointer(
                EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), EC_GROUP_free),
            let scratch = unsafe OwnedPointer(BN_CTX_secure_new(), BN_CTX_free)
        else { throw P256.failure }
        self.group = group
        self.scratch = scratch
    }

    private static var failure: SecurityFault {
        .internal("cannot compute on P-256: \(OpenSSLErrors.drain().text)")
    }

    // MARK: Numbers

    /// Returns the big-endian number modulo the order of the group, in 32 bytes; nil when that is 0.
    func reduced(_ bytes: SecureBytes) throws(SecurityFault) -> SecureBytes? {
        OpenSSLErrors.clear()
        let number = try secret(bytes)
        guard let rest = unsafe OwnedPointer(BN_secure_new(), BN_clear_free) else { throw P256.failure }
        unsafe BN_set_flags(rest.pointer, BN_FLG_CONSTTIME)
        let order = unsafe EC_GROUP_get0_order(group.pointer)
        guard unsafe BN_div(nil, rest.pointer, number.pointer, order, scratch.pointer) == 1 else {
            throw P256.failure
        }
        if unsafe BN_is_zero(rest.pointer) == 1 { return nil }
        var padded = [UInt8](repeating: 0, count: P256.scalarByteCount)
        guard unsafe BN_bn2binpad(rest.pointer, &padded, CInt(padded.count)) == padded.count else {
            throw P256.failure
        }
        return SecureBytes(erasing: &padded)
    }

    private func secret(_ bytes: SecureBytes) throws(SecurityFault) -> OwnedPointer {
        let read = bytes.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { buffer -> OwnedPointer? in
                let number = unsafe BN_secure_new()
                guard unsafe BN_bin2bn(buffer.baseAddress, CInt(buffer.count), number) != nil else {
                    unsafe BN_clear_free(number)
                    return nil
                }
                return unsafe OwnedPointer(number, BN_clear_free)
            }
        }
        guard let number = read else { throw P256.failure }
        unsafe BN_set_flags(number.pointer, BN_FLG_CONSTTIME)
        return number
    }

    // MARK: Points

    /// Returns `scalar · G + factor · mask`.
    func masked(
        _ scalar: SecureBytes, by factor: SecureBytes, _ mask: [UInt8]
    ) throws(SecurityFault) -> [UInt8] {
        OpenSSLErrors.clear()
        let sum = try newPoint()
        let product = try multiplied(mask, by: factor)
        let number = try secret(scalar)
        guard unsafe EC_POINT_mul(group.pointer, sum.pointer, number.pointer, nil, nil, scratch.pointer) == 1,
            unsafe EC_POINT_add(group.pointer, sum.pointer, sum.pointer, product.pointer, scratch.pointer)
                == 1
        else { throw P256.failure }
        return try encoded(sum)
    }

    /// Returns `scalar · (share - factor · mask)`. Throws the peer's violation unless `share` is a point of the curve.
    ///
    /// A share that is `factor · mask` leads to infinity. To refuse it would tell the peer, before it has confirmed anything, that
    /// it has guessed the factor. So the peer gets a result that it cannot compute, `scalar² · G`, which takes the same time.
    func unmasked(
        _ share: [UInt8], by scalar: SecureBytes, _ factor: SecureBytes, _ mask: [UInt8]
    ) throws(SecurityFault) -> SecureBytes {
        OpenSSLErrors.clear()
        guard share.count == P256.pointByteCount, share.first == 4, let theirs = try decoded(share) else {
            throw .peer(.invalidPoint)
        }
        let product = try multiplied(mask, by: factor)
        let number = try secret(scalar)
        let shared = try newPoint()
        guard unsafe EC_POINT_invert(group.pointer, product.pointer, scratch.pointer) == 1,
            unsafe EC_POINT_add(
                group.pointer, theirs.pointer, theirs.pointer, product.pointer, scratch.pointer) == 1
        else { throw P256.failure }
        let own = try newPoint()
        guard unsafe EC_POINT_mul(group.pointer, own.pointer, number.pointer, nil, nil, scratch.pointer) == 1
        else { throw P256.failure }
        // [code.point]
        let isNothing = unsafe EC_POINT_is_at_infinity(group.pointer, theirs.pointer) == 1
        let base = unsafe isNothing ? own.pointer : theirs.pointer
        guard
            unsafe EC_POINT_mul(group.pointer, shared.pointer, nil, base, number.pointer, scratch.pointer)
                == 1
        else { throw P256.failure }
        var bytes = try encoded(shared)
        return SecureBytes(erasing: &bytes)
    }

    private func multiplied(_ point: [UInt8], by factor: SecureBytes) throws(SecurityFault) -> OwnedPointer {
        guard let point = try decoded(point) else { throw P256.failure }
        let number = try secret(factor)
        let product = try newPoint()
        guard
            unsafe EC_POINT_mul(
                group.pointer, product.pointer, nil, point.pointer, number.pointer, scratch.pointer) == 1
        else { throw P256.failure }
        return product
    }

    /// Returns nil for bytes that are not a point of the curve, or are the point at infinity.
    private func decoded(_ bytes: [UInt8]) throws(SecurityFault) -> OwnedPointer? {
        let point = try newPoint()
        let isRead =
            unsafe EC_POINT_oct2point(
                group.pointer, point.pointer, bytes, bytes.count, scratch.pointer) == 1
        guard isRead, unsafe EC_POINT_is_at_infinity(group.pointer, point.pointer) == 0,
            unsafe EC_POINT_is_on_curve(group.pointer, point.pointer, scratch.pointer) == 1
        else {
            OpenSSLErrors.clear()
            return nil
        }
        return point
    }

    private func encoded(_ point: borrowing OwnedPointer) throws(SecurityFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: P256.pointByteCount)
        let count = unsafe EC_POINT_point2oct(
            group.pointer, point.pointer, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, scratch.pointer)
        guard count == bytes.count else { throw P256.failure }
        return bytes
    }

    private func newPoint() throws(SecurityFault) -> OwnedPointer {
        guard let point = unsafe OwnedPointer(EC_POINT_new(group.pointer), EC_POINT_clear_free) else {
            throw P256.failure
        }
        return point
    }
}
