import MultipeerSecurity

/// Chapter 12.8: invitations of the peer at an address, whose uid is not known before.
enum AddressInvitationCases {
    static let all: [Case] = [
        Case(
            "INV-33", "12.8", level: .invite, "the peer at an address takes an invitation without its uid",
            stimulus: "T invites S with zeros as RECIPIENT; S accepts, T completes",
            expectation: "a question, ANSWER with S's data, a link", rules: ["invite.address"],
            bugs: [.seen("invite-needs-uid", by: "is not asked")], orders: UIDOrder.allCases
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.invite([UInt8](repeating: 0, count: 16))
            let question = try session.question(from: tester.endpoint.uid, within: .seconds(5))
            _ = try session.answer(question, true)
            guard let theirs = try inviting.expectAnswer(.ok) else {
                throw CaseFailure("no data in ANSWER(OK)")
            }
            let mine = inviting.complete(session.uid)
            inviting.link.connection.close()
            _ = try session.meet(tester, mine: mine, theirs: theirs)
        },
        Case(
            "INV-34", "12.8", level: .invite, "who answers at an address proves a keyed uid",
            stimulus:
                "S invites the peer at T's address; T answers with data of a keyed uid, from a certificate of another key; then of its key",
            expectation: "RECIPIENT of zeros; POLICY, no COMPLETE; COMPLETE, and a link",
            rules: ["invite.address"],
            bugs: [.seen("invite-address-unproven", by: "CLOSE(POLICY)")], orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.keyedTester(beside: session)
            let proof = tester.invitationIdentity
            tester.invitationIdentity = try TLSIdentity()
            let unproven = try caseRun.invitedAtAddress(session, tester)
            unproven.answer(unproven.received, .ok, data: tester.data(for: session.uid).bytes)
            try unproven.link.expectClose(.policy)
            try session.expectNo("connecting", of: tester.endpoint.uid, for: .milliseconds(100))
            tester.invitationIdentity = proof
            let proven = try caseRun.invitedAtAddress(session, tester)
            let mine = tester.data(for: session.uid)
            proven.answer(proven.received, .ok, data: mine.bytes)
            _ = try session.meet(tester, mine: mine, theirs: proven.expectComplete())
            try session.expectInviteResult([.ok], of: tester.endpoint.uid)
        },
    ]
}

extension CaseRun {
    /// Lets S invite the peer at the tester's address, and returns the tester's end of the invitation.
    fileprivate func invitedAtAddress(_ session: SubjectSession, _ tester: Tester) throws -> TesterInvitation
    {
        let answer = try session.invite(tester, isNamed: false)
        if let error = answer["error"]?.text { throw CaseFailure("'invite' without a peer fails: \(error)") }
        let invitee = try TesterInvitation(accepting: tester)
        let entries = try invitee.expectInvite()
        try require(
            entries.first(InvitationFrames.Field.recipient) == [UInt8](repeating: 0, count: 16),
            "RECIPIENT is not zeros")
        invitee.received = entries.first(InvitationFrames.Field.id) ?? []
        return invitee
    }
}
