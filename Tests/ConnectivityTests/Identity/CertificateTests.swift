import Multipeer
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: certificates", .inTurns)
struct CertificateTests {
    @Test("an identity survives PEM and PKCS#12, and files of both")
    func formats() throws {
        let identity = try MCIdentity.generate(commonName: "Ann")
        #expect(identity.certificates.count == 1 && identity.description.contains("CN=Ann"))
        let files = [
            try identity.pem(), try identity.pem(passphrase: "secret"),
            try identity.pkcs12(passphrase: "secret"),
        ]
        let again = [
            try MCIdentity(pem: files[0]), try MCIdentity(pem: files[1], passphrase: "secret"),
            try MCIdentity(pkcs12: files[2], passphrase: "secret"),
        ]
        for one in again { #expect(one.certificates == identity.certificates) }
        let url = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        for file in files {
            try file.write(to: url)
            let read = try MCIdentity(contentsOf: url, passphrase: "secret")
            #expect(read.certificates == identity.certificates)
        }
    }

    @Test("unusable identities throw an error with the reason")
    func refusals() throws {
        let file = try MCIdentity.generate().pem(passphrase: "secret")
        func refusal(_ body: () throws -> Void) -> MCError? {
            do {
                try body()
                return nil
            } catch {
                return error as? MCError
            }
        }
        for error in [
            refusal { _ = try MCIdentity(pem: file) },
            refusal { _ = try MCIdentity(pem: file, passphrase: "x") },
            refusal { _ = try MCIdentity(pem: Data()) },
            refusal { _ = try MCIdentity(pkcs12: Data([1, 2])) },
            refusal { _ = try MCIdentity.generate(commonName: String(repeating: "x", count: 65)) },
            refusal { _ = try MCCertificate(der: Data([1, 2, 3])) },
        ] {
            #expect(error?.code == .invalidParameter)
            #expect(error?.localizedDescription.isEmpty == false)
        }
    }

    @Test(
        "an id that is the hash of a key needs its identity, without which no peer can be connected [uid.proof]"
    )
    func keyedID() async throws {
        let identity = try MCIdentity.generate()
        let id = MCPeerID(try PeerID(displayName: "ann", identity: identity.native))
        let other = MCPeerID(displayName: "bob")
        for (given, preference, isUsable) in [
            ([identity], MCEncryptionPreference.required, true), (nil, .required, false),
            ([try MCIdentity.generate()], .required, false), ([identity], .none, false),
        ] as [([Any]?, MCEncryptionPreference, Bool)] {
            let session = MCSession(peer: id, securityIdentity: given, encryptionPreference: preference)
            #expect(session.myPeerID == id)
            do {
                _ = try await session.nearbyConnectionData(forPeer: other)
                #expect(isUsable)
            } catch {
                #expect(!isUsable, "\(error)")
            }
            session.disconnect()
        }
    }

    @Test("a certificate survives DER and PEM")
    func certificates() throws {
        let certificate = try MCIdentity.generate().certificates[0]
        #expect(try MCCertificate(der: certificate.der) == certificate)
        #expect(
            try MCCertificate.all(inPEM: certificate.pem + certificate.pem) == [certificate, certificate])
        #expect(certificate.description.contains("CN=multipeer"))
    }

    @Test("the delegate is asked once on each side, with the peer's certificates, the leaf first")
    func question() async throws {
        let (one, two) = (
            try MCIdentity.generate(commonName: "Ann"), try MCIdentity.generate(commonName: "Bob")
        )
        let (ann, bob) = (Member("ann", identity: [one]), Member("bob", identity: [two]))
        try await ann.connect(bob)
        #expect(ann.recorder.questions == [two.certificates])
        #expect(bob.recorder.questions == [one.certificates])
    }

    @Test(
        "a peer without an identity has no certificates", arguments: [MCEncryptionPreference.required, .none])
    func nobody(_ preference: MCEncryptionPreference) async throws {
        let (ann, bob) = try await Member.pair(preference)
        #expect(ann.recorder.questions == [nil] && bob.recorder.questions == [nil])
        #expect(ann.session.connectedPeers == [bob.peer])
    }

    @Test("a refused peer is not connected, and nothing was sent", arguments: [true, false])
    func rejection(_ isRejectedByBoth: Bool) async throws {
        let (ann, bob) = (Member("ann"), Member("bob"))
        ann.recorder.judge { $0(false) }
        if isRejectedByBoth { bob.recorder.judge { $0(false) } }
        try await ann.dial(bob)
        try await ann.recorder.hears(.notConnected, of: bob.peer)
        try await bob.recorder.hears(.notConnected, of: ann.peer)
        #expect(ann.recorder.states(of: bob.peer) == [.connecting, .notConnected])
        #expect(bob.recorder.states(of: ann.peer) == [.connecting, .notConnected])
    }

    @Test("an answer may come late and from any thread, and only the first counts")
    func lateAnswers() async throws {
        let (ann, bob) = (Member("ann"), Member("bob"))
        let handlers = EventLog<CertificateAnswer>()
        ann.recorder.judge { handlers.note(CertificateAnswer(give: $0)) }
        try await ann.dial(bob)
        try await handlers.until { $0.count == 1 }
        #expect(ann.session.connectedPeers.isEmpty)
        let answer = handlers.all[0].give
        await Task.detached {
            answer(true)
            answer(false)
            answer(true)
        }.value
        try await ann.recorder.hears(.connected, of: bob.peer)
        answer(false)
        try ann.session.send(Data([1]), toPeers: [bob.peer], with: .reliable)
        try await bob.recorder.hears(messages: 1, of: ann.peer)
    }

    @Test("disconnecting while the question is open answers it, and a later answer does nothing")
    func disconnecting() async throws {
        let (ann, bob) = (Member("ann"), Member("bob"))
        let handlers = EventLog<CertificateAnswer>()
        ann.recorder.judge { handlers.note(CertificateAnswer(give: $0)) }
        try await ann.dial(bob)
        try await handlers.until { $0.count == 1 }
        ann.session.disconnect()
        try await ann.recorder.hears(.notConnected, of: bob.peer)
        handlers.all[0].give(true)
        ann.recorder.judge { $0(true) }
        bob.session.disconnect()
        try await ann.connect(bob)
        #expect(ann.session.connectedPeers == [bob.peer])
    }
}

extension Recorder {
    /// What was shown each time the delegate was asked.
    fileprivate var questions: [[MCCertificate]?] {
        log.all.compactMap { if case .certificate(let chain, _) = $0 { .some(chain) } else { nil } }
    }
}

/// The handler of one certificate.
private struct CertificateAnswer: Sendable {
    let give: @Sendable (Bool) -> Void
}
