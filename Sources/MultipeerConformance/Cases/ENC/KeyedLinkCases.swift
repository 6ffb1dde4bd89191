/// Chapters 3.1 and 5.3: links of peers whose uid is a hash of their key.
enum KeyedLinkCases {
    static let all: [Case] = [
        Case(
            "ENC-28", "3.1", "a peer with a keyed uid has its key",
            stimulus: "T's uid is the hash of the key in the certificate that its data pins; of another key",
            expectation: "connected; refused in TLS, no frame is answered",
            rules: ["uid.keyed", "uid.proof"],
            bugs: [.seen("ignores-keyed-uid", by: "still open")], orders: UIDOrder.allCases, seconds: 20
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            _ = try caseRun.introduce(session, caseRun.keyedTester(beside: session)).link()
            let other = try caseRun.session(.init(preference: .required))
            let impostor = try caseRun.keyedTester(beside: other)
            impostor.identity = try TLSIdentity()
            try caseRun.introduce(other, impostor).refusesTLS("another key") { _ in }
        },
        Case(
            "ENC-27", "6.2", "a pinned certificate proves a keyed uid only if its key hashes to it",
            stimulus:
                "two peers with data that pin one certificate, of which one has a keyed uid; T sends HELLO as that one",
            expectation: "POLICY", rules: ["uid.proof"],
            bugs: [.seen("ignores-keyed-uid", by: "CLOSE(POLICY)")], orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let plain = try caseRun.tester(beside: session, preference: .required)
            let keyed = try caseRun.keyedTester(beside: session)
            keyed.identity = plain.identity
            _ = try caseRun.introduce(session, plain)
            let pair = try caseRun.introduce(session, keyed)
            let link = try keyed.dial(pair.linkParameters)
            try link.expectReady()
            link.sendHello()
            try link.expectClose(.policy)
        },
    ]
}

extension CaseRun {
    /// Creates a peer of the tester with a keyed uid, below or above the session's as the order of this run demands.
    func keyedTester(
        beside session: SubjectSession, preference: Preference = .required
    ) throws -> Tester {
        while true {
            let identity = try TLSIdentity()
            guard let uid = KeyedUID.of(certificate: identity.leaf) else {
                throw SuiteFault("a certificate without a key")
            }
            guard uid.precedes(session.uid) == (order == .testerLower) else { continue }
            let tester = try Tester("keyed", uid: uid, preference: preference, in: self)
            tester.identity = preference == .none ? nil : identity
            tester.invitationIdentity = try identity.renewed()
            tester.flags = ConnectionData.Flag.identity
            return tester
        }
    }

    /// Returns the settings of a session of the subject with an identity and the keyed uid of its key.
    func keyedSettings() throws -> SubjectSession.Settings {
        let identity = try TLSIdentity()
        return .init(
            preference: .required, uid: KeyedUID.of(certificate: identity.leaf),
            identity: try file(identity.pem))
    }
}
