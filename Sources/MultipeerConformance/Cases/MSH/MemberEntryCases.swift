/// Chapter 11: the entries of members, and which of them are believed.
enum MemberEntryCases {
    static let all: [Case] = [
        Case(
            "MSH-08", "11.4", level: .mesh, "only what is newer is believed",
            stimulus:
                "T1 sends an entry of X with sequence 5, then 4 with another list, then 5 with another list, then 6",
            expectation: "T2 receives only 5 and 6", rules: ["mesh.newer", "mesh.flood"],
            bugs: [.seen("believes-old", by: "is sent after")]
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(2)
            let (one, two) = (try members[0].linked(), try members[1].linked())
            let stranger = try caseRun.member(session, "stranger")
            func tell(_ sequence: UInt32, _ list: [Endpoint]) {
                one.send(
                    MemberEntry(stranger.endpoint, sequence, list: list, data: stranger.data.bytes).frame)
            }
            let far = Endpoint(uid: caseRun.random.bytes(16), instance: caseRun.random.bytes(8))
            tell(5, [members[0].endpoint])
            try two.expectEntry(of: stranger.endpoint) { $0.sequence == 5 }
            tell(4, [far])
            tell(5, [far])
            tell(6, [endpoint])
            let next = try two.expectEntry(of: stranger.endpoint)
            try caseRun.require(next.sequence == 6, "sequence \(next.sequence) is sent after 5")
        },
        Case(
            "MSH-09", "11.4", level: .mesh, "a session's own list of links takes precedence",
            stimulus:
                "T1 sends an entry of S itself, without links, with a higher sequence; then one above 2^31",
            expectation: "S answers with its own list and the next higher sequence; the other is ignored",
            rules: ["mesh.own"], bugs: [.seen("believes-forgery", by: "made up")], orders: UIDOrder.allCases
        ) { caseRun in
            let (_, endpoint, members) = try caseRun.mesh(2)
            let (one, two) = (try members[0].linked(), try members[1].linked())
            let both = Set(members.map(\.endpoint))
            let own = try two.expectEntry(of: endpoint) { Set($0.list) == both }
            one.send(MemberEntry(endpoint, own.sequence + 10, list: [], data: own.data).frame)
            let next = try two.expectEntry(of: endpoint)
            try caseRun.require(Set(next.list) == both, "S sends a list of itself that T1 made up")
            try caseRun.require(
                next.sequence == own.sequence + 11, "sequence \(next.sequence) after \(own.sequence + 10)")
            one.send(MemberEntry(endpoint, 1 << 31, list: [], data: own.data).frame)
            try two.expectNoEntry(of: endpoint, for: .seconds(1))
        },
        Case(
            "MSH-10", "11.9", level: .mesh, "a malformed entry ends the link",
            stimulus:
                "33 and 32 members; cut short; unsorted; twice the same; its own; data of another endpoint, addressed, without MESH",
            expectation: "FLOOD for 33, PROTOCOL for all others", rules: ["mesh.entry"],
            bugs: [.seen("entries-unchecked", by: "CLOSE(PROTOCOL)")],
            seconds: 60
        ) { caseRun in
            let session = try caseRun.session()
            let (endpoint, blob) = try session.meshData()
            let some = (0..<33).map { Endpoint(uid: [9, UInt8($0)] + .pattern(14), instance: .pattern(8)) }
            func member() throws -> Member { try caseRun.member(session, "liar") }
            func refused(_ what: String, _ code: CloseCode = .protocol, _ payload: (Member) -> [UInt8]) throws
            {
                caseRun.note(what)
                let member = try member()
                try session.connect(member.data.bytes)
                let link = try member.join(session, blob)
                link.send(Frame(.members, payload(member)))
                do { try link.expectClose(code) } catch { throw CaseFailure("\(what): \(error)") }
                try session.expectNotConnected(member.endpoint.uid)
            }
            try refused("33 members", .flood) { $0.entry(some).payload }
            try refused("32 members") { $0.entry(Array(some.prefix(32))).payload }
            try refused("cut short") { Array($0.entry([endpoint]).payload.prefix(60)) }
            try refused("half an endpoint") { Array($0.entry([endpoint]).payload.prefix(20)) }
            try refused("without data") { Array($0.entry([endpoint]).payload.prefix(53)) }
            try refused("unsorted") {
                var entry = $0.entry(Array(some.prefix(2)))
                entry.list.reverse()
                return entry.payload
            }
            try refused("twice the same") {
                var entry = $0.entry([some[0]])
                entry.list.append(some[0])
                return entry.payload
            }
            try refused("its own") { $0.entry([$0.endpoint]).payload }
            try refused("data of another endpoint") {
                MemberEntry($0.endpoint, 1, list: [endpoint], data: blob).payload
            }
            try refused("addressed data") {
                var data = $0.data
                data.recipient = session.uid
                return MemberEntry($0.endpoint, 1, list: [endpoint], data: data.bytes).payload
            }
            try refused("data without MESH") {
                var data = $0.data
                data.flags = 0
                return MemberEntry($0.endpoint, 1, list: [endpoint], data: data.bytes).payload
            }
        },
        Case(
            "MSH-11", "11.6", level: .mesh, "an endpoint listed by only one side is not a member",
            stimulus:
                "T1 lists 20 endpoints that do not list it; 40 others list T1 that T1 does not list; all with T1's address",
            expectation: "no dial; S keeps at most 32 entries, and sends T2 no more",
            rules: ["mesh.component", "mesh.entries"],
            bugs: [
                .seen("dials-one-sided", by: "S dials"), .seen("entries-without-limit", by: "S sends"),
            ], seconds: 30
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(1)
            let one = try members[0].linked()
            let listed = caseRun.strangers(20, of: session, like: members[0], listing: [])
            let listing = caseRun.strangers(40, of: session, like: members[0], listing: [members[0].endpoint])
            let calls = members[0].tester.calls.count
            one.send(members[0].entry([endpoint] + listed.map(\.endpoint)).frame)
            for entry in listed + listing {
                one.send(entry.frame)
                caseRun.loop.wait(.milliseconds(60))
            }
            caseRun.loop.wait(.seconds(2))
            try caseRun.require(
                members[0].tester.calls.count == calls, "S dials who is listed by one side alone")
            let (_, blob) = try session.meshData()
            let two = try caseRun.member(session, "late")
            try session.connect(two.data.bytes)
            let link = try two.join(session, blob)
            caseRun.loop.wait(.seconds(3))
            let told = Set(link.entries.map(\.endpoint)).count
            try caseRun.require(told <= 32, "S sends \(told) entries")
            try one.expectAlive()
        },
        Case(
            "MSH-12", "11.5", level: .mesh, "a thousand entries a second are a flood",
            stimulus: "1,000 MEMBERS, each newer than the one before, at once", expectation: "FLOOD",
            rules: ["mesh.rate-limit"], bugs: [.seen("members-without-limit", by: "CLOSE(FLOOD)")]
        ) { caseRun in
            let (_, endpoint, members) = try caseRun.mesh(1)
            let link = try members[0].linked()
            link.send((0..<1_000).map { _ in members[0].entry([endpoint]).frame })
            try link.expectClose(.flood)
        },
    ]
}

extension TesterLink {
    /// Checks that no further entry of this endpoint comes.
    func expectNoEntry(of endpoint: Endpoint, for duration: Duration) throws {
        caseRun.loop.wait(duration) { ending != nil || entries.contains { $0.endpoint == endpoint } }
        if let entry = entries.first(where: { $0.endpoint == endpoint }) {
            throw CaseFailure("\(name): sequence \(entry.sequence) of \(endpoint.uid.hex) comes")
        }
        if let ending { throw CaseFailure("\(name): \(ending)") }
    }
}
