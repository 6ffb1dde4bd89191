import MultipeerCore
import MultipeerSecurity
import TestSupport
import Testing

@Suite("3.1 Keyed uids in TLS", .computing)
struct KeyedUIDTests {
    private let ann: Identity
    private let eve: Identity

    init() throws {
        ann = try .generated(commonName: "ann")
        eve = try .generated()
    }

    @Test("the uid is the hash of the SubjectPublicKeyInfo in the certificate [uid.keyed]")
    func hash() throws {
        // SubjectPublicKeyInfo of P-256: this beginning, then a point of 65 bytes. RFC 5480.
        let start = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
            0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ].map { UInt8($0) }
        let der = ann.chain[0].der
        let place = try #require((0..<(der.count - 91)).first { Array(der[$0..<($0 + 26)]) == start })
        let digest = SHA256.hash(Array("MPC/1 uid".utf8) + der[place..<(place + 91)])
        #expect(ann.uid == UID.keyed(digest) && ann.uid.isKeyed && ann.uid != eve.uid)
    }

    /// Returns two ends, of which one expects a peer with `uid` and pins `pinned`, and the other presents `presented`.
    private func pair(
        expecting pins: [CertificatePin], presented: Identity, isServer: Bool
    ) throws -> Pair {
        let own = try Identity.generated()
        let (here, there) = (try TLSContext(identity: own), try TLSContext(identity: presented))
        let back = Pair.pins([own.fingerprint])
        return isServer
            ? Pair(
                client: try .tls(there, role: .client, accepting: back),
                server: try .tls(here, role: .server, accepting: pins))
            : Pair(
                client: try .tls(here, role: .client, accepting: pins),
                server: try .tls(there, role: .server, accepting: back))
    }

    @Test(
        "a pinned certificate whose key does not hash to the peer's uid is refused inside TLS, at either end [uid.proof]",
        arguments: [true, false])
    func foreign(_ isServer: Bool) throws {
        let pins = [CertificatePin(eve.fingerprint, of: ann.uid)]
        var pair = try pair(expecting: pins, presented: eve, isServer: isServer)
        _ = try pair.shakeHands()
        #expect((isServer ? pair.serverFault : pair.clientFault) == .peer(.foreignKey))
    }

    @Test(
        "the right key is accepted, and so is one that two pins name, for one of them [uid.proof]",
        arguments: [true, false])
    func right(_ isServer: Bool) throws {
        for pins in [
            [CertificatePin(ann.fingerprint, of: ann.uid)],
            [CertificatePin(ann.fingerprint, of: eve.uid), CertificatePin(ann.fingerprint, of: ann.uid)],
            Pair.pins([ann.fingerprint]),
        ] {
            var pair = try pair(expecting: pins, presented: ann, isServer: isServer)
            #expect(try pair.shakeHands())
            let proven = isServer ? pair.server.keyedUID : pair.client.keyedUID
            #expect(proven == ann.uid)
        }
    }

    @Test(
        "in invitations a peer shows its key in a new certificate, and nothing of its identity [invite.tls]")
    func invitation() throws {
        let inviter = try InvitationTLS(for: ann.uid, with: ann)
        let invitee = try InvitationTLS(for: eve.uid, with: eve)
        var pair = Pair(
            client: try inviter.channel(.client, to: eve.uid), server: try invitee.channel(.server))
        #expect(try pair.shakeHands())
        let (clients, servers) = (pair.server.peerChain, pair.client.peerChain)
        #expect(pair.server.keyedUID == ann.uid && pair.client.keyedUID == eve.uid)
        #expect(clients.count == 1 && clients != ann.chain && clients[0].subject == "CN=multipeer")
        #expect(servers.count == 1 && servers != eve.chain)
    }

    @Test(
        "a host that lacks the key of an invitee's uid is refused before anything is sent to it [uid.proof]")
    func impostor() throws {
        for host in [try InvitationTLS(), try InvitationTLS(for: eve.uid, with: eve)] {
            var pair = Pair(
                client: try InvitationTLS().channel(.client, to: ann.uid), server: try host.channel(.server))
            #expect(try !pair.shakeHands())
            #expect(pair.clientFault == .peer(.foreignKey))
            guard case .peer(.alert(let alert)) = pair.serverFault else {
                Issue.record("the host received no alert: \(String(describing: pair.serverFault))")
                return
            }
            #expect(alert.refusesCertificate)
        }
    }

    @Test("a keyed uid is used only with its own identity [uid.proof]")
    func own() throws {
        for identity in [nil, eve] {
            #expect(throws: SecurityFault.local(.foreignIdentity)) {
                try InvitationTLS(for: ann.uid, with: identity)
            }
        }
        _ = try InvitationTLS(for: UID(high: 1, low: 2), with: ann)
    }

    @Test(
        "keys of every usable kind have a uid, and prove it in invitations [uid.keyed] [invite.tls]",
        .enabled(if: OpenSSLTool.isPresent, "no /usr/bin/openssl"), arguments: OpenSSLFileTests.kinds)
    func kinds(_ kind: OpenSSLFileTests.Kind) throws {
        let tool = try OpenSSLTool()
        try tool.run("\(kind.command) -out key.pem")
        try tool.run("req -x509 -key key.pem -out cert.pem -subj /CN=x -days 2")
        try tool.run("req -x509 -key key.pem -out renewed.pem -subj /CN=y -days 2")
        let identity = try Identity(parsing: try tool.read("key.pem", "cert.pem"))
        #expect(try Identity(parsing: try tool.read("key.pem", "renewed.pem")).uid == identity.uid)
        let invitee = try InvitationTLS(for: identity.uid, with: identity)
        var pair = Pair(
            client: try InvitationTLS().channel(.client, to: identity.uid),
            server: try invitee.channel(.server))
        #expect(try pair.shakeHands())
    }
}
