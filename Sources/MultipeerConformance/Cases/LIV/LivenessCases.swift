import MultipeerPlatform

/// Chapter 14: liveness and the end of a link.
enum LivenessCases {
    static let all: [Case] = [
        Case(
            "LIV-01", "14.2", "a silent peer gets a PING, and its link ends",
            stimulus: "T sends nothing more, and answers no PING",
            expectation: "PING after 3 s, CLOSE(TIMEOUT) after 10 s",
            rules: ["live.ping", "live.idle-timeout"],
            bugs: [.seen("never-pings", by: "no PING"), .seen("never-dies", by: "CLOSE(TIMEOUT)")],
            orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            try link.expectAlive()
            link.answersPings = false
            let start = ContinuousClock.now
            _ = link.takeAll()
            try link.expect(.ping, within: .seconds(6))
            let asked = (ContinuousClock.now - start) / .seconds(1)
            try caseRun.require(asked > 2.5, "PING after \(asked) s already")
            try link.expectClose([.timeout], within: .seconds(10))
            let gone = (ContinuousClock.now - start) / .seconds(1)
            try caseRun.require(gone > 9, "given up after \(gone) s already")
            try pair.session.expectNotConnected(pair.tester.endpoint.uid, [.timeout])
        },
        Case(
            "LIV-02", "14.2", "a process that was suspended gives its peers time to respond",
            stimulus: "SIGSTOP for 11 s, then SIGCONT",
            expectation: "the link lives", rules: ["live.resume"],
            bugs: [.seen("judges-after-suspension", by: "reports 'notConnected'")],
            seconds: 40
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            try link.expectAlive()
            let subject = try caseRun.subject()
            subject.signal(SIGSTOP)
            caseRun.loop.wait(.seconds(11))
            subject.signal(SIGCONT)
            try pair.session.expectNo("notConnected", of: pair.tester.endpoint.uid, for: .seconds(4))
            try link.expectAlive()
        },
        Case(
            "LIV-03", "14.3", "leaving is announced", stimulus: "S disconnects",
            expectation:
                "CLOSE(GOODBYE) within a second, then the end; connecting, connected, notConnected, each once",
            rules: ["close.goodbye", "close.linger", "state.serial", "state.reason"],
            bugs: [
                .seen("leaves-without-goodbye", by: "CLOSE(GOODBYE)"),
                .seen("tells-states-twice", by: "the reported states"),
                .seen("reports-no-reason", by: "the reason is"),
            ], orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let pair = try caseRun.introduce(session, tester)
            let link = try tester.link(pair.linkParameters)
            try link.expectAlive()
            _ = session.post("disconnect")
            try link.expectClose([.goodbye], within: .seconds(2))
            caseRun.loop.wait(.seconds(1))
            let states = session.states(of: tester.endpoint.uid)
            try caseRun.require(
                states == ["connecting", "connected", "notConnected"], "the reported states are \(states)")
            let end = try session.expectNotConnected(tester.endpoint.uid)
            try caseRun.require(
                end["reason"]?.text == "left", "the reason is '\(end["reason"]?.text ?? "")', not 'left'")
        },
        Case(
            "LIV-06", "14.3", "CLOSE is followed by close_notify", stimulus: "S leaves a link with TLS",
            expectation: "CLOSE(GOODBYE), close_notify, FIN", rules: ["close.linger"],
            bugs: [.seen("closes-without-notify", by: "FIN without close_notify")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            _ = pair.session.post("disconnect")
            try link.expectClose(.goodbye)
            let ending = try link.expectEnd()
            try caseRun.require(ending == .closed, "the connection ends with \(ending)")
        },
        Case(
            "LIV-07", "14.3", "CLOSE is answered with close_notify", stimulus: "T leaves a link with TLS",
            expectation: "close_notify, FIN", rules: ["close.answer"],
            bugs: [.seen("ends-without-notify", by: "FIN without close_notify")], orders: UIDOrder.allCases
        ) { caseRun in
            let (_, link) = try caseRun.linked(.init(preference: .required))
            link.send(.close(.goodbye))
            let ending = try link.expectEnd()
            try caseRun.require(ending == .closed, "the connection ends with \(ending)")
        },
        Case(
            "LIV-04", "14.2", "the link to a peer that reads nothing ends",
            stimulus: "T no longer reads its socket; S's application sends 32 MiB",
            expectation: "TIMEOUT within 13 s, and no queue of 32 MiB",
            rules: ["live.idle-timeout", "limit.send-queue"],
            bugs: [.seen("never-dies", by: "does not report"), .seen("queues-without-limit", by: "S holds")],
            orders: UIDOrder.allCases, seconds: 40
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let before = try caseRun.subject().processUsage()?.memory
            link.abandon()
            let start = ContinuousClock.now
            for _ in 0..<512 { _ = pair.session.post(pattern: 65_536, to: pair.tester.endpoint.uid) }
            caseRun.loop.wait(.seconds(4))
            if let before, let now = try caseRun.subject().processUsage()?.memory {
                try caseRun.require(now - before < 24 << 20, "S holds \((now - before) >> 10) KiB more")
            }
            try pair.session.expectNotConnected(pair.tester.endpoint.uid, [.timeout], within: .seconds(13))
            let gone = (ContinuousClock.now - start) / .seconds(1)
            try caseRun.require(gone < 14.5, "given up after \(gone) s only")
        },
        Case(
            "LIV-05", "14.2", "any byte is a sign of life",
            stimulus: "T sends one byte of a frame every 2 s for 13 s, and answers no PING",
            expectation: "the link lives", rules: ["live.ping", "live.idle-timeout"],
            bugs: [.seen("wants-pongs", by: "the link ended")],
            seconds: 40
        ) { caseRun in
            let (_, link) = try caseRun.linked()
            link.answersPings = false
            let frame = Frame.ping().bytes
            for byte in frame.dropLast().prefix(7) {
                link.send(raw: [byte], "one byte of PING")
                caseRun.loop.wait(.seconds(2))
                if let ending = link.ending { throw CaseFailure("the link ended: \(ending)") }
            }
            link.send(raw: Array(frame.dropFirst(7)), "the rest of PING")
            try link.expect(.pong)
        },
        Case(
            "LIV-08", "14.2", "an end that only receives sends PING",
            stimulus: "T sends a message every 250 ms for 4 s",
            expectation: "a frame after 3 s, at most 4 s", rules: ["live.one-sided"],
            bugs: [.seen("only-listens", by: "no PING")], orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let (_, link) = try caseRun.linked()
            try link.expectAlive()
            _ = link.takeAll()
            for _ in 0..<16 {
                link.send(.message([1]))
                caseRun.loop.wait(.milliseconds(250))
            }
            let frames = link.takeAll()
            try caseRun.require(!frames.isEmpty, "no PING within 4 s")
        },
    ]
}
