/// Chapter 4.4: addresses that only some interfaces reach. Each case has interfaces of its own.
enum AddressCases {
    static let all: [Case] = [
        Case(
            "DATA-27", "4.4", "a link-local candidate is tried on each interface",
            stimulus:
                "six interfaces are up; T listens at fe80::5 on one of them, the fourth. Its data has no other candidate",
            expectation: "S dials it there, and links", rules: ["dial.link-local"],
            bugs: [.seen("link-local-once", by: "does not dial")], orders: [.testerHigher], seconds: 30,
            network: .pairs(3, ["addr add fe80::5/64 dev b2 nodad"])
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.linkLocalTester(beside: session, on: "b2")
            let pair = try caseRun.introduce(session, tester)
            let link = try tester.accepted(pair.linkParameters)
            try link.complete()
            try session.expect("connected", of: tester.endpoint.uid)
            try link.expectAlive()
        },
        Case(
            "DATA-28", "4.4", "a link-local candidate is tried on eight interfaces at most",
            stimulus: "ten interfaces are up; fe80::5 on each accepts every connection, and closes it",
            expectation: "S dials it on eight of them", rules: ["dial.link-local"],
            bugs: [
                .seen("link-local-everywhere", by: "interfaces are tried"),
                .seen("link-local-once", by: "interfaces are tried"),
            ],
            orders: [.testerHigher], seconds: 30,
            network: .pairs(
                5,
                (1...5).flatMap { pair in ["a", "b"].map { "addr add fe80::5/64 dev \($0)\(pair) nodad" } })
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.linkLocalTester(beside: session, on: "a1")
            let port = tester.listener.localPort
            var testers = [tester]
            for name in (1...5).flatMap({ ["a\($0)", "b\($0)"] }).dropFirst() {
                testers.append(try caseRun.linkLocalTester(beside: session, on: name, port: port))
            }
            _ = try caseRun.introduce(session, tester)
            // The first round is over when a second one has begun.
            caseRun.loop.wait(.seconds(8)) {
                for one in testers { one.dismissCallers() }
                return testers.contains { $0.calls.count > 1 }
            }
            let tried = testers.count { !$0.calls.isEmpty }
            try caseRun.require(tried == 8, "\(tried) interfaces are tried")
            caseRun.isSessionSpent = true
        },
        Case(
            "DATA-29", "4.4", "a peer that issued no loopback address dials none",
            stimulus:
                "S listens at 192.0.2.1; candidates 127.0.0.1, its IPv4-mapped form and ::1, then one at 192.0.2.2",
            expectation: "only the last one is dialled, and linked", rules: ["dial.loopback"],
            bugs: [.seen("dials-loopback", by: "a loopback address is dialled")], orders: [.testerHigher],
            seconds: 30,
            network: .pairs(1, ["addr add 192.0.2.1/24 dev a1", "addr add 192.0.2.2/24 dev a1"])
        ) { caseRun in
            let session = try caseRun.session(.init(listen: "192.0.2.1:0"))
            let tester = try caseRun.tester(beside: session, address: [192, 0, 2, 2])
            let trap = try caseRun.tester(beside: session, "trap")
            let six = [UInt8](repeating: 0, count: 15) + [1]
            let other = try Tester(
                "trap of IPv6", uid: trap.endpoint.uid, preference: .none, address: six,
                port: trap.listener.localPort, in: caseRun)
            let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 127, 0, 0, 1]
            let pair = try caseRun.introduce(session, tester) { data in
                let port = trap.listener.localPort
                data.candidates =
                    [[127, 0, 0, 1], mapped, six].map { Candidate(address: $0, port: port) } + data.candidates
            }
            let link = try pair.link()
            caseRun.loop.wait(.seconds(1))
            try caseRun.require(
                trap.calls.isEmpty && other.calls.isEmpty, "a loopback address is dialled")
            try link.expectAlive()
            // The last exchange uses loopback addresses.
            caseRun.isSessionSpent = true
        },
        Case(
            "DATA-30", "4.4",
            "peers link over IPv6 alone, at addresses that need no interface and at those that do",
            stimulus: "S listens at 2001:db8::1, then at fe80::1 of an interface; T dials, or is dialled",
            expectation: "its data has that address, without an interface; linked",
            rules: ["data.candidates", "dial.link-local"],
            bugs: [
                .seen("dials-only-ipv4", by: "does not dial"), .seen("link-local-once", by: "does not dial"),
            ],
            orders: UIDOrder.allCases, seconds: 30,
            network: .pairs(
                2,
                [
                    "addr add 2001:db8::1/64 dev b2 nodad", "addr add 2001:db8::2/64 dev b2 nodad",
                    "addr add fe80::1/64 dev b2 nodad", "addr add fe80::5/64 dev b2 nodad",
                ])
        ) { caseRun in
            let wide: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11)
            let session = try caseRun.session(.init(listen: "[2001:db8::1]:0"))
            let tester = try caseRun.tester(beside: session, address: wide + [2])
            let pair = try caseRun.introduce(session, tester)
            let places = pair.linkParameters.theirData.candidates.map(\.address)
            try caseRun.require(places == [wide + [1]], "its data has other addresses")
            try (try pair.link()).expectAlive()
            let near = try caseRun.session(.init(listen: "[fe80::1%b2]:0"))
            let neighbour = try caseRun.linkLocalTester(beside: near, on: "b2")
            try (try caseRun.introduce(near, neighbour).link()).expectAlive()
            caseRun.isSessionSpent = true
        },
    ]
}

extension CaseRun {
    /// Returns a peer that listens at fe80::5 on an interface of this case's namespace.
    fileprivate func linkLocalTester(
        beside session: SubjectSession, on interface: String, port: UInt16 = 0
    ) throws -> Tester {
        let place = Candidate("[fe80::5%\(interface)]:\(port)")
        guard let place else { throw SuiteFault("no interface \(interface)") }
        return try Tester(
            "tester on \(interface)", uid: uid(beside: session), preference: .none, address: place.address,
            zone: place.zone, port: port, in: self)
    }
}
