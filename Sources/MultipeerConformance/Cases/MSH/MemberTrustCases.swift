/// Chapter 11: from whom a session takes a member's entry, and when it gives a member up.
enum MemberTrustCases {
    static let all: [Case] = [
        Case(
            "MSH-33", "11.7", level: .mesh, "entries of a member that said goodbye are ignored",
            stimulus:
                "T1 leaves with GOODBYE; T2 sends a newer entry of T1, and one of its own that lists T1",
            expectation: "T3 receives that of T2, and none of T1", rules: ["mesh.departed"],
            bugs: [.seen("believes-departed", by: "of T1 that has left")]
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(3)
            let links = try members.map { try $0.linked() }
            let gone = members[0].endpoint
            links[0].send(.close(.goodbye))
            try links[0].expectEnd()
            try session.expectNotConnected(gone.uid)
            let late = members[0].entry([endpoint, members[1].endpoint])
            links[1].send(late.frame)
            try members[1].mark(to: links[2], listing: [endpoint, gone])
            try caseRun.require(
                !links[2].holds(late), "S sends an entry of T1 that has left")
        },
        Case(
            "MSH-34", "11.4", level: .mesh, "a linked member's entry is taken from its link alone",
            stimulus: "T2 sends a newer entry of T1, which is linked; then T1's connection breaks",
            expectation: "T3 does not receive it while T1 is linked, and receives it afterwards",
            rules: ["mesh.first-hand"],
            bugs: [
                .seen("takes-hearsay", by: "that T2 has sent"), .seen("forgets-set-aside", by: "no MEMBERS"),
            ]
        ) { caseRun in
            let (_, endpoint, members) = try caseRun.mesh(3)
            let links = try members.map { try $0.linked() }
            let other = members[0].entry([endpoint, members[1].endpoint])
            links[1].send(other.frame)
            try members[1].mark(to: links[2], listing: [endpoint, members[0].endpoint])
            try caseRun.require(
                !links[2].holds(other), "S sends the entry of T1 that T2 has sent")
            links[0].connection.reset()
            try links[2].expectEntry(of: members[0].endpoint) { $0.sequence == other.sequence }
        },
        Case(
            "MSH-35", "11.5", level: .mesh, "entries have a budget of their own",
            stimulus: "240 MEMBERS at once, each newer than the one before; then 120",
            expectation: "the link lives; FLOOD, though the budget of control frames is not used up",
            rules: ["mesh.rate-limit"], bugs: [.seen("members-are-control", by: "CLOSE(FLOOD)")]
        ) { caseRun in
            let (_, endpoint, members) = try caseRun.mesh(1)
            let link = try members[0].linked()
            link.send((0..<240).map { _ in members[0].entry([endpoint]).frame })
            try link.expectAlive()
            link.send((0..<120).map { _ in members[0].entry([endpoint]).frame })
            try link.expectClose(.flood)
        },
        Case(
            "MSH-36", "11.4", level: .mesh, "mesh data lives for a day",
            stimulus: "T links with S, and reads its entry",
            expectation: "open data with MESH and a lifetime of 86,400 s", rules: ["mesh.data"],
            bugs: [.seen("mesh-data-short", by: "a lifetime of")]
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.member(session, "member")
            // The application's own data may have another lifetime.
            let blob = try session.data(for: tester.endpoint.uid, mesh: true)
            try session.connect(tester.data.bytes)
            let link = try tester.join(session, blob)
            let theirs = try ConnectionData(ofSubject: blob)
            let entry = try link.expectEntry(of: theirs.endpoint)
            let data = try ConnectionData(ofSubject: entry.data)
            try caseRun.require(data.lifetime == 86_400, "a lifetime of \(data.lifetime) s")
            try caseRun.require(
                data.flags & ConnectionData.Flag.mesh != 0 && data.recipient == nil, "it is not mesh data")
        },
        Case(
            "MSH-37", "11.6", level: .mesh,
            "a session keeps an endpoint with its own uid, and does not dial it",
            stimulus: "T1 reports a member with S's uid and another instance, at an address of T",
            expectation: "T2 receives its entry; no dial within 2.5 s", rules: ["mesh.same-uid"],
            bugs: [.seen("dials-own-uid", by: "S dials")]
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(2)
            let twin = Member(try Tester("twin", uid: session.uid, preference: .none, in: caseRun))
            let link = try members[0].linked()
            link.send(twin.entry([members[0].endpoint]).frame)
            link.send(members[0].entry([endpoint, twin.endpoint]).frame)
            try members[1].linked().expectEntry(of: twin.endpoint)
            caseRun.loop.wait(.milliseconds(2_500)) { !twin.tester.calls.isEmpty }
            try caseRun.require(twin.tester.calls.isEmpty, "S dials an endpoint with its own uid")
        },
        Case(
            "MSH-43", "11.6", level: .mesh, "of two instances of a peer the later is dialled first",
            stimulus:
                "T1 sends entries of two instances of T2, each with its own address; then it lists both",
            expectation: "S dials the second, and links; it does not dial the first",
            rules: ["mesh.same-uid"],
            bugs: [.seen("dials-former-instance", by: "former instance")]
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(1)
            let link = try members[0].linked()
            let former = try caseRun.member(session, "former")
            let uid = former.endpoint.uid
            let later = Member(try Tester("later", uid: uid, preference: session.preference, in: caseRun))
            let instances = [former, later]
            for one in instances { link.send(one.entry([members[0].endpoint]).frame) }
            let list = (instances.map(\.endpoint) + [endpoint]).sorted { $0.bytes.precedes($1.bytes) }
            link.send(members[0].entry(list).frame)
            caseRun.loop.wait(.seconds(5)) { instances.contains { !$0.tester.calls.isEmpty } }
            try caseRun.require(former.tester.calls.isEmpty, "S dials the former instance")
            let (_, blob) = try session.meshData()
            try later.tester.accepted(try later.linkParameters(blob)).complete()
            try session.expect("connected", of: uid)
            try caseRun.require(former.tester.calls.isEmpty, "S dials the former instance")
        },
        Case(
            "MSH-38", "11.6", level: .mesh, "a session withdraws from what is no longer a member",
            stimulus: "T1 reports T2, which S dials; then T1 no longer lists T2",
            expectation: "UNKNOWN_PEER on the connection to T2, which is not dialled again for 2 s",
            rules: ["mesh.withdraw"], bugs: [.seen("never-withdraws", by: "CLOSE(UNKNOWN_PEER)")]
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(1)
            let one = try members[0].linked()
            let two = try caseRun.member(session, "brief")
            one.send(two.entry([members[0].endpoint]).frame)
            one.send(members[0].entry([endpoint, two.endpoint]).frame)
            let (_, blob) = try session.meshData()
            let link = try two.tester.accepted(try two.linkParameters(blob))
            try link.expectReady()
            try link.expectHello()
            one.send(members[0].entry([endpoint]).frame)
            try link.expectClose(.unknownPeer)
            let calls = two.tester.calls.count
            caseRun.loop.wait(.seconds(2)) { two.tester.calls.count > calls }
            try caseRun.require(two.tester.calls.count == calls, "S dials T2 again")
            try session.expectNotConnected(two.endpoint.uid)
            try one.expectAlive()
        },
        Case(
            "MSH-39", "11.6", level: .mesh, "a member that was dialling when its link ended has time to link",
            stimulus:
                "T, the only member, has a candidate when its link breaks; it selects 2 s later. Another T never does",
            expectation: "SELECTED; UNKNOWN_PEER after 4 s at the earliest, or TIMEOUT",
            rules: ["mesh.withdraw"],
            bugs: [.seen("forgets-caller", by: "SELECTED expected")], orders: [.testerLower], seconds: 30
        ) { caseRun in
            let (session, _, members) = try caseRun.mesh(1)
            let (_, blob) = try session.meshData()
            let (other, _, silent) = try caseRun.mesh(1)
            let waiting = try caseRun.calling(silent[0], try other.meshData().1)
            let start = ContinuousClock.now
            let link = try caseRun.calling(members[0], blob)
            caseRun.loop.wait(.seconds(2)) { link.ending != nil }
            link.send(.select)
            try link.expect(.selected)
            try waiting.expectClose(.unknownPeer, .timeout, within: .seconds(8))
            let delay = ContinuousClock.now - start
            try caseRun.require(delay > .milliseconds(3_500), "S withdraws after \(delay)")
            try session.expect("connected", of: members[0].endpoint.uid)
            link.send(members[0].entry([try session.meshData().0]).frame)
            try link.expectAlive()
        },
        Case(
            "MSH-44", "11.6", level: .mesh, "a member that was cut off is dialled until it is back",
            stimulus:
                "T, the only member, breaks its link, refuses connections for 6 s, and accepts the next",
            expectation: "S dials within 3 s, links, and reports nothing before that",
            rules: ["mesh.missed", "mesh.unreported"], bugs: [.seen("forgets-lost", by: "does not dial")],
            orders: UIDOrder.allCases, seconds: 40
        ) { caseRun in
            let (session, _, members) = try caseRun.mesh(1)
            let (_, blob) = try session.meshData()
            let (member, uid) = (members[0], members[0].endpoint.uid)
            let before = session.states(of: uid)
            try member.linked().connection.reset()
            try session.expectNotConnected(uid)
            let end = ContinuousClock.now + .seconds(6)
            while ContinuousClock.now < end {
                caseRun.loop.wait(.milliseconds(100))
                member.tester.dismissCallers()
            }
            try caseRun.require(session.states(of: uid) == before, "a silent attempt is reported")
            let link = try member.tester.accepted(try member.linkParameters(blob), within: .seconds(3))
            try link.complete()
            try session.expect("connected", of: uid)
            link.send(member.entry([try session.meshData().0]).frame)
            try link.expectAlive()
        },
        Case(
            "MSH-45", "11.6", level: .mesh, "a member that said goodbye is not dialled",
            stimulus: "T, the only member, leaves with GOODBYE, and listens on",
            expectation: "no dial within 4 s",
            rules: ["mesh.missed", "mesh.departed"], bugs: [.seen("misses-departed", by: "S dials")]
        ) { caseRun in
            let (session, _, members) = try caseRun.mesh(1)
            let tester = members[0].tester
            try members[0].linked().send(.close(.goodbye))
            try members[0].linked().expectEnd()
            try session.expectNotConnected(members[0].endpoint.uid)
            let calls = tester.calls.count
            caseRun.loop.wait(.seconds(4)) { tester.calls.count > calls }
            try caseRun.require(tester.calls.count == calls, "S dials a member that has left")
        },
        Case(
            "MSH-40", "11.4", level: .mesh, "the entry of a mesh link has its place when 32 are held",
            stimulus: "T1 reports 31 members that exist nowhere; then T2 links, and sends its entry",
            expectation: "T1 receives the entry of T2", rules: ["mesh.entries"],
            bugs: [.seen("no-place-for-members", by: "no MEMBERS")], seconds: 30
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(1)
            let one = try members[0].linked()
            let listing = [members[0].endpoint]
            let invented = caseRun.strangers(30, of: session, like: members[0], listing: listing)
            for entry in invented { one.send(entry.frame) }
            one.send(members[0].entry([endpoint] + invented.map(\.endpoint)).frame)
            try one.expectAlive()
            let two = try caseRun.member(session, "real")
            let (_, blob) = try session.meshData()
            try session.connect(two.data.bytes)
            let link = try two.join(session, blob)
            link.send(two.entry([endpoint]).frame)
            try one.expectEntry(of: two.endpoint, within: .seconds(5))
        },
        Case(
            "MSH-41", "11.6", level: .mesh, "newer mesh data replaces that of an attempt",
            stimulus:
                "T1 reports T2 with an address that accepts and is silent; 5 s later T2's next entry has another address",
            expectation: "S dials that one, and names the newer data in HELLO", rules: ["mesh.dial"],
            bugs: [.seen("keeps-first-mesh-data", by: "does not dial")], seconds: 40
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(1)
            let one = try members[0].linked()
            let trap = try caseRun.tester(beside: session, "trap")
            let two = try caseRun.member(session, "moved")
            var before = two.data
            before.candidates = trap.data(for: nil).candidates
            before.token = caseRun.random.bytes(32)
            one.send(MemberEntry(two.endpoint, 1, list: listing(members), data: before.bytes).frame)
            one.send(members[0].entry([endpoint, two.endpoint]).frame)
            caseRun.loop.wait(.seconds(5)) { !trap.calls.isEmpty }
            try caseRun.require(!trap.calls.isEmpty, "S dials no member")
            caseRun.loop.wait(.milliseconds(5_200))
            _ = two.entry(listing(members))
            one.send(two.entry(listing(members)).frame)
            let (_, blob) = try session.meshData()
            let link = try two.tester.accepted(try two.linkParameters(blob), within: .seconds(12))
            try link.complete()
            try session.expect("connected", of: two.endpoint.uid)
        },
        Case(
            "MSH-42", "11.4", level: .mesh, "a session whose certificate fits no entry is a star",
            stimulus: "S has an identity with a certificate of 5,000 bytes; T asks for data with MESH",
            expectation: "data without MESH, or none; or no such session", rules: ["mesh.certificate"],
            bugs: [.seen("mesh-with-any-certificate", by: "has MESH")]
        ) { caseRun in
            let file = try caseRun.file(try TLSIdentity(padding: 5_000).pem)
            let settings = SubjectSession.Settings(preference: .required, identity: file)
            guard let session = try caseRun.sessionIfPossible(settings) else { return }
            let answer = try session.ask("data", ["mesh": .bool(true)])
            guard let bytes = answer["data"]?.text.flatMap({ [UInt8](hex: $0) }) else { return }
            let data = try ConnectionData(ofSubject: bytes)
            try caseRun.require(data.flags & ConnectionData.Flag.mesh == 0, "its data has MESH")
        },
    ]

    private static func listing(_ members: [Member]) -> [Endpoint] { members.map(\.endpoint) }
}

extension CaseRun {
    /// Returns a session with these settings; nil if the subject refuses them.
    fileprivate func sessionIfPossible(_ settings: SubjectSession.Settings) throws -> SubjectSession? {
        do { return try session(settings) } catch let failure as CaseFailure where !failure.isOfProcess {
            note("\(failure)")
            return nil
        }
    }

    /// Dials once more, up to CONFIRM both ways, and breaks the member's link.
    fileprivate func calling(_ member: Member, _ blob: [UInt8]) throws -> TesterLink {
        let link = try member.tester.dial(try member.linkParameters(blob))
        try link.becomeCandidate()
        // Two connections have no order between them, and S sends nothing when it has read CONFIRM.
        loop.wait(.milliseconds(200))
        try member.linked().connection.reset()
        return link
    }
}

extension Member {
    /// Sends an entry of this member, and waits until another member has received it: what came before it was handled.
    fileprivate func mark(to other: TesterLink, listing: [Endpoint]) throws {
        let entry = entry(listing)
        let link = try linked()
        link.send(entry.frame)
        other.caseRun.loop.wait(.seconds(10)) { other.holds(entry) || other.ending != nil }
        guard other.holds(entry) else {
            throw CaseFailure("\(other.name): the entry of a member does not come")
        }
    }
}

extension TesterLink {
    /// Whether this entry was received, and not taken.
    fileprivate func holds(_ entry: MemberEntry) -> Bool {
        entries.contains { $0.endpoint == entry.endpoint && $0.sequence == entry.sequence }
    }
}
