import MultipeerCore
import MultipeerSecurity
import TestSupport
import Testing

@Suite(
    "5.4 Certificates of an authority", .computing,
    .enabled(if: OpenSSLTool.isPresent, "no /usr/bin/openssl"))
struct CertificateAuthorityTests {
    /// The uid of `TrustEvidence.sample`, whose display name is ann.
    static let own = "URI:urn:uuid:00000000-0000-0001-0000-000000000002"
    static let foreign = "URI:urn:uuid:00000000-0000-0001-0000-000000000003"
    static let otherName = "otherName:1.3.6.1.4.1.311.20.2.3;UTF8:"

    enum Expectation: Sendable, Equatable {
        case uid
        case displayName
        /// Trusted as a member alone.
        case member
        case refused(String)
    }

    private func verdicts(
        leaf name: String, _ extensions: String, middle: String = ""
    ) throws -> (peer: TrustEvidence.Verdict, member: TrustEvidence.Verdict) {
        let tool = try OpenSSLTool()
        try tool.makeChain(leaf: name, extensions: extensions, middle: middle)
        let chain = try Identity(
            parsing: try tool.read("leaf.key", "leaf.pem", "middle.pem", "root.pem")
        ).chain
        let evidence = TrustEvidence.sample(
            chain: chain, fingerprint: chain[0].fingerprint, now: chain[0].notBefore + 60)
        return (
            TrustPolicy.certificateAuthority([chain[2]]).evaluate(evidence),
            TrustPolicy.certificateAuthorityMember([chain[2]]).evaluate(evidence)
        )
    }

    private func expect(
        _ expectation: Expectation, _ name: String, _ extensions: String, middle: String = ""
    ) throws {
        let (peer, member) = try verdicts(leaf: name, extensions, middle: middle)
        let subject = "the certificate of CN=\(name)"
        func trusted(naming namesPeer: Bool) -> TrustEvidence.Verdict {
            .trusted(.certified(subject: "CN=\(name)", namesPeer: namesPeer), remember: false)
        }
        switch expectation {
        case .uid, .displayName: #expect(peer == trusted(naming: true) && member == peer)
        case .member:
            #expect(
                peer == .distrusted(reason: "\(subject) names neither the peer's id nor its display name"))
            #expect(member == trusted(naming: false))
        case .refused(let why):
            #expect(peer == .distrusted(reason: subject + why))
            #expect(member == peer)
        }
    }

    @Test(
        "a certificate has to name the peer, by its uid or else by its display name [trust.named]",
        arguments: [
            ("ann", "basicConstraints=CA:false", .displayName),
            ("mallory", "basicConstraints=CA:false", .member),
            ("Ann", "basicConstraints=CA:false", .member),
            ("mallory", "subjectAltName=\(own)", .uid),
            ("mallory", "subjectAltName=\(own.replacingHexCase)", .uid),
            ("mallory", "subjectAltName=DNS:x,\(foreign),\(own)", .uid),
            ("ann", "subjectAltName=\(foreign)", .member),
            ("ann", "subjectAltName=URI:urn:uuid:1,DNS:ann", .member),
            ("mallory", "subjectAltName=URI:https://ann,email:ann", .member),
            ("mallory", "subjectAltName=DNS:ann", .displayName),
            ("mallory", "subjectAltName=DNS:*", .member),
            ("mallory", "subjectAltName=DNS:x,\(otherName)ann", .displayName),
        ] as [(String, String, Expectation)])
    func names(_ name: String, _ extensions: String, _ expectation: Expectation) throws {
        try expect(expectation, name, extensions)
    }

    @Test(
        "a certificate has to be for a peer, which is both client and server [trust.purpose]",
        arguments: [
            ("extendedKeyUsage=clientAuth,serverAuth", .displayName),
            ("extendedKeyUsage=anyExtendedKeyUsage", .refused(" is not for both clients and servers")),
            ("extendedKeyUsage=serverAuth", .refused(" is not for both clients and servers")),
            ("extendedKeyUsage=clientAuth", .refused(" is not for both clients and servers")),
            ("extendedKeyUsage=codeSigning", .refused(" is not for both clients and servers")),
            ("keyUsage=digitalSignature,keyAgreement", .displayName),
            ("keyUsage=cRLSign", .refused(" is not for digital signatures")),
            ("keyUsage=keyEncipherment", .refused(" is not for digital signatures")),
            ("basicConstraints=CA:true", .refused(" is that of an authority")),
            ("basicConstraints=CA:true\nkeyUsage=digitalSignature", .refused(" is that of an authority")),
        ] as [(String, Expectation)])
    func purposes(_ extensions: String, _ expectation: Expectation) throws {
        try expect(expectation, "ann", extensions)
    }

    @Test("every authority of the chain has to permit both purposes [trust.purpose]")
    func purposesOfIssuers() throws {
        for usage in ["serverAuth", "clientAuth", "codeSigning"] {
            let (peer, member) = try verdicts(
                leaf: "ann", "basicConstraints=CA:false", middle: "extendedKeyUsage=\(usage)\n")
            let reason = TrustEvidence.Verdict.distrusted(
                reason: "the certificate of CN=ann: unsuitable certificate purpose")
            #expect(peer == reason && member == reason, "\(usage)")
        }
    }

    @Test("a subject cannot write more than one line of ASCII into the reason")
    func subject() throws {
        let (peer, _) = try verdicts(leaf: "x\u{1B}[2Jé\u{202E}", "basicConstraints=CA:false")
        guard case .distrusted(let reason) = peer else {
            Issue.record("trusted")
            return
        }
        #expect(reason.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }

    @Test(
        "an authority that signs a request makes a certificate that names the peer [trust.named]",
        arguments: [true, false], ["EC -pkeyopt ec_paramgen_curve:P-256", "ed25519"])
    func request(_ hasUID: Bool, _ kind: String) throws {
        let tool = try OpenSSLTool()
        try tool.makeChain()
        try tool.run("genpkey -algorithm \(kind) -out ann.key")
        try tool.run("req -x509 -key ann.key -out ann.pem -subj /CN=x -days 2")
        let identity = try Identity(parsing: try tool.read("ann.key", "ann.pem"))
        let uid = UID(high: 1, low: 2)
        try tool.write(
            try identity.encodedRequest(commonName: hasUID ? "Änn" : "ann", uid: hasUID ? uid : nil),
            to: "ann.csr")
        try tool.run("req -in ann.csr -noout -verify")
        try tool.run(
            "x509 -req -copy_extensions copy -in ann.csr -CA middle.pem -CAkey middle.key -set_serial 9 "
                + "-out signed.pem -days 30")
        let signed = try Identity(parsing: try tool.read("signed.pem", "middle.pem", "ann.key"))
        let root = try Identity.certificates(inPEM: try tool.read("root.pem"))
        let verdict = TrustPolicy.certificateAuthority(root).evaluate(
            .sample(
                chain: signed.chain, fingerprint: signed.fingerprint, now: signed.chain[0].notBefore + 60))
        #expect(
            verdict
                == .trusted(
                    .certified(subject: signed.chain[0].subject, namesPeer: true), remember: false))
    }

    @Test("a request with a name that is too long is not made")
    func longName() throws {
        let identity = try Identity.generated()
        #expect(throws: SecurityFault.self) {
            try identity.encodedRequest(commonName: String(repeating: "a", count: 65), uid: nil)
        }
    }
}

extension String {
    /// The same URI, in upper case.
    fileprivate var replacingHexCase: String { "URI:" + dropFirst(4).uppercased() }
}
