import MultipeerSecurity
import TestSupport
import Testing

@Suite("3.4 Identities", .computing)
struct IdentityTests {
    @Test(
        "a generated identity survives PEM, with and without a passphrase", arguments: [nil, "öpen sésame"])
    func pem(_ passphrase: String?) throws {
        let identity = try Identity.generated(commonName: "Ann")
        let text = try identity.encodedPEM(passphrase: passphrase)
        let again = try Identity(parsing: text, passphrase: passphrase)
        #expect(again.chain == identity.chain && again.fingerprint == identity.fingerprint)
        #expect(again.chain[0].subject == "CN=Ann")
        var pair = try Pair.tls(client: identity, server: again)
        #expect(try pair.shakeHands())
        let isEncrypted = String(decoding: text, as: UTF8.self).contains("ENCRYPTED PRIVATE KEY")
        #expect(isEncrypted == (passphrase != nil))
    }

    @Test("a generated identity survives PKCS#12", arguments: ["", "secret"])
    func pkcs12(_ passphrase: String) throws {
        let identity = try Identity.generated()
        let archive = try identity.encodedPKCS12(passphrase: passphrase)
        let again = try Identity(parsing: archive, passphrase: passphrase)
        #expect(again.chain == identity.chain)
        var pair = try Pair.tls(client: again, server: identity)
        #expect(try pair.shakeHands())
    }

    @Test("a missing and a wrong passphrase are distinguished, in both formats")
    func passphrases() throws {
        let identity = try Identity.generated()
        let files = [
            try identity.encodedPEM(passphrase: "right"), try identity.encodedPKCS12(passphrase: "right"),
        ]
        for file in files {
            #expect(throws: SecurityFault.local(.passphraseNeeded)) { try Identity(parsing: file) }
            #expect(throws: SecurityFault.local(.wrongPassphrase)) {
                try Identity(parsing: file, passphrase: "wrong")
            }
        }
    }

    @Test("each defect of a PEM file has its own error")
    func defects() throws {
        let ann = try Identity.generated()
        let bob = try Identity.generated()
        let certificate = ann.chain[0].pem
        let key = Array(try ann.encodedPEM().dropFirst(certificate.count))
        let faults: [(SecurityFault.LocalProblem, [UInt8])] = [
            (.noCertificateInFile, []), (.noCertificateInFile, Array("hello".utf8)),
            (.noCertificateInFile, key),
            (.noKeyInFile, certificate), (.keyMismatch, bob.chain[0].pem + key),
            (.brokenChain, certificate + bob.chain[0].pem + key),
            (.identityTooLarge, [UInt8](repeating: 10, count: 200_000)),
        ]
        for (fault, file) in faults {
            #expect(throws: SecurityFault.local(fault)) { try Identity(parsing: file) }
        }
        #expect(try Identity(parsingPEM: key + certificate).fingerprint == ann.fingerprint)
        #expect(try Identity(parsingPEM: certificate + certificate + key).chain.count == 1)
    }

    @Test("a damaged certificate, key or archive is an unreadable identity")
    func damage() throws {
        let identity = try Identity.generated()
        let certificate = identity.chain[0].pem
        var damagedCertificate = try identity.encodedPEM()
        damagedCertificate[60] = UInt8(ascii: "!")
        var damagedKey = try identity.encodedPEM()
        damagedKey[certificate.count + 40] = UInt8(ascii: "!")
        let archive = try identity.encodedPKCS12(passphrase: "x")
        for file in [damagedCertificate, damagedKey, Array(archive.dropLast()), archive + [0], [0x30]] {
            let fault = #expect(throws: SecurityFault.self) { try Identity(parsing: file, passphrase: "x") }
            guard case .local(.unreadableIdentity) = fault else {
                Issue.record("\(String(describing: fault))")
                continue
            }
        }
    }

    @Test("a file of 9 certificates is refused [chain.limit]")
    func longChain() throws {
        let identity = try Identity.generated()
        var file = try identity.encodedPEM()
        for _ in 0..<8 { file += try Identity.generated().chain[0].pem }
        #expect(throws: SecurityFault.local(.chainTooLong)) { try Identity(parsing: file) }
    }

    @Test("a name is shown on one line of ASCII, whatever it contains")
    func hostileName() throws {
        let identity = try Identity.generated(commonName: "a\u{1B}[31m\nb\u{202E}")
        let subject = identity.chain[0].subject
        #expect(subject.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(throws: SecurityFault.self) {
            try Identity.generated(commonName: String(repeating: "x", count: 65))
        }
    }

    @Test("a certificate is read from exactly its own bytes")
    func certificates() throws {
        let certificate = try Identity.generated().chain[0]
        #expect(try Certificate(parsing: certificate.der) == certificate)
        for der in [[], Array(certificate.der.dropLast()), certificate.der + [0], [0x30, 0x00]] {
            #expect(throws: SecurityFault.local(.malformedCertificate)) { try Certificate(parsing: der) }
        }
        #expect(certificate.fingerprint.bytes == SHA256.hash(certificate.der))
    }

    @Test(
        "certificates of a PEM text are read in order; other blocks are skipped, and a damaged one is refused"
    )
    func certificatesInPEM() throws {
        let (ann, bob) = (try Identity.generated(), try Identity.generated())
        let text = try ann.encodedPEM() + Array("words\n".utf8) + bob.chain[0].pem
        #expect(try Identity.certificates(inPEM: text) == [ann.chain[0], bob.chain[0]])
        #expect(try Identity.certificates(inPEM: []) == [])
        var damaged = ann.chain[0].pem
        damaged[damaged.count / 2] = UInt8(ascii: "*")
        #expect(throws: SecurityFault.self) { try Identity.certificates(inPEM: damaged) }
    }

    @Test("an identity never prints its key")
    func printing() throws {
        let identity = try Identity.generated()
        var shown = ""
        dump(identity, to: &shown)
        #expect(shown.contains("<secret>") || !shown.contains("memory"))
        #expect("\(identity)".hasPrefix("CN=multipeer (P-256, "))
    }
}
