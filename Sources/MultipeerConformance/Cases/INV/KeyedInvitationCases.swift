import MultipeerSecurity

/// Chapters 3.1 and 12.8: invitations of and to peers whose uid is a hash of their key.
enum KeyedInvitationCases {
    static let all: [Case] = [
        Case(
            "INV-27", "12.8", level: .invite, "a host without the key of a keyed uid is not invited",
            stimulus: "S invites T; T has another key than that of its uid; then it has the key",
            expectation: "no frame, and no OK; INVITE", rules: ["uid.proof"],
            bugs: [.seen("invites-any-key", by: "is invited")], seconds: 20
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let impostor = try caseRun.keyedTester(beside: session)
            impostor.invitationIdentity = try TLSIdentity()
            _ = try session.invite(impostor, context: caseRun.random.bytes(20), timeout: 3)
            let unproven = try TesterInvitation(accepting: impostor)
            caseRun.loop.wait(.seconds(2)) {
                unproven.link.ending != nil || !unproven.link.waiting.isEmpty
            }
            try caseRun.require(unproven.link.waiting.isEmpty, "a host with another key is invited")
            try session.expectInviteResult(CloseCode.failures, of: impostor.endpoint.uid)
            let tester = try caseRun.keyedTester(beside: session)
            _ = try session.invite(tester)
            let invitee = try TesterInvitation(accepting: tester)
            invitee.answer(try invitee.expectInvite().first(InvitationFrames.Field.id) ?? [], .declined)
            try session.expectInviteResult([.declined], of: tester.endpoint.uid)
        },
        Case(
            "INV-28", "12.9", level: .invite, "an inviter without the key of its keyed uid is refused",
            stimulus: "T invites S with a keyed uid, from a certificate of another key; then of its key",
            expectation: "ANSWER(POLICY), the application is not asked; asked", rules: ["uid.proof"],
            bugs: [.seen("invite-from-any-key", by: "ANSWER")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.keyedTester(beside: session)
            let proof = tester.invitationIdentity
            tester.invitationIdentity = try TLSIdentity()
            let unproven = try TesterInvitation(tester, port: port)
            try unproven.invite(session.uid)
            try unproven.expectAnswer(.policy)
            try caseRun.require(
                session.event("invitation", within: .milliseconds(300)) == nil, "the application is asked")
            tester.invitationIdentity = proof
            let proven = try TesterInvitation(tester, port: port)
            try proven.invite(session.uid)
            _ = try session.answer(session.question(from: tester.endpoint.uid), false)
            try proven.expectAnswer(.declined)
        },
        Case(
            "INV-29", "12.8", level: .invite,
            "a peer with a keyed uid proves it, and shows nothing but the key",
            stimulus: "S has an identity and the uid of its key; T invites S; S invites T",
            expectation: "a certificate of that key, which is not the one of the identity",
            rules: ["invite.tls", "uid.keyed"],
            bugs: [
                .seen("invite-other-key", by: "another key"),
                .seen("invite-shows-identity", by: "of the identity"),
            ]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser(caseRun.keyedSettings())
            let tester = try caseRun.tester(beside: session, preference: .required)
            let pinned = try ConnectionData(ofSubject: session.data(for: tester.endpoint.uid)).fingerprint
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.expectReady()
            _ = try session.invite(tester)
            let invited = try TesterInvitation(accepting: tester)
            _ = try invited.expectInvite()
            for link in [inviting.link, invited.link] {
                let leaf = link.connection.tls?.peerLeaf ?? []
                try caseRun.require(
                    KeyedUID.of(certificate: leaf) == session.uid,
                    "\(link.name): a certificate of another key")
                try caseRun.require(
                    SHA256.hash(leaf) != pinned, "\(link.name): the certificate of the identity")
            }
        },
    ]
}

extension CloseCode {
    /// What an inviter may report of a peer that it could not reach.
    fileprivate static let failures: [CloseCode] = [.unknownPeer, .policy, .timeout, .internal, .protocol]
}
