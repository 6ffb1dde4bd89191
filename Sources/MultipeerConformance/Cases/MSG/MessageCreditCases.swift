/// Chapter 8: the credit of messages.
enum MessageCreditCases {
    static let all: [Case] = [
        Case(
            "MSG-09", "8.3", "a sender stays within its credit and continues when it gets more",
            stimulus: "T grants 65,536, waits 3 s, and then grants continuously; S sends 300,000 bytes",
            expectation: "not more than the credit at first, the whole message in the end",
            rules: ["msg.credit-limit", "msg.cost"],
            bugs: [
                .seen("sends-beyond-credit", by: "S spends"), .seen("cost-without-overhead", by: "S spends"),
            ], orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let (pair, link) = try caseRun.linked {
                $0.limits.messageCredit = 65_536
            }
            link.isGranting = false
            _ = pair.session.post(pattern: 300_000, to: pair.tester.endpoint.uid)
            caseRun.loop.wait(.seconds(3))
            let cost = link.waiting.reduce(0) { $0 + $1.cost }
            try caseRun.require(cost <= 65_536, "S spends \(cost) of 65,536")
            try caseRun.require(cost > 0, "S spends nothing of 65,536")
            link.isGranting = true
            link.grant()
            try caseRun.require(
                try link.expectMessage(within: .seconds(10)) == .pattern(300_000), "S sends something else")
        },
        Case(
            "MSG-10", "8.3", "credit grows", stimulus: "CREDIT as high as the limit before; lower",
            expectation: "PROTOCOL",
            rules: ["msg.credit-grow"], bugs: [.seen("credit-may-shrink", by: "CLOSE(PROTOCOL)")],
            orders: UIDOrder.allCases
        ) { caseRun in
            try caseRun.refusesOnLinks([
                ("the same limit", Frame.credit(4_194_304).bytes), ("a lower limit", Frame.credit(1).bytes),
            ])
            let (_, link) = try caseRun.linked()
            link.send(.credit(5_000_000))
            link.send(.credit(5_000_001))
            try link.expectAlive()
            link.send(.credit(5_000_001))
            try link.expectClose(.protocol)
        },
        Case(
            "MSG-11", "8.3", "a sender that exceeds its credit is disconnected",
            stimulus:
                "S's application stops reading; T spends its credit to the last byte, then sends an empty message",
            expectation: "the link lives; FLOW", rules: ["msg.credit-limit", "msg.cost"],
            bugs: [.seen("no-credit-check", by: "CLOSE(FLOW)"), .seen("cost-off-by-64", by: "CLOSE(FLOW)")],
            orders: UIDOrder.allCases, seconds: 40
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            caseRun.allowance = 20 << 20
            try pair.session.call("pause")
            // What was on its way to the application when it stopped is still returned.
            for _ in 0..<20 {
                while link.credit.room >= 64 {
                    link.send(.message(.pattern(Int(min(link.credit.room - 64, 65_536)))))
                }
                try link.expectAlive(within: .seconds(10))
                caseRun.loop.wait(.milliseconds(200))
                if link.credit.room < 64 { break }
            }
            try link.expectAlive()
            try caseRun.require(
                link.credit.room < 64, "S returns credit for what its application does not take")
            link.send(.message([]))
            try link.expectClose(.flow)
            try pair.session.call("resume")
        },
        Case(
            "MSG-12", "8.3", "an application that stops reading stops the sender",
            stimulus: "S's application stops reading; T would send 100 MiB in messages of 64 KiB",
            expectation:
                "T stalls below 24 MiB; S holds no more than that; everything arrives when T reads again",
            rules: ["msg.credit-return"], bugs: [.seen("returns-credit-on-arrival", by: "S takes")],
            orders: UIDOrder.allCases,
            seconds: 90
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            caseRun.allowance = 40 << 20
            let peer = pair.tester.endpoint.uid
            try pair.session.call("pause")
            var sent = 0
            while sent < 1_600,
                caseRun.loop.wait(.seconds(2), for: { link.credit.room >= 65_600 || link.ending != nil })
            {
                try caseRun.require(link.ending == nil, "the link ends")
                link.send(.message(.pattern(65_536, from: sent)))
                sent += 1
            }
            try caseRun.require(sent <= 24 * 16, "S takes \(sent / 16) MiB that its application does not")
            try link.expectAlive()
            try pair.session.call("resume")
            for index in 0..<sent {
                try pair.session.expectMessage(.pattern(65_536, from: index), from: peer)
            }
            caseRun.loop.wait(.seconds(5)) { link.credit.room >= 65_600 }
            try caseRun.require(link.credit.room >= 65_600, "no credit comes back")
        },
        Case(
            "MSG-14", "8.2", "messages that were not accepted are reported",
            stimulus: "S has no credit; T resets the link",
            expectation: "an error to the application that sent", rules: ["msg.failed"],
            bugs: [.seen("forgets-unsent", by: "the application gets no error")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked { $0.limits.messageCredit = 65_536 }
            link.isGranting = false
            let post = pair.session.post(pattern: 2 << 20, to: pair.tester.endpoint.uid)
            try link.expect(.part)
            link.connection.reset()
            let end = try pair.session.expectNotConnected(pair.tester.endpoint.uid)
            let answer = pair.session.subject.answer(post, within: .seconds(3))
            let isTold =
                answer?["error"] != nil || (end["undelivered"]?.int ?? 0) > 0
                || pair.session.event("error", within: .seconds(3)) != nil
            try caseRun.require(isTold, "the application gets no error")
        },
        Case(
            "MSG-15", "8.3", "credit is returned in time",
            stimulus: "T sends 40 MiB in messages of 64 KiB to an application that reads",
            expectation: "T never waits 2 s for credit", rules: ["msg.credit-return"],
            bugs: [.seen("credit-late", by: "no credit within")],
            orders: UIDOrder.allCases,
            seconds: 60
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            caseRun.allowance = 20 << 20
            for index in 0..<640 {
                try link.transmit([.message(.pattern(65_536, from: index))], within: .seconds(2))
            }
            for index in 0..<640 {
                try pair.session.expectMessage(.pattern(65_536, from: index), from: pair.tester.endpoint.uid)
            }
        },
        Case(
            "MSG-16", "8.3", "what HELLO grants is what is granted",
            stimulus:
                "S is configured for 128 KiB; T sends 1 MiB as credit arrives; then S's application stops, and T continues",
            expectation: "HELLO grants 128 KiB, and more than that is never in flight; FLOW beyond it",
            rules: ["msg.credit-limit"], bugs: [.seen("counts-the-usual-window", by: "no credit within")]
        ) { caseRun in
            let window = 131_072
            let (pair, link) = try caseRun.linked(.init(limits: ["messageCredit": window]))
            try caseRun.require(link.credit.room <= window, "HELLO grants \(link.credit.limit) bytes")
            for index in 0..<32 {
                try link.transmit([.message(.pattern(32_768, from: index))])
                try pair.session.expectMessage(.pattern(32_768, from: index), from: pair.tester.endpoint.uid)
                try caseRun.require(
                    link.credit.room <= window, "\(link.credit.room) bytes are granted at once")
            }
            try pair.session.call("pause")
            // One more than fits may be on its way to the application, and be paid back.
            while caseRun.loop.wait(.seconds(1), for: { link.credit.room >= 32_832 }) {
                link.send(.message(.pattern(32_768)))
            }
            try link.expectAlive()
            link.send(.message(.pattern(Int(link.credit.room))))
            try link.expectClose(.flow)
            try pair.session.call("resume")
        },
    ]
}

extension TesterLink {
    /// Sends frames as credit comes, each within `duration`.
    func transmit(_ frames: [Frame], within duration: Duration = .seconds(10)) throws {
        for frame in frames {
            guard
                caseRun.loop.wait(
                    duration,
                    for: { credit.room >= frame.cost && connection.unsent < 1 << 20 || ending != nil }),
                ending == nil
            else {
                throw CaseFailure(
                    "\(name): \(ending.map { "the link ends: \($0)" } ?? "no credit within \(duration)")")
            }
            send(frame)
        }
    }
}
