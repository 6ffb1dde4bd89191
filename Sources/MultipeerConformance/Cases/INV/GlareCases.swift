/// Chapter 12: two peers that invite each other, and two that are linked.
enum GlareCases {
    static let all: [Case] = [
        Case(
            "INV-06", "12.8", level: .invite, "two peers that invite each other have one link",
            stimulus:
                "a hundred times T and S invite each other and accept, in random order, half of the times with the link made in between",
            expectation: "the same data in ANSWER and COMPLETE, OK for the inviter, and one link",
            rules: ["invite.glare", "data.idempotent"],
            bugs: [
                .seen("invite-refuses-crossing", by: "is not asked"),
                .seen("invite-links-linked-again", by: "S dials"),
                .seen("data-new-each-time", by: "S gives other data"),
            ],
            orders: UIDOrder.allCases, seconds: 120
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            for _ in 0..<20 {
                let crossings = try (0..<5).map { _ in try GlarePair(session, at: port, in: caseRun) }
                // The higher end would begin a second link after 500 ms.
                caseRun.loop.wait(.milliseconds(700))
                for crossing in crossings { try crossing.expectOneLink() }
                for crossing in crossings { try crossing.end() }
            }
        },
        Case(
            "INV-12", "12.8", level: .invite, "accepting a linked peer changes nothing",
            stimulus: "T, linked to S by an invitation, invites S again 2 s later; S accepts again",
            expectation:
                "S is asked; ANSWER(OK) with the same data, no other connection, and the link remains",
            rules: ["invite.glare", "invite.consent", "data.idempotent"],
            bugs: [
                .seen("invite-links-linked-again", by: "S dials"),
                .seen("data-new-each-time", by: "S gives other data"),
            ], orders: UIDOrder.allCases
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let mine = tester.data(for: session.uid)
            let first = InvitationPair(session, tester, mine)
            try first.yes(to: try first.invite(at: port))
            try first.meet()
            caseRun.loop.wait(.seconds(2))
            try first.yes(to: try first.invite(at: port))
            caseRun.loop.wait(.milliseconds(1_500))
            try first.expectOneLink()
        },
    ]
}

/// A tester and a session of the subject between which there are several invitations, and one link.
private class InvitationPair {
    let session: SubjectSession
    let tester: Tester
    /// The tester's data, the same in every invitation.
    let mine: ConnectionData
    private var theirs: [UInt8]?
    private(set) var link: TesterLink?

    init(_ session: SubjectSession, _ tester: Tester, _ mine: ConnectionData) {
        self.session = session
        self.tester = tester
        self.mine = mine
    }

    var caseRun: CaseRun { tester.caseRun }
    var uid: [UInt8] { tester.endpoint.uid }

    /// T invites S.
    func invite(at port: UInt16) throws -> TesterInvitation {
        let inviting = try TesterInvitation(tester, port: port)
        try inviting.invite(session.uid)
        return inviting
    }

    /// Lets S accept T's invitation.
    func yes(to inviting: TesterInvitation) throws {
        let question = try session.question(from: uid)
        _ = try session.answer(question, true)
        try keep(try inviting.expectAnswer(.ok) ?? [])
        inviting.link.send(
            Frame(.complete, InvitationFrames.complete(id: inviting.id, data: mine.bytes).bytes))
        inviting.link.connection.close()
    }

    /// Lets T accept S's invitation.
    func sayYes(on inviting: TesterInvitation, _ id: [UInt8]) throws {
        inviting.answer(id, .ok, data: mine.bytes)
        try keep(try inviting.expectComplete())
        inviting.link.connection.close()
    }

    private func keep(_ data: [UInt8]) throws {
        try caseRun.require(
            theirs == nil || theirs == data, "S gives other data than in the first invitation")
        theirs = data
    }

    /// Makes the link with the data that was received.
    func meet() throws {
        link = try session.meet(tester, mine: mine, theirs: theirs ?? [])
        // On a busy machine that takes more than the 500 ms after which the higher end may dial.
        caseRun.loop.wait(.milliseconds(1))
        tester.dismissCallers()
    }

    /// Checks that there was no other connection and no other state, and that the link works.
    func expectOneLink() throws {
        guard let link else { throw SuiteFault("this tester has no link") }
        try caseRun.require(tester.callers == 0, "S dials a peer that it is linked to")
        let states = session.states(of: uid)
        try caseRun.require(
            states.isEmpty, "S reports \(states.joined(separator: ", ")) although it is linked")
        try link.expectAlive()
    }

    func end() throws {
        link?.send(.close(.goodbye))
        try session.expect("notConnected", of: uid)
    }
}

/// Two peers that invite each other, and answer when each has received the other's invitation.
private final class GlarePair: InvitationPair {
    init(_ session: SubjectSession, at port: UInt16, in caseRun: CaseRun) throws {
        let tester = try caseRun.tester(beside: session, preference: .required)
        super.init(session, tester, tester.data(for: session.uid))
        let isFirst = Bool.random(using: &caseRun.random)
        if !isFirst { _ = try session.invite(tester) }
        let outgoing = try invite(at: port)
        if isFirst { _ = try session.invite(tester) }
        let incoming = try TesterInvitation(accepting: tester)
        let id = try incoming.expectInvite().first(InvitationFrames.Field.id) ?? []
        let isEarly = Bool.random(using: &caseRun.random)
        if Bool.random(using: &caseRun.random) {
            try sayYes(on: incoming, id)
            if isEarly { try meet() }
            try yes(to: outgoing)
        } else {
            try yes(to: outgoing)
            if isEarly { try meet() }
            try sayYes(on: incoming, id)
        }
        if !isEarly { try meet() }
        try session.expectInviteResult([.ok], of: uid)
    }
}
