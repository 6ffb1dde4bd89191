/// Chapter 6: dialling, and HELLO.
enum DialCases {
    static let all: [Case] = [
        Case(
            "LINK-01", "6.1", "a peer that dials is linked", stimulus: "T dials S and does everything right",
            expectation: "the link is established; S reports connecting, then connected",
            rules: ["link.dialler", "select.answer", "select.lower", "hello.first"],
            bugs: [.seen("never-answers-select", by: "SELECTED")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let peer = pair.tester.endpoint.uid
            let link = try pair.tester.dial(pair.linkParameters)
            try link.complete()
            try pair.session.expect("connecting", of: peer)
            try pair.session.expect("connected", of: peer)
            try link.expectAlive()
        },
        Case(
            "LINK-02", "6.1", "the end with the lower uid dials at once",
            stimulus: "S has the lower uid; T waits",
            expectation: "S dials within 400 ms and links", rules: ["link.dialler"],
            bugs: [.seen("lower-waits", by: "S dials after")],
            orders: [.testerHigher]
        ) { caseRun in
            let pair = try caseRun.pair(connects: false)
            let start = ContinuousClock.now
            try pair.session.connect(pair.linkParameters.mine)
            _ = try pair.link()
            let delay = (pair.tester.calls.first ?? .now) - start
            try caseRun.require(delay < .milliseconds(450), "S dials after \(delay)")
        },
        Case(
            "LINK-03", "6.1", "the end with the higher uid gives the other half a second",
            stimulus: "S has the higher uid; T never dials",
            expectation: "S dials after 400 to 1,000 ms and links",
            rules: ["link.dialler"],
            bugs: [
                .seen("higher-dials-at-once", by: "S dials after"),
                .seen("higher-never-dials", by: "does not dial"),
            ]
        ) { caseRun in
            let pair = try caseRun.pair(connects: false)
            let start = ContinuousClock.now
            try pair.session.connect(pair.linkParameters.mine)
            let link = try pair.tester.accepted(pair.linkParameters)
            let delay = (pair.tester.calls.first ?? .now) - start
            try caseRun.require(delay > .milliseconds(400), "S dials after \(delay)")
            try caseRun.require(delay < .milliseconds(1_500), "S dials after \(delay)")
            try link.complete()
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
        },
        Case(
            "LINK-04", "6.1", "a peer that does not know the other yet is dialled again",
            stimulus: "T answers UNKNOWN_PEER for 5 s, then links",
            expectation: "S tries again, with pauses, and is linked",
            rules: ["link.retry"],
            bugs: [
                .seen("gives-up-after-unknown-peer", by: "does not dial"),
                .seen("retries-without-pause", by: "S dials"), .seen("never-retries", by: "does not dial"),
            ],
            orders: UIDOrder.allCases,
            seconds: 40
        ) { caseRun in
            let pair = try caseRun.pair()
            let end = ContinuousClock.now + .seconds(5)
            var refused = 0
            while true {
                let link = try pair.tester.accepted(pair.linkParameters, within: .seconds(8))
                guard ContinuousClock.now < end else {
                    try link.complete()
                    break
                }
                try link.expectReady()
                try link.expectHello()
                link.send(.close(.unknownPeer))
                link.connection.close()
                refused += 1
            }
            try caseRun.require((2...20).contains(refused), "S dials \(refused) times in 5 s")
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
        },
        Case(
            "LINK-05", "6.1", "an attempt ends after thirty seconds",
            stimulus: "T does not listen at its candidate",
            expectation: "notConnected(TIMEOUT) after 30 s", rules: ["link.deadline", "state.outcome"],
            bugs: [
                .seen("attempt-without-deadline", by: "does not report"),
                .seen("attempt-ends-silently", by: "does not report"),
            ], seconds: 45
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let refusing = try TCPSocket.refusing()
            defer { withExtendedLifetime(refusing) {} }
            let start = ContinuousClock.now
            _ = try caseRun.introduce(session, tester) { $0.candidates = [.loopback(refusing.localPort)] }
            try session.expectNotConnected(tester.endpoint.uid, [.timeout], within: .seconds(34))
            let delay = ContinuousClock.now - start
            try caseRun.require(delay > .seconds(29) && delay < .seconds(32), "reported after \(delay)")
        },
        Case(
            "LINK-25", "6.1", "an attempt that was cancelled does not link",
            stimulus: "the application cancels while T does not respond in TLS, and after T's CONFIRM",
            expectation: "notConnected(CANCELLED), the connections are closed, and no connected follows",
            rules: ["link.cancel"], bugs: [.seen("cancel-ignored", by: "CLOSE(CANCELLED)")],
            orders: [.testerHigher], seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            let peer = pair.tester.endpoint.uid
            let mute = try pair.tester.accepted(
                pair.linkParameters, tls: nil, plain: true, sendsPreface: false)
            mute.connection.isDeaf = true
            caseRun.loop.wait(.milliseconds(300))
            try pair.session.call("cancel", ["peer": .string(peer.hex)])
            try pair.session.expectNotConnected(peer, [.cancelled])
            try mute.expectEnd()
            caseRun.loop.wait(.milliseconds(300))
            pair.tester.dismissCallers()
            try pair.session.connect(pair.linkParameters.mine)
            let link = try pair.tester.accepted(pair.linkParameters)
            try link.greet()
            try pair.session.call("cancel", ["peer": .string(peer.hex)])
            try link.expectClose(.cancelled)
            try pair.session.expectNotConnected(peer, [.cancelled])
            try pair.session.expectNo("connected", of: peer, for: .seconds(2))
        },
    ]
}
