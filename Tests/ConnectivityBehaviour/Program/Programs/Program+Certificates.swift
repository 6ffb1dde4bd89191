import MultipeerConnectivity

/// A delegate that does not implement the optional method for certificates.
private final class PlainDelegate: SilentSessionDelegate {
    private let application: Application

    init(_ application: Application) { self.application = application }

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        application.session(session, peer: peerID, didChange: state)
    }
}

extension Program {
    static let certificates: [Program] = [
        Program(
            "certificate.none", "The certificate of a peer without an identity is nil.",
            .didReceiveCertificate,
            left: { app in
                app.onCertificate = { certificate, _, answer in
                    app.expect(certificate == nil, "the certificate is nil")
                    answer(true)
                }
                try await app.connect()
                try await app.wait("certificate of right")
            },
            right: { app in
                try await app.connect()
                try await app.wait("certificate of left")
            }),
        Program(
            "certificate.chain",
            "The certificates of a peer with an identity arrive in an array, its own first.",
            .didReceiveCertificate,
            left: { app in
                let identity = try MCIdentity.generate(commonName: "left")
                app.session = MCSession(
                    peer: app.peer, securityIdentity: [identity], encryptionPreference: .required)
                app.session.delegate = app
                app.post("certificate", identity.certificates.first?.der ?? Data())
                try await app.connect()
            },
            right: { app in
                let expected = try await app.posted("certificate")
                app.onCertificate = { certificates, _, answer in
                    app.expect(certificates?.count, is: 1, "the number of certificates")
                    let first = certificates?.first as? MCCertificate
                    app.expect(first?.der == expected, "the first one is that of the identity")
                    answer(true)
                }
                try await app.connect()
                try await app.wait("certificate of left")
            }),
        Program(
            "certificate.first",
            "The certificate is reported before the peer is connected, and once for a connection.",
            .didReceiveCertificate,
            left: { app in
                try app.say("hello", to: try await app.connect())
                try await app.wait("right: hello")
                let events = ["right connecting", "certificate of right", "right connected", "right: hello"]
                app.expect(app.sessionEvents, is: events, "the calls")
            },
            right: { app in
                try app.say("hello", to: try await app.connect())
                try await app.wait("left: hello")
                let events = ["left connecting", "certificate of left", "left connected", "left: hello"]
                app.expect(app.sessionEvents, is: events, "the calls")
            }),
        Program(
            "certificate.refused", "A peer whose certificate is refused is not connected, on either side.",
            .didReceiveCertificate,
            left: { app in
                app.onCertificate = { _, _, answer in answer(false) }
                app.inviteAll()
                try await app.wait("right notConnected")
                app.expect(!app.sessionEvents.contains("right connected"), "it was never connected")
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, _, answer in answer(true, session) }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("left notConnected")
                app.expect(!app.sessionEvents.contains("left connected"), "it was never connected")
            }),
        Program(
            "certificate.refused-by-invitee", "An invited peer can refuse the certificate of its inviter.",
            .didReceiveCertificate,
            left: { app in
                app.inviteAll()
                try await app.wait("right notConnected")
                app.expect(!app.sessionEvents.contains("right connected"), "it was never connected")
            },
            right: { app in
                app.onCertificate = { _, _, answer in answer(false) }
                let session = app.session
                app.onInvitation = { _, _, answer in answer(true, session) }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("left notConnected")
                app.expect(!app.sessionEvents.contains("left connected"), "it was never connected")
            }),
        Program(
            "certificate.late",
            "The handler may be called later, from another queue; until then the peer is connecting.",
            .didReceiveCertificate,
            left: { app in
                @Guarded var answer: ((Bool) -> Void)? = nil
                app.onCertificate = { [$answer] _, _, handler in $answer.wrappedValue = handler }
                app.inviteAll()
                try await app.wait("right connecting", "certificate of right")
                app.post("asked")
                try await app.posted("checked")
                app.expect(
                    !app.sessionEvents.contains("right connected"), "it is not connected without an answer")
                let handler = answer
                DispatchQueue.global().async { handler?(true) }
                try await app.wait("right connected")
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, _, answer in answer(true, session) }
                app.advertiser.startAdvertisingPeer()
                try await app.posted("asked")
                app.expect(app.session.connectedPeers, is: [], "the peers before the answer")
                app.post("checked")
                try await app.wait("left connected")
            }),
        Program(
            "certificate.not-implemented",
            "Without the optional method of the delegate, every certificate is accepted.",
            .didReceiveCertificate,
            left: { app in
                let plain = PlainDelegate(app)
                app.session.delegate = plain
                try await app.connect()
                app.keep(plain)
            },
            right: { app in
                app.session = MCSession(
                    peer: app.peer, securityIdentity: [try MCIdentity.generate(commonName: "right")],
                    encryptionPreference: .required)
                let plain = PlainDelegate(app)
                app.session.delegate = plain
                try await app.connect()
                app.keep(plain)
            }),
        Program(
            "certificate.twice", "Of two answers about a certificate the first one counts.", .here,
            left: { app in
                app.onCertificate = { _, _, answer in
                    answer(true)
                    answer(false)
                }
                try app.say("hello", to: try await app.connect())
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: hello")
            }),
        Program(
            "certificate.both", "Two peers that both have identities are each asked about the other one's.",
            .sessionFullInit,
            left: { app in try await exchangeCertificates(app) },
            right: { app in try await exchangeCertificates(app) }),
        Program(
            "certificate.without-encryption",
            "Identities may be combined with any preference: with `.none` the peers connect all the same.",
            .encryption,
            left: { app in
                app.session = MCSession(
                    peer: app.peer, securityIdentity: [try MCIdentity.generate()], encryptionPreference: .none
                )
                app.session.delegate = app
                try app.say("hello", to: try await app.connect())
            },
            right: { app in
                app.session = MCSession(peer: app.peer, securityIdentity: nil, encryptionPreference: .none)
                app.session.delegate = app
                try await app.connect()
                try await app.wait("left: hello")
            }),
    ]

    @MainActor
    private static func exchangeCertificates(_ app: Application) async throws {
        let identity = try MCIdentity.generate(commonName: app.role.rawValue)
        app.post("certificate", identity.certificates.first?.der ?? Data())
        let expected = try await app.posted("certificate")
        app.session = MCSession(peer: app.peer, securityIdentity: [identity], encryptionPreference: .required)
        app.session.delegate = app
        app.onCertificate = { certificates, _, answer in
            let first = certificates?.first as? MCCertificate
            app.expect(first?.der == expected, "it is the certificate of the other one")
            answer(true)
        }
        try await app.connect()
        try await app.wait("certificate of \(app.role.other.rawValue)")
    }
}
