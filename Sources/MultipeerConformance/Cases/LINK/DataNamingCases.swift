/// Chapter 6: which of its own connection data a dialler names.
enum DataNamingCases {
    static let all: [Case] = [
        Case(
            "LINK-33", "6.1", "after UNKNOWN_PEER a dialler names the next of its data, at once",
            stimulus: "S has issued data for T and open data; T answers six HELLOs with UNKNOWN_PEER",
            expectation: "each two HELLOs name both; S backs off only after it has named both",
            rules: ["link.unknown-data"],
            bugs: [
                .seen("names-one-datum", by: "name the same"),
                .seen("backs-off-before-naming", by: "backs off"),
            ], orders: [.testerHigher], seconds: 40
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let open = try session.data(for: nil)
            let pair = try caseRun.introduce(session, tester)
            let known = Set([open, pair.linkParameters.theirs].map(ConnectionData.reference))
            var named: [[UInt8]] = []
            for _ in 0..<6 {
                let link = try tester.accepted(pair.linkParameters, within: .seconds(8))
                try link.expectReady()
                let frame = try link.expect(.hello)
                do throws(Malformed) { named.append(try Hello(payload: frame.payload).myData) } catch {
                    throw CaseFailure("\(link.name): HELLO: \(error)")
                }
                link.send(.close(.unknownPeer))
                link.connection.close()
            }
            for first in stride(from: 0, to: 6, by: 2) {
                try caseRun.require(
                    Set(named[first...(first + 1)]) == known,
                    "HELLOs \(first + 1) and \(first + 2) name the same data")
            }
            // The fifth pause of a peer that backs off each time has 2 s or more.
            let pause = tester.calls[5] - tester.calls[4]
            try caseRun.require(
                pause < .milliseconds(1_800), "S backs off for \(pause) before it has named both")
        },
        Case(
            "LINK-34", "6.4", "a candidate with an unanswered SELECT is not closed for newer data",
            stimulus: "S selects; before T answers, S gets newer data of T",
            expectation: "the candidate stays open; after SELECTED it is the link",
            rules: ["select.pending"], bugs: [.seen("newer-data-ends-selected", by: "CLOSE received")],
            orders: [.testerHigher]
        ) { caseRun in
            let pair = try caseRun.pair()
            let link = try pair.tester.dial(pair.linkParameters)
            try link.becomeCandidate()
            try link.expect(.select)
            try pair.session.connect(pair.tester.data(for: pair.session.uid).bytes)
            caseRun.loop.wait(.milliseconds(500)) { link.ending != nil }
            if let frame = link.waiting.first(where: { $0.kind == .close }) {
                throw CaseFailure("\(frame.kind) received with \(frame.words)")
            }
            link.send(.selected)
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
            try link.expectAlive()
        },
        Case(
            "LINK-36", "6.4", "a candidate that does not answer SELECT makes way for the next",
            stimulus:
                "S selects the first of two candidates, of which the second comes 2 s later; T is silent on it",
            expectation: "TIMEOUT 5 s after SELECT; SELECT on the second",
            rules: ["link.timeouts", "select.next"],
            bugs: [.seen("select-without-deadline", by: "CLOSE(TIMEOUT)")], orders: [.testerHigher],
            seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair()
            let first = try pair.tester.dial(pair.linkParameters)
            try first.becomeCandidate()
            try first.expect(.select)
            let start = ContinuousClock.now
            caseRun.loop.wait(.seconds(2))
            let second = try pair.tester.dial(pair.linkParameters)
            try second.becomeCandidate()
            try first.expectClose([.timeout], within: .seconds(6))
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            try caseRun.require(seconds > 4.5, "closed after \(seconds) s already")
            try second.select()
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
            try second.expectAlive()
        },
        Case(
            "LINK-37", "6.5", "a young link is probed, too, when another instance comes",
            stimulus:
                "T links, and at once comes as another instance; it answers the PING; again, and does not",
            expectation: "PING on the link at once; BUSY; the candidate is linked some 2 s later",
            rules: ["stale.busy"], bugs: [.seen("young-links-live", by: "no PING")],
            orders: UIDOrder.allCases,
            seconds: 30
        ) { caseRun in
            for isAlive in [true, false] {
                let (pair, old) = try caseRun.linked()
                old.answersPings = false
                pair.tester.dismissCallers()
                pair.tester.restart()
                let next = try caseRun.introduce(pair.session, pair.tester)
                let link = try pair.tester.dial(next.linkParameters)
                try link.becomeCandidate()
                let ping = try old.expect(.ping, within: .milliseconds(1_500))
                if next.linkParameters.isControlling { link.send(.select) }
                if isAlive {
                    old.send(.pong(ping.payload))
                    try link.expectClose(.busy)
                    try old.expectAlive()
                    continue
                }
                if next.linkParameters.isControlling {
                    try link.expect(.selected, within: .seconds(4))
                } else {
                    try link.select(within: .seconds(4))
                }
                try pair.session.expect("connected", of: pair.tester.endpoint.uid)
            }
        },
        Case(
            "LINK-38", "6.2", "both HELLOs name the same data",
            stimulus:
                "S has issued data for T and open data; T answers its HELLO, and names the one that it has not named",
            expectation: "UNKNOWN_PEER", rules: ["hello.same-data"],
            bugs: [.seen("hello-other-version", by: "CLOSE(UNKNOWN_PEER)")], orders: [.testerHigher]
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let open = try session.data(for: nil)
            let pair = try caseRun.introduce(session, tester)
            let link = try tester.accepted(pair.linkParameters)
            try link.expectReady()
            let frame = try link.expect(.hello)
            let named: [UInt8]
            do throws(Malformed) { named = try Hello(payload: frame.payload).myData } catch {
                throw CaseFailure("\(link.name): HELLO: \(error)")
            }
            let both = [open, pair.linkParameters.theirs].map(ConnectionData.reference)
            guard let other = both.first(where: { $0 != named }) else { return }
            link.sendHello { $0.set(Hello.Field.yourData, other) }
            try link.expectClose(.unknownPeer)
        },
        Case(
            "LINK-39", "7.3", "PING before CONFIRM is refused", stimulus: "PING after HELLO",
            expectation: "PROTOCOL", rules: ["frame.order"],
            bugs: [.seen("ping-before-candidate", by: "CLOSE(PROTOCOL)")], orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let link = try pair.tester.dial(pair.linkParameters)
            try link.greet()
            link.send(.ping())
            try link.expectClose(.protocol)
        },
        Case(
            "LINK-35", "14.1", "a link that was lost before it was used does not end the attempt",
            stimulus: "T links, and resets the connection at once; it waits for a dial",
            expectation: "S dials again, and is linked, without a further request", rules: ["state.unused"],
            bugs: [.seen("unused-link-ends-attempt", by: "does not dial")], orders: UIDOrder.allCases,
            seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair()
            let peer = pair.tester.endpoint.uid
            let first = try pair.tester.link(pair.linkParameters)
            first.connection.reset()
            pair.tester.dismissCallers()
            let link = try pair.tester.accepted(pair.linkParameters)
            try link.complete()
            link.send(.message([1]))
            try pair.session.expectMessage([1], from: peer)
        },
    ]
}
