import Foundation
import MultipeerSecurity
import TestSupport
import Testing

@Suite("3.4 Keys derived from passphrases", .computing)
struct KeyDerivationTests {
    /// The object identifier of scrypt, then a sequence with a salt of 16 bytes.
    private static let scrypt: [UInt8] = [6, 9, 0x2B, 6, 1, 4, 1, 0xDA, 0x47, 4, 11, 0x30]
    /// N = 16,384, r = 8, p = 5.
    private static let cost: [UInt8] = [2, 2, 0x40, 0, 2, 1, 8, 2, 1, 5]
    /// 600,000.
    private static let rounds: [UInt8] = [2, 3, 0x09, 0x27, 0xC0]

    private static let tooMuch = SecurityFault.local(
        .unreadableIdentity("deriving its key from the passphrase takes too much time or memory"))

    /// Replaces bytes inside the Base64 of the key's block.
    private func changing(pem: [UInt8], _ old: [UInt8], to new: [UInt8]) throws -> [UInt8] {
        let text = String(decoding: pem, as: UTF8.self)
        let marks = ("-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----END ENCRYPTED PRIVATE KEY-----")
        let start = try #require(text.range(of: marks.0)).upperBound
        let end = try #require(text.range(of: marks.1)).lowerBound
        let body = try #require(
            Data(base64Encoded: String(text[start..<end]), options: .ignoreUnknownCharacters))
        let changed = Data(try changing([UInt8](body), old, to: new))
        return Array(
            (text[..<start] + "\n" + changed.base64EncodedString(options: .lineLength64Characters) + "\n"
                + text[end...]).utf8)
    }

    private func changing(_ bytes: [UInt8], _ old: [UInt8], to new: [UInt8]) throws -> [UInt8] {
        var data = Data(bytes)
        var count = 0
        while let range = data.range(of: Data(old)) {
            data.replaceSubrange(range, with: new)
            count += 1
            try #require(count < 10)
        }
        try #require(count > 0, "the file has no such bytes")
        return [UInt8](data)
    }

    @Test("a key in PEM is encrypted with scrypt, N 16,384, r 8, p 5")
    func pem() throws {
        let identity = try Identity.generated()
        let file = try identity.encodedPEM(passphrase: "abc")
        // Both are in the file, or this throws.
        _ = try changing(pem: file, Self.scrypt, to: [])
        _ = try changing(pem: file, Self.cost, to: [])
        #expect(try Identity(parsing: file, passphrase: "abc").fingerprint == identity.fingerprint)
    }

    @Test("an archive is encrypted and authenticated with 600,000 rounds in all three places")
    func archive() throws {
        let identity = try Identity.generated()
        let file = Data(try identity.encodedPKCS12(passphrase: "abc"))
        var count = 0
        var rest = file[...]
        while let range = rest.range(of: Data(Self.rounds)) {
            count += 1
            rest = rest[range.upperBound...]
        }
        #expect(count == 3)
        #expect(try Identity(parsing: Array(file), passphrase: "abc").fingerprint == identity.fingerprint)
    }

    @Test(
        "a key whose derivation takes too much time or memory is refused before any work",
        arguments: [
            [2, 2, 0x40, 0, 2, 1, 8, 2, 1, 0x7F],  // p = 127: 26 times the time.
            [2, 2, 0x40, 0, 2, 1, 0x7F, 2, 1, 1],  // r = 127: 254 MiB.
            [2, 2, 0x40, 0, 2, 1, 8, 2, 1, 0x80],  // p = -128.
        ] as [[UInt8]])
    func hostileKey(_ cost: [UInt8]) throws {
        let file = try changing(
            pem: try Identity.generated().encodedPEM(passphrase: "abc"), Self.cost, to: cost)
        #expect(throws: Self.tooMuch) { try Identity(parsing: file, passphrase: "abc") }
    }

    @Test("an archive that takes too many rounds is refused before any work")
    func hostileArchive() throws {
        let file = try changing(
            try Identity.generated().encodedPKCS12(passphrase: "abc"), Self.rounds,
            to: [2, 3, 0x7F, 0xFF, 0xFF])
        #expect(throws: Self.tooMuch) { try Identity(parsing: file, passphrase: "abc") }
    }

    @Test(
        "files of earlier versions and of other programs open, and are refused with too many rounds",
        .enabled(if: OpenSSLTool.isPresent, "no /usr/bin/openssl"),
        arguments: ["-v2 aes-256-cbc -iter 100000", "-v1 PBE-SHA1-3DES -iter 100000", "-v2 aes-256-cbc"])
    func others(_ options: String) throws {
        let tool = try OpenSSLTool()
        try tool.makeChain()
        try tool.run("pkcs8 -topk8 -in leaf.key -out locked.key -passout pass:abc \(options)")
        let file = try tool.read("locked.key", "leaf.pem")
        #expect(try Identity(parsing: file, passphrase: "abc").chain.count == 1)
        guard options.contains("iter") else { return }
        let hostile = try changing(pem: file, [2, 3, 0x01, 0x86, 0xA0], to: [2, 3, 0x7F, 0xFF, 0xFF])
        #expect(throws: Self.tooMuch) { try Identity(parsing: hostile, passphrase: "abc") }
    }
}
