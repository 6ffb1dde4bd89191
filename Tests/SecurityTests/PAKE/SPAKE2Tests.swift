import MultipeerSecurity
import TestSupport
import Testing

@Suite("13.8 SPAKE2", .computing)
struct SPAKE2Tests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func secret(_ hex: String) -> SecureBytes { SecureBytes(bytes(hex)) }

    private let names = SPAKE2.Identities(a: Array("inviter".utf8), b: Array("invitee".utf8))
    private let password = SecureBytes([UInt8](repeating: 7, count: 32))

    private func end(_ role: SPAKE2.Role, _ scalar: UInt8) throws -> SPAKE2 {
        try SPAKE2(as: role, password: password, scalar: SecureBytes([UInt8](repeating: scalar, count: 48)))
    }

    @Test("both ends compute what RFC 9382 lists", arguments: RFC9382.vectors)
    func vectors(_ vector: RFC9382) throws {
        let names = SPAKE2.Identities(a: Array(vector.a.utf8), b: Array(vector.b.utf8))
        let password = secret(vector.password)
        let a = try SPAKE2(as: .a, password: password, scalar: secret(vector.scalarA))
        let b = try SPAKE2(as: .b, password: password, scalar: secret(vector.scalarB))
        #expect(a.share == bytes(vector.shareA))
        #expect(b.share == bytes(vector.shareB))
        let ofA = try a.keys(with: b.share, names, additionalData: [])
        let ofB = try b.keys(with: a.share, names, additionalData: [])
        for keys in [ofA, ofB] { #expect(keys.key == secret(vector.key)) }
        #expect(ofA.confirmation == bytes(vector.confirmationA))
        #expect(ofB.confirmation == bytes(vector.confirmationB))
        #expect(ofA.verifies(ofB.confirmation))
        #expect(ofB.verifies(ofA.confirmation))
    }

    @Test("another password, name, additional datum or share changes what is confirmed")
    func differences() throws {
        let (a, b) = (try end(.a, 1), try end(.b, 2))
        let expected = try a.keys(with: b.share, names, additionalData: [1])
        let same = try b.keys(with: a.share, names, additionalData: [1])
        #expect(expected.verifies(same.confirmation))
        #expect(!expected.verifies(expected.confirmation), "a confirmation that is sent back is wrong")
        let otherName = SPAKE2.Identities(a: names.a, b: names.a)
        #expect(!expected.verifies(try b.keys(with: a.share, otherName, additionalData: [1]).confirmation))
        #expect(!expected.verifies(try b.keys(with: a.share, names, additionalData: [2]).confirmation))
        #expect(!expected.verifies(try b.keys(with: a.share, names, additionalData: []).confirmation))
        let another = try end(.b, 3)
        #expect(!expected.verifies(try another.keys(with: a.share, names, additionalData: [1]).confirmation))
        let guess = try SPAKE2(
            as: .b, password: SecureBytes([UInt8](repeating: 8, count: 32)),
            scalar: SecureBytes([UInt8](repeating: 2, count: 48)))
        let wrong = try guess.keys(with: a.share, names, additionalData: [1])
        #expect(try !a.keys(with: guess.share, names, additionalData: [1]).verifies(wrong.confirmation))
        #expect(!expected.verifies([]))
        #expect(!expected.verifies(same.confirmation + [0]))
    }

    @Test("a share that is not a usable point of the curve is refused")
    func invalidShares() throws {
        let (a, b) = (try end(.a, 1), try end(.b, 2))
        var offCurve = b.share
        offCurve[64] ^= 1
        let parity = b.share[64] & 1
        let shares: [[UInt8]] = [
            [], [0], [UInt8](repeating: 0, count: 65), offCurve,
            // Compressed, then with both coordinates and the parity.
            [2 + parity] + b.share[1...32], [6 + parity] + b.share[1...],
            [4] + [UInt8](repeating: 0xFF, count: 64), [4] + [UInt8](repeating: 0, count: 64),
            Array(b.share.dropLast()), b.share + [0],
        ]
        for share in shares {
            #expect(throws: SecurityFault.peer(.invalidPoint)) {
                _ = try a.keys(with: share, names, additionalData: [])
            }
        }
    }

    @Test(
        "a share that is the mask alone is not refused, which would show that the words were guessed [code.point]"
    )
    func infinity() throws {
        // The password 1 makes the mask N itself the share of the scalar 0.
        let maskOfB = bytes(
            "04d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49"
                + "07d60aa6bfade45008a636337f5168c64d9bd36034808cd564490b1e656edbe7")
        let one = SecureBytes([UInt8](repeating: 0, count: 31) + [1])
        let a = try SPAKE2(as: .a, password: one, scalar: SecureBytes([5]))
        let keys = try a.keys(with: maskOfB, names, additionalData: [])
        let other = try SPAKE2(as: .a, password: one, scalar: SecureBytes([6]))
        #expect(try other.keys(with: maskOfB, names, additionalData: []).key != keys.key)
        #expect(!keys.verifies(keys.confirmation))
    }

    @Test("a random number that is a multiple of the order is refused")
    func zero() {
        let order = secret("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        for scalar in [order, SecureBytes([]), SecureBytes([0, 0])] {
            #expect(throws: SecurityFault.self) {
                _ = try SPAKE2(as: .a, password: password, scalar: scalar)
            }
        }
    }

    @Test("a password depends on the text and the salt")
    func passwords() throws {
        let salt = Array("MPC/1 code7".utf8)
        let one = try SPAKE2.password(Array("guitar-island".utf8), salt: salt)
        #expect(one.count == 32)
        #expect(try SPAKE2.password(Array("guitar-island".utf8), salt: salt) == one)
        #expect(try SPAKE2.password(Array("guitar-islands".utf8), salt: salt) != one)
        #expect(try SPAKE2.password(Array("guitar-island".utf8), salt: salt + [0x30]) != one)
        #expect(try SPAKE2.password([], salt: []) != one)
    }

    @Test("HKDF-SHA256, RFC 5869 case 3")
    func derivation() {
        let key = HKDF.sha256(key: SecureBytes([UInt8](repeating: 0x0B, count: 22)), info: [], count: 42)
        #expect(
            key
                == secret(
                    "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
                        + "9d201395faa4b61a96c8"))
    }
}
