/// One end of SPAKE2 with P-256, SHA-256, HKDF and HMAC. RFC 9382; Spec 13.8.
///
/// Two ends that have the same password agree on a key; an attacker in between can try one password for each run. Pure:
/// the random number is passed in, and everything else follows from it.
package struct SPAKE2: Equatable, Sendable {
    /// Which of the two masks an end uses, and which confirmation it sends.
    package enum Role: Sendable {
        case a
        case b
    }

    /// The names of the two ends, which are part of what both confirm.
    package struct Identities: Equatable, Sendable {
        package let a: [UInt8]
        package let b: [UInt8]

        package init(a: [UInt8], b: [UInt8]) {
            self.a = a
            self.b = b
        }
    }

    /// What this end sends first: an uncompressed point.
    package let share: [UInt8]
    private let role: Role
    private let password: SecureBytes
    private let scalar: SecureBytes

    /// Starts a run.
    ///
    /// - Parameters:
    ///   - role: the role of this end.
    ///   - password: the number `w`, 32 bytes, as `password(_:salt:)` makes it.
    ///   - scalar: random bytes that were never used; 40 or more, so that the number is uniform.
    /// - Throws: `SecurityFault.internal` when libcrypto fails.
    package init(as role: Role, password: SecureBytes, scalar: SecureBytes) throws(SecurityFault) {
        let curve = try P256()
        guard let scalar = try curve.reduced(scalar) else { throw .internal("the random number is 0") }
        share = try curve.masked(scalar, by: password, role.mask)
        self.role = role
        self.password = password
        self.scalar = scalar
    }

    /// Returns the keys that follow from the share of the other end. `additionalData`: what both ends confirm in
    /// addition. Throws the peer's violation `invalidPoint` unless the share is a point of the curve.
    package func keys(
        with theirs: [UInt8], _ identities: Identities, additionalData: [UInt8]
    ) throws(SecurityFault) -> Keys {
        let curve = try P256()
        let shared = try curve.unmasked(theirs, by: scalar, password, role.other.mask)
        let (a, b) = role == .a ? (share, theirs) : (theirs, share)
        var transcript: [UInt8] = []
        for part in [identities.a, identities.b, a, b] { transcript.appendCounted(part.span) }
        shared.withBytes { transcript.appendCounted($0) }
        password.withBytes { transcript.appendCounted($0) }
        return Keys(erasing: &transcript, additionalData, as: role)
    }
}

extension SPAKE2 {
    /// The results of a run.
    package struct Keys: Equatable, Sendable {
        /// The key that both ends have; this protocol needs only its confirmation.
        package let key: SecureBytes
        /// What this end sends to prove that it has the key.
        package let confirmation: [UInt8]
        /// What the other end has to send. Comparing takes the same time for all values.
        package let expected: SecureBytes

        fileprivate init(erasing transcript: inout [UInt8], _ additionalData: [UInt8], as role: Role) {
            var hash = SHA256.hash(transcript)
            key = SecureBytes(Array(hash[..<16]))
            let confirming = HKDF.sha256(
                key: SecureBytes(Array(hash[16...])), info: Array("ConfirmationKeys".utf8) + additionalData,
                count: 32)
            hash.erase()
            let (a, b) = confirming.withBytes {
                (
                    HMAC.sha256(key: $0.extracting(..<16), transcript),
                    HMAC.sha256(key: $0.extracting(16...), transcript)
                )
            }
            transcript.erase()
            confirmation = role == .a ? a : b
            expected = SecureBytes(role == .a ? b : a)
        }

        /// Returns whether the other end has proven that it has the key.
        package func verifies(_ theirs: [UInt8]) -> Bool { SecureBytes(theirs) == expected }
    }

    /// Returns the number `w` of a text: `scrypt(text, salt, 4096, 8, 1, 40)` modulo the order of the group.
    package static func password(_ text: [UInt8], salt: [UInt8]) throws(SecurityFault) -> SecureBytes {
        let stretched = try Scrypt.derive(text, salt: salt, count: 40)
        guard let password = try P256().reduced(stretched) else { throw .internal("the password is 0") }
        return password
    }
}

extension SPAKE2.Role {
    fileprivate var other: SPAKE2.Role { self == .a ? .b : .a }

    /// M for A, N for B: points whose logarithms no one knows. RFC 9382, section 4.
    fileprivate var mask: [UInt8] {
        switch self {
        case .a: SPAKE2.Role.maskOfA
        case .b: SPAKE2.Role.maskOfB
        }
    }

    private static let maskOfA: [UInt8] = [
        0x02, 0x88, 0x6E, 0x2F, 0x97, 0xAC, 0xE4, 0x6E, 0x55, 0xBA, 0x9D, 0xD7, 0x24, 0x25, 0x79, 0xF2, 0x99,
        0x3B, 0x64, 0xE1, 0x6E, 0xF3, 0xDC, 0xAB, 0x95, 0xAF, 0xD4, 0x97, 0x33, 0x3D, 0x8F, 0xA1, 0x2F,
    ]
    private static let maskOfB: [UInt8] = [
        0x03, 0xD8, 0xBB, 0xD6, 0xC6, 0x39, 0xC6, 0x29, 0x37, 0xB0, 0x4D, 0x99, 0x7F, 0x38, 0xC3, 0x77, 0x07,
        0x19, 0xC6, 0x29, 0xD7, 0x01, 0x4D, 0x49, 0xA2, 0x4B, 0x4F, 0x98, 0xBA, 0xA1, 0x29, 0x2B, 0x49,
    ]
}

extension [UInt8] {
    /// Appends the length in eight bytes, little-endian, then the bytes. RFC 9382, section 3.3.
    fileprivate mutating func appendCounted(_ bytes: Span<UInt8>) {
        // Growing leaves no copy of a secret in memory that is freed without being erased.
        var grown = self
        grown.reserveCapacity(count + 8 + bytes.count)
        for shift in 0..<8 { grown.append(UInt8(truncatingIfNeeded: bytes.count >> (8 * shift))) }
        for index in bytes.indices { grown.append(bytes[index]) }
        swap(&self, &grown)
        grown.erase()
    }
}
