import MultipeerSecurity
import TestSupport
import Testing

@Suite("5.3 TLS handshake", .computing)
struct HandshakeTests {
    let ann: Identity
    let bob: Identity
    let eve: Identity

    init() throws {
        ann = try .generated()
        bob = try .generated()
        eve = try .generated()
    }

    @Test("two ends that pin each other agree on TLS 1.3 and know each other's key [tls.version] [tls.pin]")
    func handshake() throws {
        var pair = try Pair.tls(client: ann, server: bob)
        #expect(try pair.shakeHands())
        #expect(pair.clientFault == nil && pair.serverFault == nil)
        let facts = (
            pair.client.peerFingerprint, pair.server.peerFingerprint, pair.client.peerChain,
            pair.server.peerChain, pair.client.suite, pair.server.suite, pair.client.isEncrypted
        )
        #expect(facts.0 == bob.fingerprint && facts.1 == ann.fingerprint)
        #expect(facts.2 == bob.chain && facts.3 == ann.chain)
        #expect(facts.4 == "TLS_AES_128_GCM_SHA256" && facts.5 == "TLS_AES_128_GCM_SHA256")
        #expect(facts.6)
    }

    @Test("the key exchange is the hybrid one where libssl has it, and x25519 otherwise [tls.suites]")
    func group() throws {
        var pair = try Pair.tls(client: ann, server: bob)
        #expect(try pair.shakeHands())
        let version = OpenSSLVersion.text.split(separator: " ").dropFirst().first ?? ""
        let numbers = version.split(separator: ".").compactMap { Int($0) }
        let isHybrid = !numbers.lexicographicallyPrecedes([3, 5])
        let groups = (pair.client.group, pair.server.group)
        #expect(groups.0 == (isHybrid ? "X25519MLKEM768" : "x25519") && groups.1 == groups.0)
    }

    @Test("a client that meets an unknown server ends the handshake with an alert [tls.pin]")
    func strangeServer() throws {
        var pair = try Pair.tls(client: ann, server: eve, clientAccepts: [bob.fingerprint])
        #expect(try !pair.shakeHands())
        #expect(pair.clientFault == .peer(.unexpectedCertificate))
        guard case .peer(.alert(let alert)) = pair.serverFault else {
            Issue.record("the server heard \(String(describing: pair.serverFault))")
            return
        }
        #expect(alert.refusesCertificate)
    }

    @Test("a server that meets an unknown client refuses it inside TLS, before a byte is read [tls.pin]")
    func strangeClient() throws {
        var pair = try Pair.tls(client: eve, server: bob, serverAccepts: [ann.fingerprint])
        try pair.shakeHands()
        #expect(pair.serverFault == .peer(.unexpectedCertificate))
        let fault = #expect(throws: SecurityFault.self) { _ = try pair.client.readAll() }
        guard case .peer(.alert(let alert)) = fault else {
            Issue.record("the client heard \(String(describing: fault))")
            return
        }
        #expect(alert.refusesCertificate)
    }

    @Test("a server accepts any of the keys it expects, and none when it expects none [tls.pin]")
    func awaited() throws {
        var several = try Pair.tls(
            client: ann, server: bob, serverAccepts: [eve.fingerprint, ann.fingerprint])
        #expect(try several.shakeHands())
        var none = try Pair.tls(client: ann, server: bob, serverAccepts: [])
        try none.shakeHands()
        #expect(none.serverFault == .peer(.unexpectedCertificate))
    }

    @Test("ends with different ALPN names close the connection, whichever is the server [tls.alpn]")
    func protocols() throws {
        for names in [("mpc/1", "mpc-invite/1"), ("mpc-invite/1", "mpc/1"), ("mpc/10", "mpc/1")] {
            var pair = try Pair.tls(client: ann, server: bob, protocols: names)
            #expect(try !pair.shakeHands())
            #expect(pair.serverFault == .peer(.noCommonProtocol))
            #expect(pair.clientFault == .peer(.alert(.init(rawValue: 120))))
        }
        var same = try Pair.tls(client: ann, server: bob, protocols: ("mpc-invite/1", "mpc-invite/1"))
        #expect(try same.shakeHands())
    }

    @Test("both ends export the same key, and another one under another label")
    func exporter() throws {
        var pair = try Pair.tls(client: ann, server: bob)
        try pair.shakeHands()
        let label = "EXPORTER-mpc1-binding"
        let one = try pair.client.exportKey(label: label, context: [], count: 32)
        let other = try pair.server.exportKey(label: label, context: [], count: 32)
        #expect(one == other && one.count == 32)
        #expect(try pair.client.exportKey(label: label + "x", context: [], count: 32) != one)
        #expect(try pair.client.exportKey(label: label, context: [1], count: 32) != one)
    }

    @Test("a handshake succeeds in pieces of any size", arguments: [1, 2, 3, 7, 100, 1_000])
    func pieces(_ size: Int) throws {
        var pair = try Pair.tls(client: ann, server: bob)
        pair.piece = size
        var isDone = false
        for _ in 0..<100 where !isDone { isDone = try pair.shakeHands() }
        #expect(isDone)
    }

    @Test("no session ticket follows the handshake [tls.no-resumption]")
    func tickets() throws {
        var pair = try Pair.tls(client: ann, server: bob)
        #expect(try pair.shakeHands())
        #expect(pair.server.outputCount == 0)
        pair.exchange()
        #expect(try pair.client.readAll().bytes.isEmpty)
    }

    @Test("a peer that answers in plain text is recognised by its first byte [enc.no-negotiation]")
    func notTLS() throws {
        for role in [SecureChannel.Role.client, .server] {
            var channel = try SecureChannel.tls(
                TLSContext(identity: ann), role: role, accepting: Pair.pins([bob.fingerprint]))
            #expect(throws: SecurityFault.peer(.notTLS)) {
                try channel.receive(Array("MPCPLAIN".utf8).span)
            }
            #expect(throws: SecurityFault.peer(.notTLS)) { try channel.handshake() }
        }
    }

    @Test("the key log has the lines that a capture needs, and only on request")
    func keyLog() throws {
        let lines = Lines()
        var pair = try Pair.tls(
            client: ann, server: bob, keyLog: KeyLog { lines.add($0) })
        #expect(try pair.shakeHands())
        let names = Set(lines.all.map { String($0.prefix { $0 != " " }) })
        #expect(
            names.isSuperset(of: [
                "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
                "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0", "EXPORTER_SECRET",
            ]))
    }

    @Test(
        "the certificate made for a session contains no name and is valid at any time [key.ephemeral] [tls.dates]"
    )
    func ephemeral() throws {
        let certificate = ann.chain[0]
        #expect(certificate.subject == "CN=multipeer" && certificate.issuer == "CN=multipeer")
        #expect(certificate.keyDescription == "P-256" && certificate.isSelfSigned)
        #expect(certificate.notBefore == 946_684_800 && certificate.notAfter == 253_402_300_799)
        #expect(ann.fingerprint != bob.fingerprint)
    }
}
