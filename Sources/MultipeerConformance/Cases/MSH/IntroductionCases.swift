/// Chapter 11: which peers are introduced to which.
enum IntroductionCases {
    static let all: [Case] = [
        Case(
            "MSH-01", "11.3", level: .mesh, "two peers of one member are introduced to each other",
            stimulus: "T1 links with S and reports a link to T2; T2 has never dialled S",
            expectation:
                "S dials T2 with the mesh data of T1's report, links, and reports its links to both",
            rules: ["mesh.link", "mesh.flood", "mesh.dial", "mesh.component"],
            bugs: [
                .seen("never-introduces", by: "no MEMBERS"),
                .seen("never-dials-members", by: "does not dial"),
            ],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(1)
            let one = try members[0].linked()
            let own = try one.expectEntry(of: endpoint) { $0.list == [members[0].endpoint] }
            let two = try caseRun.member(session, "introduced")
            one.send(two.entry([members[0].endpoint]).frame)
            one.send(members[0].entry([endpoint, two.endpoint]).frame)
            let other = try two.tester.accepted(try two.linkParameters(own.data))
            try other.complete()
            try session.expect("connected", of: two.endpoint.uid)
            let both = Set([members[0].endpoint, two.endpoint])
            try one.expectEntry(of: endpoint) { Set($0.list) == both && $0.sequence > own.sequence }
            try other.expectEntry(of: endpoint) { Set($0.list) == both }
        },
        Case(
            "MSH-02", "11.6", level: .mesh, "a chain of eight becomes a clique",
            stimulus: "eight sessions of S, each with the data of the next",
            expectation: "all 28 links within 10 s", rules: ["mesh.dial", "mesh.flood"],
            bugs: [.seen("never-introduces", by: "not all sessions are linked")],
            seconds: 60
        ) { caseRun in
            let sessions = try (0..<8).map { _ in try caseRun.session() }
            for (one, other) in zip(sessions, sessions.dropFirst()) { try one.acquaint(with: other) }
            try SessionGroup(sessions, in: caseRun).expectWhole(within: .seconds(10))
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-13", "11.3", level: .mesh, "no entries go over a plain link of a session that prefers TLS",
            stimulus: "T prefers none, S optional; the data of both has MESH",
            expectation: "no MEMBERS, none accepted",
            rules: ["mesh.plain", "hello.members"],
            bugs: [.seen("tells-over-plain", by: "MEMBERS on a direct link")]
        ) { caseRun in
            try caseRun.expectDirect(.init(preference: .optional), isMesh: true)
        },
        Case(
            "MSH-14", "11.3", level: .mesh, "data without MESH makes a direct link",
            stimulus: "T and S link with plain data without MESH",
            expectation: "no MEMBERS; a received one is refused with PROTOCOL",
            rules: ["mesh.link", "hello.members"],
            bugs: [.seen("introduces-manual", by: "MEMBERS on a direct link")], orders: UIDOrder.allCases
        ) { caseRun in
            try caseRun.expectDirect(.init(), isMesh: false)
        },
        Case(
            "MSH-07", "11.7", level: .mesh, "an unreachable member is reported, and tried again",
            stimulus: "T1 reports T2, whose port is closed",
            expectation: "S reports notConnected after 30 s, keeps T1, and dials again",
            rules: ["mesh.retry", "mesh.unreported"],
            bugs: [
                .seen("never-retries", by: "not dialled again"),
                .seen("reports-each-attempt", by: "a silent attempt is reported"),
            ],
            seconds: 60
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(1)
            let two = try caseRun.member(session, "unreachable")
            let link = try members[0].linked()
            link.send(two.entry([members[0].endpoint]).frame)
            link.send(members[0].entry([endpoint, two.endpoint]).frame)
            try session.expect("connecting", of: two.endpoint.uid)
            let start = ContinuousClock.now
            // Every connection is refused as it comes: the port might as well be closed.
            var before = 0
            for seconds in [25, 40] {
                before = two.tester.calls.count
                let end = start + .seconds(seconds)
                while ContinuousClock.now < end {
                    caseRun.loop.wait(.milliseconds(100))
                    two.tester.dismissCallers()
                }
            }
            try session.expectNotConnected(two.endpoint.uid, within: .seconds(2))
            try caseRun.require(two.tester.calls.count > before, "the member is not dialled again")
            try caseRun.require(session.states(of: two.endpoint.uid).isEmpty, "a silent attempt is reported")
            try link.expectAlive()
        },
        Case(
            "MSH-15", "11.7", level: .mesh, "a member that fails is lost for all",
            stimulus: "T1 becomes silent, T2 continues",
            expectation: "notConnected for T1 within 13 s, and an entry without it",
            rules: ["live.idle-timeout", "mesh.own"],
            bugs: [.seen("never-dies", by: "does not report")], seconds: 40
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(2)
            let other = try members[1].linked()
            try members[0].linked().abandon()
            try session.expectNotConnected(members[0].endpoint.uid, within: .seconds(13))
            try other.expectEntry(of: endpoint, within: .seconds(3)) { $0.list == [members[1].endpoint] }
        },
    ]
}

extension CaseRun {
    /// Checks a link that makes no introductions.
    fileprivate func expectDirect(_ settings: SubjectSession.Settings, isMesh: Bool) throws {
        let session = try session(settings)
        let tester = try tester(beside: session, preference: .none)
        if isMesh { tester.flags = ConnectionData.Flag.mesh }
        let theirs =
            isMesh
            ? try session.data(for: tester.endpoint.uid, mesh: true)
            : try session.data(for: tester.endpoint.uid)
        let data = tester.data(for: session.uid)
        try session.connect(data.bytes)
        let theirData: ConnectionData
        do throws(Malformed) { theirData = try ConnectionData(theirs) } catch {
            throw CaseFailure("\(error)")
        }
        let linkParameters = LinkParameters(
            mine: data.bytes, myToken: data.token, theirs: theirs, theirData: theirData, me: tester.endpoint)
        let link = try tester.link(linkParameters)
        try require(link.receivedHello?.members.isEmpty ?? false, "HELLO lists members")
        try session.expect("connected", of: tester.endpoint.uid)
        loop.wait(.seconds(2))
        try require(link.entries.isEmpty, "MEMBERS on a direct link")
        let member = Member(tester)
        link.send(member.entry([theirData.endpoint]).frame)
        try link.expectClose(.protocol)
    }
}
