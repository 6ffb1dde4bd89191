/// Chapter 11: how many members a mesh may have.
enum MeshSizeCases {
    static let all: [Case] = [
        Case(
            "MSH-03", "11.8", level: .mesh, "the ninth is sent away",
            stimulus: "T1 and T2, linked to S, and five members that both report; T8 is invited, too",
            expectation: "FULL in answer to its HELLO, for T and for the application; the link to T1 remains",
            rules: ["mesh.full"], bugs: [.seen("admits-ninth", by: "CLOSE(FULL)")], orders: UIDOrder.allCases
        ) { caseRun in
            let (session, one) = try caseRun.reporting(5)
            try caseRun.refusesNinth(session) { _ in }
            try one.expectAlive()
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-06", "11.8", level: .mesh, "two meshes that together exceed the limit stay apart",
            stimulus: "S has T1, T2 and, by their reports, two more; T's HELLO lists three others: nine",
            expectation: "FULL; the link to T1 remains", rules: ["mesh.full", "hello.members"],
            bugs: [.seen("admits-ninth", by: "CLOSE(FULL)")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (session, one) = try caseRun.reporting(2)
            try caseRun.refusesNinth(session) { tester in
                tester.members = (0..<3).map {
                    Endpoint(uid: [250, $0] + .pattern(14), instance: .pattern(8))
                }
            }
            try one.expectAlive()
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-05", "11.7", level: .mesh, "two meshes of four become one of eight",
            stimulus: "eight sessions of S, four and four; then one of each gets the other's data",
            expectation: "all are linked within 15 s", rules: ["mesh.dial", "mesh.flood"],
            bugs: [.seen("never-introduces", by: "not all sessions are linked")],
            seconds: 90
        ) { caseRun in
            let left = try SessionGroup.linked(4, in: caseRun).sessions
            let right = try SessionGroup.linked(4, in: caseRun).sessions
            try left[1].acquaint(with: right[2])
            try SessionGroup(left + right, in: caseRun).expectWhole(within: .seconds(15))
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-04", "11.8", level: .mesh, "of two members admitted at the same moment, one leaves",
            stimulus:
                "twenty times, four at once: a clique of seven sessions; two of them, chosen at random, admit one more each, half of the times up to 40 ms apart",
            expectation:
                "within 30 s at most eight remain, each linked to all others, and to no other peer",
            rules: ["mesh.evict", "mesh.counted"],
            bugs: [
                .seen("never-introduces", by: "not all sessions are linked"),
                .seen("never-leaves", by: "see each other"),
            ], seconds: 240
        ) { caseRun in
            for _ in 0..<5 {
                let crowds = try (0..<4).map { _ in try NearlyFullMesh(caseRun) }
                for (number, crowd) in crowds.enumerated() {
                    try crowd.admit(.milliseconds(number % 2 * Int(caseRun.random.next() % 41)))
                }
                for crowd in crowds { try crowd.group.expectConsistent(within: .seconds(30)) }
                for crowd in crowds { try crowd.group.forget() }
            }
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-16", "11.8", level: .mesh, "the one that is one too many leaves",
            stimulus:
                "S has the highest uid of nine: seven are linked to it, and two of those list an eighth",
            expectation: "after 1 to 3 s FULL on all links, and the application is notified that S left",
            rules: ["mesh.evict", "mesh.counted"], bugs: [.seen("never-leaves", by: "CLOSE(FULL)")],
            seconds: 40
        ) { caseRun in
            let (_, endpoint, members) = try caseRun.mesh(7, order: .testerLower)
            let links = try members.map { try $0.linked() }
            let eighth = caseRun.strangers(
                1, of: caseRun.sessions[caseRun.sessions.count - 1], like: members[0],
                listing: members.prefix(2).map(\.endpoint))[0]
            for member in members {
                let others = members.map(\.endpoint).filter { $0 != member.endpoint }
                let more = member.endpoint == members[0].endpoint || member.endpoint == members[1].endpoint
                let list = [endpoint] + others + (more ? [eighth.endpoint] : [])
                try member.linked().send(member.entry(list).frame)
            }
            let start = ContinuousClock.now
            links[0].send(eighth.frame)
            for link in links { try link.expectClose([.full], within: .seconds(6)) }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            try caseRun.require((0.9...5).contains(seconds), "S leaves after \(seconds) s")
            caseRun.isSessionSpent = true
        },
    ]
}

/// Seven sessions of the subject that are linked, and two that are given the data of one of them each.
private struct NearlyFullMesh {
    let clique: [SubjectSession]
    let newcomers: [SubjectSession]
    private let caseRun: CaseRun
    /// The `connect` requests that admit the newcomers: the session, and the data.
    private let words: [[(SubjectSession, [UInt8])]]

    init(_ caseRun: CaseRun) throws {
        self.caseRun = caseRun
        clique = try SessionGroup.linked(7, in: caseRun).sessions
        newcomers = try (0..<2).map { _ in try caseRun.session() }
        let sponsors = clique.shuffled(using: &caseRun.random)
        words = try zip(newcomers, sponsors).map { newcomer, sponsor in
            [
                (sponsor, try newcomer.data(for: sponsor.uid, mesh: true)),
                (newcomer, try sponsor.data(for: newcomer.uid, mesh: true)),
            ]
        }
    }

    var group: SessionGroup { SessionGroup(clique + newcomers, in: caseRun) }

    /// Starts both newcomers and their sponsors; returns when both newcomers have the result.
    func admit(_ pause: Duration) throws {
        for (index, pair) in words.enumerated() {
            if index > 0, pause > .zero { caseRun.loop.wait(pause) }
            for (session, data) in pair { _ = session.post("connect", ["data": .string(data.hex)]) }
        }
        for (newcomer, pair) in zip(newcomers, words) {
            let sponsor = pair[0].0.uid.hex
            let told = newcomer.subject.event(within: .seconds(10)) {
                $0["session"]?.text == newcomer.handle && $0["peer"]?.text == sponsor
                    && ["connected", "notConnected"].contains($0["state"]?.text)
            }
            try caseRun.require(told != nil, "\(newcomer.handle) is not notified of the outcome")
        }
    }
}

extension CaseRun {
    /// Creates a session with links to two members, which both report `count` more. Returns the link to the first.
    fileprivate func reporting(_ count: Int) throws -> (SubjectSession, TesterLink) {
        let (session, endpoint, members) = try mesh(2)
        let listing = members.map(\.endpoint).sorted { $0.bytes.precedes($1.bytes) }
        let more = strangers(count, of: session, like: members[0], listing: listing)
        for entry in more { try members[0].linked().send(entry.frame) }
        for member in members {
            try member.linked().send(member.entry([endpoint] + more.map(\.endpoint)).frame)
        }
        loop.wait(.seconds(1))
        return (session, try members[0].linked())
    }

    /// Checks that a peer that would be one too many receives FULL.
    fileprivate func refusesNinth(_ session: SubjectSession, _ change: (Tester) -> Void) throws {
        let ninth = try member(session, "ninth")
        change(ninth.tester)
        let (_, blob) = try session.meshData()
        try session.connect(ninth.data.bytes)
        let link = try ninth.tester.dial(try ninth.linkParameters(blob))
        try link.expectReady()
        link.sendHello()
        try link.expectClose(.full)
        try session.expectNotConnected(ninth.endpoint.uid, [.full])
    }
}
