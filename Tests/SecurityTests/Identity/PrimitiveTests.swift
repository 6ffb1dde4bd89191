import MultipeerSecurity
import TestSupport
import Testing

@Suite("5 Primitives", .computing)
struct PrimitiveTests {
    private func hex(_ bytes: [UInt8]) -> String { Fingerprint(bytes)?.description ?? "not 32 bytes" }

    @Test("SHA-256 of abc, whole and in pieces")
    func digest() {
        let expected =
            "BA:78:16:BF:8F:01:CF:EA:41:41:40:DE:5D:AE:22:23:"
            + "B0:03:61:A3:96:17:7A:9C:B4:10:FF:61:F2:00:15:AD"
        #expect(hex(SHA256.hash(Array("abc".utf8))) == expected)
        var hasher = SHA256.Hasher()
        hasher.update(Array("a".utf8))
        #expect(hasher.digest() == SHA256.hash(Array("a".utf8)))
        hasher.update([])
        hasher.update(Array("bc".utf8))
        #expect(hex(hasher.finish()) == expected)
    }

    @Test("HMAC-SHA256, RFC 4231 cases 1 and 2")
    func authentication() {
        let first = HMAC.sha256(key: [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8))
        #expect(hex(first).hasPrefix("B0:34:4C:61:D8:DB:38:53:5C:A8:AF:CE"))
        let second = HMAC.sha256(
            key: SecureBytes(Array("Jefe".utf8)), Array("what do ya want for nothing?".utf8))
        #expect(hex(second).hasPrefix("5B:DC:C1:46:BF:60:75:4E:6A:04:24:26"))
    }

    @Test("an empty HMAC key is a separate key, not the previous one")
    func emptyKey() {
        _ = HMAC.sha256(key: [1, 2, 3], [])
        #expect(hex(HMAC.sha256(key: [UInt8](), [])).hasPrefix("B6:13:67:9A:08:14:D9:EC"))
    }

    @Test("random bytes have the requested length and differ")
    func randomness() throws {
        let one = try Randomness.bytes(32)
        #expect(one.count == 32)
        #expect(try Randomness.bytes(32) != one)
        #expect(try Randomness.bytes(0).isEmpty)
    }

    @Test("constant-time comparison finds equal and different bytes")
    func comparison() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2], [1, 2]))
        #expect(!constantTimeEqual([1, 2], [1, 3]))
        #expect(!constantTimeEqual([1, 2], [1, 2, 3]))
    }

    @Test("a secret lends its bytes, is compared by them and is never printed [secret.erase]")
    func secrets() {
        let secret = SecureBytes([0x41, 0x42])
        #expect(secret.withBytes { bytes in [bytes[0], bytes[1]] } == [0x41, 0x42])
        #expect(secret == SecureBytes([0x41, 0x42]))
        #expect(secret != SecureBytes([0x41, 0x43]))
        #expect(secret != SecureBytes([]))
        #expect("\(secret) \(String(reflecting: secret))" == "<secret> <secret>")
        var shown = ""
        dump(secret, to: &shown)
        #expect(!shown.contains("65"))
    }

    @Test("erasing empties an array [secret.erase]")
    func erasing() {
        var bytes: [UInt8] = [1, 2, 3]
        bytes.erase()
        #expect(bytes.isEmpty)
    }

    @Test("a fingerprint has 32 bytes and survives a round trip through its text")
    func fingerprints() throws {
        let bytes = (0..<32).map { UInt8($0 * 8) }
        let fingerprint = try #require(Fingerprint(bytes))
        #expect(fingerprint.description.hasPrefix("00:08:10:18"))
        #expect(Fingerprint(hex: fingerprint.description) == fingerprint)
        #expect(Fingerprint(hex: fingerprint.description.lowercased()) == fingerprint)
        #expect(Fingerprint(hex: fingerprint.description.filter { $0 != ":" }) == fingerprint)
        #expect(Fingerprint(Array(bytes.dropLast())) == nil)
        #expect(Fingerprint(hex: String(fingerprint.description.dropLast())) == nil)
        let dashes = String(fingerprint.description.map { $0 == ":" ? "-" : $0 })
        #expect(Fingerprint(hex: dashes) == nil)
        #expect(Fingerprint(hex: String(repeating: "0g", count: 32)) == nil)
    }
}
