/// Chapter 12: how often an application is asked, and where there is room.
enum InvitationRoomCases {
    static let all: [Case] = [
        Case(
            "INV-07", "12.8", level: .invite, "the same inviter asks once",
            stimulus: "T invites five times, without waiting",
            expectation: "one question; the earlier connections receive DUPLICATE, the last one the ANSWER",
            rules: ["invite.pending", "invite.once"],
            bugs: [.seen("invite-asks-each-time", by: "CLOSE(DUPLICATE)")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            var all: [TesterInvitation] = []
            for _ in 0..<5 {
                let inviting = try TesterInvitation(tester, port: port)
                try inviting.invite(session.uid)
                all.append(inviting)
                caseRun.loop.wait(.milliseconds(300))
            }
            let question = try session.question(from: tester.endpoint.uid)
            for earlier in all.dropLast() { try earlier.link.expectClose(.duplicate) }
            let again = session.event("invitation", within: .milliseconds(500))
            try caseRun.require(again == nil, "the application is asked twice")
            _ = try session.answer(question, false)
            try all[4].expectAnswer(.declined)
        },
        Case(
            "INV-08", "12.8", level: .invite, "sixteen questions at most, four of an address",
            stimulus: "100 inviters from 25 addresses",
            expectation: "at most 16 questions wait, at most 4 of an address; the others receive BUSY",
            rules: ["invite.pending"], bugs: [.seen("invite-unlimited", by: "are pending")], seconds: 90
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            var all: [TesterInvitation] = []
            for index in 0..<100 {
                let tester = try caseRun.tester(beside: session, "inviter \(index)", preference: .required)
                let inviting = try TesterInvitation(
                    tester, port: port, from: [127, 0, 1, UInt8(index % 25 + 1)])
                try inviting.invite(session.uid)
                all.append(inviting)
            }
            caseRun.loop.wait(.seconds(2))
            let open = all.filter {
                $0.link.ending == nil && !$0.link.waiting.contains { $0.kind == .answer }
            }
            try caseRun.require(open.count <= 16, "\(open.count) invitations are pending")
            try caseRun.require(open.count >= 4, "only \(open.count) invitations are pending")
            for refused in all where refused.link.waiting.contains(where: { $0.kind == .answer }) {
                try refused.expectAnswer(.busy)
            }
            for inviting in all { inviting.link.connection.close() }
            caseRun.loop.wait(.seconds(1))
        },
        Case(
            "INV-30", "12.8", level: .invite, "no peer reserves another peer's uid",
            stimulus: "T1 invites with T2's uid from another address, then T2 invites",
            expectation: "both questions are asked; the answer to T2's reaches T2",
            rules: ["invite.pending"], bugs: [.seen("invite-reserves-uid", by: "not asked")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let forged = try TesterInvitation(tester, port: port, from: [127, 0, 1, 1])
            try forged.invite(session.uid)
            _ = try session.question(from: tester.endpoint.uid)
            let own = try TesterInvitation(tester, port: port)
            try own.invite(session.uid)
            let question = try session.question(from: tester.endpoint.uid)
            _ = try session.answer(question, true)
            try own.expectAnswer(.ok)
            try caseRun.require(forged.link.ending == nil, "the other question has ended")
            try caseRun.require(forged.link.waiting.isEmpty, "the other question was answered, too")
        },
        Case(
            "INV-31", "15.2", level: .invite, "three refusals make an address quiet",
            stimulus: "three of one address are declined; then another of it, and one of another address",
            expectation: "BUSY for the fourth; the fifth is asked",
            rules: ["invite.quiet"], bugs: [.seen("invite-never-quiet", by: "ANSWER")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            for number in 1...3 {
                let tester = try caseRun.tester(beside: session, "inviter \(number)", preference: .required)
                let inviting = try TesterInvitation(tester, port: port, from: [127, 0, 1, 1])
                try inviting.invite(session.uid)
                _ = try session.answer(try session.question(from: tester.endpoint.uid), false)
                try inviting.expectAnswer(.declined)
            }
            let fourth = try caseRun.tester(beside: session, "fourth", preference: .required)
            let inviting = try TesterInvitation(fourth, port: port, from: [127, 0, 1, 1])
            try inviting.invite(session.uid)
            try inviting.expectAnswer(.busy, within: .seconds(2))
            let other = try TesterInvitation(fourth, port: port, from: [127, 0, 1, 2])
            try other.invite(session.uid)
            _ = try session.question(from: fourth.endpoint.uid)
        },
        Case(
            "INV-32", "12.8", level: .invite, "old questions do not keep all others out",
            stimulus: "sixteen inviters of as many addresses with 600 s; T invites at once, and after 10 s",
            expectation: "BUSY, then the question is asked", rules: ["invite.pending"],
            bugs: [.seen("invite-keeps-places", by: "not asked")], seconds: 40
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            var hoarded: [TesterInvitation] = []
            for number in 1...16 {
                let tester = try caseRun.tester(beside: session, "inviter \(number)", preference: .required)
                let inviting = try TesterInvitation(tester, port: port, from: [127, 0, 1, UInt8(number)])
                try inviting.invite(session.uid, timeout: 600)
                _ = try session.question(from: tester.endpoint.uid)
                hoarded.append(inviting)
            }
            let tester = try caseRun.tester(beside: session, "honest", preference: .required)
            let early = try TesterInvitation(tester, port: port)
            try early.invite(session.uid)
            try early.expectAnswer(.busy)
            caseRun.loop.wait(.milliseconds(10_200))
            let later = try TesterInvitation(tester, port: port)
            try later.invite(session.uid)
            _ = try session.question(from: tester.endpoint.uid, within: .seconds(2))
            for inviting in hoarded { inviting.link.connection.close() }
        },
        Case(
            "INV-13", "12.10", level: .invite, "an advertiser without capacity answers FULL",
            stimulus: "S, which may have one link, is linked; T invites it", expectation: "FULL",
            rules: ["limit.links"],
            bugs: [.seen("invite-ignores-slots", by: "not FULL")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser(.init(preference: .required, limits: ["peers": 2]))
            let first = try caseRun.tester(beside: session, "first", preference: .required)
            let pair = try caseRun.introduce(session, first)
            let link = try pair.link()
            let tester = try caseRun.tester(beside: session, "second", preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.invite(session.uid)
            // The application may be asked first: then it accepts, and there is no free place.
            if let question = session.event("invitation", from: tester.endpoint.uid, within: .seconds(1)) {
                _ = try session.answer(question, true)
            }
            try inviting.expectAnswer(.full)
            try link.expectAlive()
            caseRun.isSessionSpent = true
        },
        Case(
            "INV-14", "12.8", level: .invite, "a peer that stops advertising no longer answers",
            stimulus: "S stops while T's question is open", expectation: "CANCELLED",
            rules: ["invite.cancel"],
            bugs: [.seen("invite-outlives-advertising", by: "CLOSE(CANCELLED)")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.invite(session.uid)
            _ = try session.question(from: tester.endpoint.uid)
            try session.call("unadvertise")
            try inviting.link.expectClose(.cancelled)
        },
        Case(
            "INV-15", "12.8", level: .invite, "an advertiser waits five seconds for INVITE",
            stimulus: "T sends nothing after TLS", expectation: "the connection ends with TIMEOUT after 5 s",
            rules: ["invite.deadline"], bugs: [.seen("invite-without-deadline", by: "CLOSE(TIMEOUT)")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.expectReady()
            try inviting.link.expectClose([.timeout], within: .seconds(7))
        },
    ]
}
