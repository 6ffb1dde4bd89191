/// Chapter 4: for which peer data is, and where it leads.
enum DataUseCases {
    static let all: [Case] = [
        Case(
            "DATA-12", "4.2", "a session does not connect to itself", stimulus: "data with S's own uid",
            expectation: "SELF, nothing is dialled", rules: ["data.self"],
            bugs: [.seen("connects-to-itself", by: "the data is taken")]
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try Tester("twin", uid: session.uid, preference: .none, in: caseRun)
            let twins = UnpairedSession(session, tester)
            try twins.refuse(.itself, "own uid", tester.data(for: nil).bytes)
            let own = try session.data(for: nil)
            try twins.refuse(.itself, "own data", own)
        },
        Case(
            "DATA-13", "4.2", "data for another peer is refused", stimulus: "RECIPIENT is another uid",
            expectation: "UNKNOWN_PEER, nothing is dialled; without RECIPIENT the data is taken",
            rules: ["data.recipient"],
            bugs: [.seen("data-ignores-recipient", by: "the data is taken")], orders: UIDOrder.allCases
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            let foreign = strangers.tester.data(for: caseRun.random.bytes(16)).bytes
            try strangers.refuse(.unknownPeer, "another recipient", foreign)
            _ = try caseRun.introduce(strangers.session, strangers.tester) { $0.recipient = nil }.link()
        },
        Case(
            "DATA-14", "4.3", "a session returns the same data twice",
            stimulus: "data for one peer, twice",
            expectation: "the same bytes", rules: ["data.idempotent"],
            bugs: [.seen("data-new-each-time", by: "the data differs")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .optional))
            let peer = caseRun.random.bytes(16)
            let first = try session.data(for: peer)
            _ = try session.data(for: caseRun.random.bytes(16))
            try caseRun.require(try session.data(for: peer) == first, "the data differs")
        },
        Case(
            "DATA-15", "4.4", "forbidden addresses are not dialled",
            stimulus:
                "candidates 0.0.0.0, its IPv4-mapped form, 224.0.0.1, 255.255.255.255, port 0, ports below 1024, then a good one",
            expectation: "only the good one is dialled, and linked", rules: ["dial.forbidden"],
            bugs: [.seen("dials-forbidden", by: "is dialled"), .seen("dials-low-port", by: "is dialled")],
            orders: [.testerHigher]
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let trap = try caseRun.tester(beside: session, "trap")
            var low: Tester?
            for port: UInt16 in [1_023, 1_022, 999] where low == nil {
                low = try? Tester(
                    "low port", uid: trap.endpoint.uid, preference: .none, port: port, in: caseRun)
            }
            if low == nil { caseRun.note("no port below 1024 can be had: those are not watched") }
            let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]
            let pair = try caseRun.introduce(session, tester) { data in
                let good = data.candidates[0]
                data.candidates = [
                    Candidate(address: [0, 0, 0, 0], port: trap.listener.localPort),
                    Candidate(address: mapped + [0, 0, 0, 0], port: trap.listener.localPort),
                    Candidate(address: [0, 0, 0, 1], port: trap.listener.localPort),
                    Candidate(address: [224, 0, 0, 1], port: 4_000),
                    Candidate(address: [255, 255, 255, 255], port: 4_000), .loopback(0),
                    .loopback(low?.listener.localPort ?? 1_023),
                    Candidate(address: mapped + [127, 0, 0, 1], port: low?.listener.localPort ?? 1_023), good,
                ]
            }
            let link = try pair.link()
            caseRun.loop.wait(.seconds(1))
            try caseRun.require(trap.calls.isEmpty, "an unspecified address is dialled")
            try caseRun.require(low?.calls.isEmpty ?? true, "a port below 1024 is dialled")
            try link.expectAlive()
        },
        Case(
            "DATA-16", "4.4", "many dead candidates do not prevent the use of the live one",
            stimulus:
                "six candidates that accept the connection and send nothing, eight that refuse it, a live one",
            expectation: "linked; at most four at a time, 250 ms apart", rules: ["dial.limit"],
            bugs: [.seen("dials-all-at-once", by: "dials are under way")], orders: [.testerHigher],
            seconds: 40
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let silent = try (0..<6).map { _ in try caseRun.tester(beside: session, "silent") }
            let refusing = try (0..<8).map { _ in try TCPSocket.refusing() }
            let closed = refusing.map { Candidate.loopback($0.localPort) }
            defer { withExtendedLifetime(refusing) {} }
            let pair = try caseRun.introduce(session, tester) { data in
                data.candidates =
                    silent[..<3].map(\.candidate) + closed + silent[3...].map(\.candidate) + data.candidates
            }
            caseRun.loop.wait(.seconds(4))
            let calls = (silent.flatMap(\.calls) + tester.calls).sorted()
            try caseRun.require(calls.count <= 4, "\(calls.count) dials are under way at a time")
            // 250 ms each; less 300 ms of them all, because a busy tester may notice the first one late.
            if let first = calls.first, let last = calls.last {
                let least = Duration.milliseconds(250 * (calls.count - 1) - 300)
                try caseRun.require(
                    last - first >= least, "\(calls.count) dials are begun within \(last - first)")
            }
            _ = try pair.link(within: .seconds(20))
        },
        Case(
            "DATA-26", "4.2", "data of a peer that can hold no data of S is refused",
            stimulus: "S has issued nothing; T hands over its own data. Then S issues open data",
            expectation: "UNKNOWN_PEER, nothing is dialled; connected", rules: ["data.issued"],
            bugs: [.seen("connects-unissued", by: "the data is taken")], orders: UIDOrder.allCases
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            let (session, tester) = (strangers.session, strangers.tester)
            let code = try session.refusal(of: tester.data(for: session.uid).bytes, from: tester.endpoint.uid)
            try caseRun.require(code != nil, "the data is taken")
            try caseRun.require(
                code == .unknownPeer && tester.calls.isEmpty, "\(code?.description ?? ""), not UNKNOWN_PEER")
            let mine = tester.data(for: session.uid)
            let theirs = try session.data(for: nil)
            try session.connect(mine.bytes)
            let link = try tester.link(
                LinkParameters(
                    mine: mine.bytes, myToken: mine.token, theirs: theirs,
                    theirData: try ConnectionData(ofSubject: theirs), me: tester.endpoint))
            try session.expect("connected", of: tester.endpoint.uid)
            try link.expectAlive()
        },
        Case(
            "DATA-24", "4.4", "addresses that swallow every SYN do not prevent the use of a live one",
            stimulus:
                "three candidates whose queues are full, so that the kernel drops each SYN; then a live one",
            expectation: "linked within 4 s", rules: ["dial.limit"],
            bugs: [.seen("dials-one-by-one", by: "does not dial")], orders: [.testerHigher]
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let full = try (0..<3).map { _ in try FullQueue() }
            defer { withExtendedLifetime(full) {} }
            let pair = try caseRun.introduce(session, tester) {
                $0.candidates = full.map(\.candidate) + $0.candidates
            }
            let link = try tester.accepted(pair.linkParameters, within: .seconds(4))
            try link.complete()
            try session.expect("connected", of: tester.endpoint.uid)
        },
        Case(
            "DATA-25", "4.4", "candidates of IPv6 are dialled", stimulus: "a candidate at ::1",
            expectation: "S dials it, and links", rules: ["data.candidates"],
            bugs: [.seen("dials-only-ipv4", by: "does not dial")], orders: [.testerHigher]
        ) { caseRun in
            let session = try caseRun.session()
            let loopback = [UInt8](repeating: 0, count: 15) + [1]
            let tester: Tester
            do {
                tester = try Tester(
                    "six", uid: caseRun.uid(beside: session), preference: .none, address: loopback,
                    in: caseRun)
            } catch { throw Skip("no IPv6 on the loopback interface: \(error)") }
            let pair = try caseRun.introduce(session, tester) {
                $0.candidates = [Candidate(address: loopback, port: tester.listener.localPort)]
            }
            let link = try tester.accepted(pair.linkParameters)
            try link.complete()
            try session.expect("connected", of: tester.endpoint.uid)
        },
        Case(
            "DATA-18", "4.3", "expired data is not usable",
            stimulus: "S's data lives 2 s; T dials after 4 s",
            expectation: "UNKNOWN_PEER in answer to HELLO", rules: ["data.expiry"],
            bugs: [.seen("data-never-expires", by: "CLOSE(UNKNOWN_PEER)")], seconds: 30
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let theirs = try session.data(for: tester.endpoint.uid, lifetime: 2)
            let mine = tester.data(for: session.uid)
            let linkParameters = LinkParameters(
                mine: mine.bytes, myToken: mine.token, theirs: theirs,
                theirData: try ConnectionData(ofSubject: theirs),
                me: tester.endpoint)
            try session.connect(mine.bytes)
            caseRun.loop.wait(.seconds(4))
            let link = try tester.dial(linkParameters)
            try link.expectReady()
            link.sendHello()
            try link.expectClose(.unknownPeer)
        },
    ]
}
