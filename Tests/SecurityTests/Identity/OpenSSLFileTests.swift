import MultipeerSecurity
import TestSupport
import Testing

@Suite(
    "3.4 Identities made by the openssl command", .computing,
    .enabled(if: OpenSSLTool.isPresent, "no /usr/bin/openssl"))
struct OpenSSLFileTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let command: String
        let description: String
        var testDescription: String { description }
    }

    static let kinds = [
        Kind(command: "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", description: "P-256"),
        Kind(command: "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384", description: "P-384"),
        Kind(command: "genpkey -algorithm ed25519", description: "Ed25519"),
        Kind(command: "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048", description: "RSA-2048"),
    ]

    @Test("keys of every usable kind complete a handshake", arguments: kinds)
    func usable(_ kind: Kind) throws {
        let tool = try OpenSSLTool()
        try tool.run("\(kind.command) -out key.pem")
        try tool.run("req -x509 -key key.pem -out cert.pem -subj /CN=x -days 2")
        let identity = try Identity(parsing: try tool.read("key.pem", "cert.pem"))
        #expect(identity.chain[0].keyDescription == kind.description)
        var pair = try Pair.tls(client: identity, server: .generated())
        #expect(try pair.shakeHands())
    }

    @Test(
        "keys that are too weak, or that TLS 1.3 does not accept, are refused by name [tls.strength]",
        arguments: [
            (
                "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024",
                SecurityFault.local(.weakKey("RSA-1024"))
            ),
            (
                "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp192k1",
                .local(.weakKey("EC secp192k1"))
            ),
            (
                "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1",
                .local(.unsupportedKey("EC secp256k1"))
            ),
        ])
    func unusable(_ command: String, _ fault: SecurityFault) throws {
        let tool = try OpenSSLTool()
        try tool.run("\(command) -out key.pem")
        try tool.run("req -x509 -key key.pem -out cert.pem -subj /CN=x -days 2")
        #expect(throws: fault) { try Identity(parsing: try tool.read("key.pem", "cert.pem")) }
    }

    @Test(
        "a peer with a weak key is refused inside TLS, although its key is pinned [tls.strength]",
        arguments: [false, true])
    func weakPeer(_ isServer: Bool) throws {
        let tool = try OpenSSLTool()
        try tool.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out key.pem")
        try tool.run("req -x509 -key key.pem -out cert.pem -subj /CN=x -days 2")
        let weak = try Identity.certificates(inPEM: try tool.read("cert.pem"))[0]
        var foreign = ForeignEnd(
            ForeignEnd.ProfileDeviations(
                isServer: isServer, chain: [weak.der], keyPEM: try tool.read("key.pem"), selectsFirst: true,
                isInsecure: true))
        var channel = try SecureChannel.tls(
            TLSContext(identity: .generated()), role: isServer ? .client : .server,
            accepting: Pair.pins([weak.fingerprint]))
        #expect(foreign.meet(&channel) == .peer(.weakKey))
        #expect(foreign.alert != nil)
        #expect(ChainVerdict.on([weak], accepting: Pair.pins([weak.fingerprint])) == .keyTooWeak)
    }

    @Test("a chain is sorted, whatever the order of the file, and sent whole")
    func chains() throws {
        let tool = try OpenSSLTool()
        try tool.makeChain()
        let identity = try Identity(parsing: try tool.read("root.pem", "leaf.key", "middle.pem", "leaf.pem"))
        #expect(identity.chain.map(\.subject) == ["CN=Leaf", "CN=Middle", "CN=Root"])
        #expect(identity.chain.map(\.isSelfSigned) == [false, false, true])
        var pair = try Pair.tls(client: identity, server: identity)
        #expect(try pair.shakeHands())
        #expect(pair.client.peerChain == identity.chain && pair.server.peerChain == identity.chain)
        #expect(throws: SecurityFault.local(.brokenChain)) {
            try Identity(parsing: try tool.read("root.pem", "leaf.key", "leaf.pem"))
        }
    }

    @Test(
        "issuers are added to an identity in any order, and certificates that do not form a chain are refused"
    )
    func adding() throws {
        let tool = try OpenSSLTool()
        try tool.makeChain()
        let leaf = try Identity(parsing: try tool.read("leaf.key", "leaf.pem"))
        let issuers = try Identity.certificates(inPEM: try tool.read("root.pem", "middle.pem"))
        #expect(issuers.map(\.subject) == ["CN=Root", "CN=Middle"])
        let whole = try leaf.adding(issuers)
        #expect(whole.chain.map(\.subject) == ["CN=Leaf", "CN=Middle", "CN=Root"])
        #expect(whole.fingerprint == leaf.fingerprint)
        #expect(try whole.adding(issuers).chain == whole.chain, "what is there already changes nothing")
        #expect(throws: SecurityFault.local(.brokenChain)) { try leaf.adding([issuers[0]]) }
        var pair = try Pair.tls(client: whole, server: leaf)
        #expect(try pair.shakeHands())
    }

    @Test("an encrypted key and a PKCS#12 archive of the openssl command are read")
    func encrypted() throws {
        let tool = try OpenSSLTool()
        try tool.makeChain()
        try tool.run("pkcs8 -topk8 -in leaf.key -out locked.key -passout pass:abc")
        try tool.run("ec -in leaf.key -aes128 -out older.key -passout pass:abc")
        try tool.write(try tool.read("middle.pem", "root.pem"), to: "others.pem")
        try tool.run(
            "pkcs12 -export -inkey leaf.key -in leaf.pem -certfile others.pem -out a.p12 -passout pass:abc")
        let names = [["locked.key", "leaf.pem"], ["older.key", "leaf.pem"], ["a.p12"]]
        for name in names {
            let file = try name.flatMap { try tool.read($0) }
            let identity = try Identity(parsing: file, passphrase: "abc")
            #expect(identity.chain.count == (name == ["a.p12"] ? 3 : 1))
            #expect(throws: SecurityFault.local(.wrongPassphrase)) {
                try Identity(parsing: file, passphrase: "abd")
            }
            #expect(throws: SecurityFault.local(.passphraseNeeded)) { try Identity(parsing: file) }
        }
    }

    /// How the command makes a file, and what the file is.
    static let oldForms = [
        ("pkcs12 -export -inkey leaf.key -in leaf.pem -legacy -certpbe PBE-SHA1-RC2-40", "archive"),
        (
            "pkcs12 -export -inkey leaf.key -in leaf.pem -provider legacy -provider default -macalg md4",
            "archive"
        ),
        ("pkcs8 -topk8 -in leaf.key -v1 PBE-MD5-DES -provider legacy -provider default", "key"),
        ("ec -in leaf.key -des -provider legacy -provider default", "key"),
    ]

    @Test(
        "of a file with an old encryption the command that converts it is named, and it does",
        .enabled(if: OpenSSLTool.hasOldAlgorithms, "no provider legacy"),
        arguments: oldForms)
    func old(_ command: String, _ kind: String) throws {
        let tool = try OpenSSLTool()
        try tool.makeChain()
        try tool.run("\(command) -out OLD -passout pass:abc")
        let form = kind == "key" ? SecurityFault.OldForm.key : .archive
        let leaf = kind == "key" ? try tool.read("leaf.pem") : []
        let fault = SecurityFault.local(.oldEncryption(form))
        #expect(throws: fault) { try Identity(parsing: try tool.read("OLD") + leaf, passphrase: "abc") }
        let text = fault.description
        let start = try #require(text.firstRange(of: "openssl "))
        try tool.run("\(text[start.upperBound...]) -passin pass:abc -passout pass:abc")
        let identity = try Identity(
            parsing: try tool.read(kind == "key" ? "NEWKEY" : "NEW") + leaf, passphrase: "abc")
        #expect(identity.chain.count == 1)
    }

    @Test("the openssl command reads the files written here")
    func written() throws {
        let tool = try OpenSSLTool()
        let identity = try Identity.generated(commonName: "Ann")
        try tool.write(try identity.encodedPEM(), to: "a.pem")
        try tool.write(try identity.encodedPKCS12(passphrase: "abc"), to: "a.p12")
        try tool.run("pkey -in a.pem -noout -check")
        try tool.run("verify -CAfile a.pem a.pem")
        try tool.run("pkcs12 -in a.p12 -noout -passin pass:abc")
    }

    @Test("an expired certificate is accepted when it is pinned [tls.dates]")
    func expired() throws {
        let tool = try OpenSSLTool()
        try tool.makeChain(days: -1)
        let identity = try Identity(parsing: try tool.read("leaf.key", "leaf.pem"))
        #expect(identity.chain[0].notAfter < identity.chain[0].notBefore)
        var pair = try Pair.tls(client: identity, server: .generated())
        #expect(try pair.shakeHands())
    }

    @Test("a certificate authority vouches for a whole chain, within its validity, and for nothing else")
    func authority() throws {
        let tool = try OpenSSLTool()
        try tool.makeChain(leaf: "ann")
        let chain = try Identity(
            parsing: try tool.read("leaf.key", "leaf.pem", "middle.pem", "root.pem")
        ).chain
        let now = chain[0].notBefore + 60
        func verdict(_ roots: [Certificate], _ chain: [Certificate], at now: Int64) -> TrustEvidence.Verdict {
            TrustPolicy.certificateAuthority(roots).evaluate(
                .sample(chain: chain, fingerprint: chain.first?.fingerprint, now: now))
        }
        let trusted = TrustEvidence.Verdict.trusted(
            .certified(subject: chain[0].subject, namesPeer: true), remember: false)
        #expect(verdict([chain[2]], chain, at: now) == trusted)
        #expect(verdict([chain[2]], Array(chain.dropLast()), at: now) == trusted)
        #expect(verdict([chain[1]], [chain[0]], at: now) == trusted)
        let subject = "the certificate of CN=ann"
        let missing = verdict([chain[2]], [chain[0]], at: now)
        #expect(missing == .distrusted(reason: "\(subject): unable to get local issuer certificate"))
        #expect(
            verdict([chain[2]], chain, at: now + 40 * 86_400)
                == .distrusted(reason: "\(subject): certificate has expired"))
        #expect(
            verdict([chain[2]], chain, at: now - 7_200)
                == .distrusted(reason: "\(subject): certificate is not yet valid"))
        #expect(verdict([], chain, at: now) != trusted)
        #expect(verdict(try Identity.generated().chain, chain, at: now) != trusted)
    }
}
