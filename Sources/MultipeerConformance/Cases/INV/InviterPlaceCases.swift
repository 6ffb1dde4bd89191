/// Chapter 12: the subject as inviter of a peer that may be at several addresses, or whose connections are lost.
enum InviterPlaceCases {
    static let all: [Case] = [
        Case(
            "INV-38", "12.8", level: .invite, "the sixth connection lost before ANSWER ends an invitation",
            stimulus: "S invites T for 60 s; T resets each connection after INVITE",
            expectation: "six dials; then another result than OK, and no dial", rules: ["invite.busy"],
            bugs: [.seen("invite-never-gives-up", by: "not notified")], seconds: 50
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.tester(beside: session, preference: .required)
            _ = try session.invite(tester, timeout: 60)
            for _ in 0..<6 {
                let invitee = try TesterInvitation(accepting: tester)
                _ = try invitee.expectInvite()
                invitee.link.connection.reset()
            }
            guard let event = session.event("invite-result", from: tester.endpoint.uid, within: .seconds(4))
            else { throw CaseFailure("the inviter is not notified after six lost connections") }
            try caseRun.require(event["result"]?.text != "OK", "the inviter is notified of OK")
            try caseRun.require(tester.calls.count == 6, "S dials \(tester.calls.count) times, not 6")
        },
        Case(
            "INV-39", "12.9", level: .invite, "an inviter looks for the peer at its other addresses",
            stimulus: "S invites T2 at two addresses; at the first, T1 answers UNKNOWN_PEER",
            expectation: "INVITE at the second; DECLINED of T2 is the result", rules: ["invite.recipient"],
            bugs: [.seen("invite-one-address", by: "does not dial")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.tester(beside: session, preference: .required)
            let another = try caseRun.tester(beside: session, "another", preference: .required)
            _ = try session.invite(tester, after: [another])
            let wrong = try TesterInvitation(accepting: another)
            wrong.answer(try wrong.expectInvite().first(InvitationFrames.Field.id) ?? [], .unknownPeer)
            wrong.link.connection.close()
            // A connection that S gave up for the other may come first.
            let invitee = try caseRun.invited(tester)
            invitee.answer(invitee.received, .declined)
            try session.expectInviteResult([.declined], of: tester.endpoint.uid)
        },
        Case(
            "INV-41", "12.8", level: .invite, "an inviter uses the connection on which TLS stands first",
            stimulus: "S invites T at two addresses; the first accepts TCP, and is silent",
            expectation: "INVITE at the second, the first connection ends; a link",
            rules: ["invite.connections"], bugs: [.seen("invite-keeps-connections", by: "still open")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.tester(beside: session, preference: .required)
            let silent = try caseRun.tester(beside: session, "silent", preference: .required)
            _ = try session.invite(tester, after: [silent])
            let data = silent.data(for: nil)
            let mute = try silent.accepted(
                LinkParameters(
                    mine: data.bytes, myToken: data.token, theirs: [], theirData: data, me: silent.endpoint),
                plain: true, sendsPreface: false)
            mute.connection.isDeaf = true
            let invitee = try TesterInvitation(accepting: tester)
            let id = try invitee.expectInvite().first(InvitationFrames.Field.id) ?? []
            try mute.expectEnd(within: .seconds(3))
            let mine = tester.data(for: session.uid)
            invitee.answer(id, .ok, data: mine.bytes)
            _ = try session.meet(tester, mine: mine, theirs: invitee.expectComplete())
            try session.expectInviteResult([.ok], of: tester.endpoint.uid)
        },
    ]
}

extension CaseRun {
    /// Takes connections of an inviter until one of them brings INVITE.
    fileprivate func invited(_ tester: Tester) throws -> TesterInvitation {
        while true {
            let invitee = try TesterInvitation(accepting: tester)
            loop.wait(.seconds(5)) { !invitee.link.waiting.isEmpty || invitee.link.ending != nil }
            if invitee.link.waiting.isEmpty, invitee.link.ending != nil { continue }
            invitee.received = try invitee.expectInvite().first(InvitationFrames.Field.id) ?? []
            return invitee
        }
    }
}
