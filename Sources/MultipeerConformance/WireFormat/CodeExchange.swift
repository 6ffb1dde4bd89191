import CLibSSL
import MultipeerSecurity

/// A code of an invitation, as the tester and the reference peer type it. Spec 13.8.
struct SpokenCode: Hashable {
    let number: UInt16
    let phrase: String

    /// Reads `7-guitar-island`, with whole words in lower case; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1).map(String.init)
        guard parts.count == 2, let number = UInt16(parts[0]), (1...999).contains(number) else { return nil }
        self.number = number
        phrase = parts[1]
    }

    /// Reads a code as a user types it, with abbreviated words; this peer knows few words. Spec 13.9, `code.words`.
    init?(typed text: String) {
        let parts = text.lowercased().split(separator: "-").map(String.init)
        guard (3...9).contains(parts.count), let number = UInt16(parts[0]), (1...999).contains(number) else {
            return nil
        }
        var words: [String] = []
        for part in parts.dropFirst() {
            let found = SpokenCode.knownWords.filter { $0.hasPrefix(part) }
            guard let word = found.contains(part) ? part : found.first, found.count == 1 || word == part
            else {
                return nil
            }
            words.append(word)
        }
        self.number = number
        phrase = words.joined(separator: "-")
    }

    private static let knownWords = ["castle", "guitar", "island"]

    /// Returns scrypt of the words, 40 bytes: the number w before it is reduced.
    fileprivate var stretched: [UInt8] {
        var key = [UInt8](repeating: 0, count: 40)
        let salt = Array("MPC/1 code\(number)".utf8)
        _ = unsafe EVP_PBE_scrypt(
            phrase, phrase.utf8.count, salt, salt.count, 4_096, 8, 1, 16 << 20, &key, key.count)
        return key
    }
}

/// One end of SPAKE2 on one connection: RFC 9382 with P-256, SHA-256, HKDF and HMAC. Spec 13.8.
struct CodeExchange {
    /// The payload of SHARE.
    let share: [UInt8]
    /// A payload of SHARE that leads to infinity at an end with the same words.
    let mask: [UInt8]
    private let isInviter: Bool
    private let password: [UInt8]
    private let scalar: [UInt8]

    /// Starts a run. `scalar`: random bytes.
    init(_ code: SpokenCode, isInviter: Bool, scalar: [UInt8]) {
        let curve = Curve()
        self.isInviter = isInviter
        password = curve.reduced(code.stretched)
        self.scalar = curve.reduced(scalar)
        let masked = curve.times(password, isInviter ? Curve.m : Curve.n)
        let point = curve.sum(masked, curve.times(self.scalar, Curve.g))
        let number = [UInt8(code.number >> 8), UInt8(truncatingIfNeeded: code.number)]
        share = number + point
        mask = number + masked
    }

    /// The two confirmations.
    struct Confirmations {
        let own: [UInt8]
        let other: [UInt8]
    }

    /// Returns what both ends have to send; nil if the payload of the other's SHARE holds no point. `refusesInfinity`: or if it
    /// leads to infinity, which shows that its words were guessed.
    func confirmations(
        with payload: [UInt8], binding: [UInt8], refusesInfinity: Bool = false
    ) -> Confirmations? {
        let (curve, theirs) = (Curve(), Array(payload.dropFirst(2)))
        guard theirs.count == 65, theirs[0] == 4, curve.contains(theirs) else { return nil }
        let masked = curve.times(password, isInviter ? Curve.n : Curve.m)
        let rest = curve.sum(theirs, curve.negative(masked))
        guard rest.count == 65 || !refusesInfinity else { return nil }
        let shared = curve.times(scalar, rest.count == 65 ? rest : curve.times(scalar, Curve.g))
        let own = Array(share.dropFirst(2))
        let (a, b) = isInviter ? (own, theirs) : (theirs, own)
        let parts = [Array("inviter".utf8), Array("invitee".utf8), a, b, shared, password]
        let transcript = parts.flatMap { part in
            (0..<8).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) } + part
        }
        let digest = SHA256.hash(transcript)
        let extracted = HMAC.sha256(key: [UInt8](repeating: 0, count: 32), Array(digest[16...]))
        let info = Array("ConfirmationKeys".utf8) + Array("MPC/1 code".utf8) + binding
        let keys = HMAC.sha256(key: extracted, info + [1])
        let ofA = HMAC.sha256(key: Array(keys[..<16]), transcript)
        let ofB = HMAC.sha256(key: Array(keys[16...]), transcript)
        return isInviter ? Confirmations(own: ofA, other: ofB) : Confirmations(own: ofB, other: ofA)
    }
}

/// P-256 with points and numbers as bytes: slow, and not in constant time.
@safe private final class Curve {
    static let g = unhex(
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
            + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    static let m = unhex("02886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f")
    static let n = unhex("03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49")

    private let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)

    deinit { unsafe EC_GROUP_free(group) }

    private static func unhex(_ text: String) -> [UInt8] { [UInt8](hex: text) ?? [] }

    private func point<Result>(_ bytes: [UInt8], _ body: (OpaquePointer?) -> Result) -> Result {
        let point = unsafe EC_POINT_new(group)
        defer { unsafe EC_POINT_free(point) }
        _ = unsafe EC_POINT_oct2point(group, point, bytes, bytes.count, nil)
        return unsafe body(point)
    }

    private func bytes(_ point: OpaquePointer?) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65)
        let count = unsafe EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, 65, nil)
        return Array(bytes[..<count])
    }

    func contains(_ bytes: [UInt8]) -> Bool {
        let point = unsafe EC_POINT_new(group)
        defer { unsafe EC_POINT_free(point) }
        defer { ERR_clear_error() }
        return unsafe EC_POINT_oct2point(group, point, bytes, bytes.count, nil) == 1
    }

    func reduced(_ number: [UInt8]) -> [UInt8] {
        let value = unsafe BN_bin2bn(number, CInt(number.count), nil)
        let rest = unsafe BN_new()
        let scratch = unsafe BN_CTX_new()
        defer {
            unsafe BN_free(value)
            unsafe BN_free(rest)
            unsafe BN_CTX_free(scratch)
        }
        _ = unsafe BN_div(nil, rest, value, EC_GROUP_get0_order(group), scratch)
        var bytes = [UInt8](repeating: 0, count: 32)
        _ = unsafe BN_bn2binpad(rest, &bytes, 32)
        return bytes
    }

    func times(_ number: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        unsafe point(bytes) { point in
            let value = unsafe BN_bin2bn(number, CInt(number.count), nil)
            defer { unsafe BN_free(value) }
            _ = unsafe EC_POINT_mul(group, point, nil, point, value, nil)
            return unsafe self.bytes(point)
        }
    }

    func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        unsafe point(one) { one in
            unsafe point(other) { other in
                _ = unsafe EC_POINT_add(group, one, one, other, nil)
                return unsafe bytes(one)
            }
        }
    }

    func negative(_ bytes: [UInt8]) -> [UInt8] {
        unsafe point(bytes) { point in
            _ = unsafe EC_POINT_invert(group, point, nil)
            return unsafe self.bytes(point)
        }
    }
}
