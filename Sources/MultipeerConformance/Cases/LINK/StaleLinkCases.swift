/// Chapter 6: a link that may be lost, another instance, and unauthenticated peers.
enum StaleLinkCases {
    static let all: [Case] = [
        Case(
            "LINK-20", "6.5", "a SELECT replaces the link that the other end has lost",
            stimulus: "T, controlling, becomes silent, dials again and selects",
            expectation: "PING on the old link; SELECTED within 3 s, and the old link ends with DUPLICATE",
            rules: ["stale.supersede"], bugs: [.seen("keeps-stale-link", by: "SELECTED")],
            orders: [.testerLower]
        ) { caseRun in
            let (pair, old) = try caseRun.linked()
            old.abandon()
            let link = try pair.tester.dial(pair.linkParameters)
            try link.complete(within: .seconds(4))
            let peer = pair.tester.endpoint.uid
            try pair.session.expectNotConnected(peer)
            try pair.session.expect("connected", of: peer)
            old.answersPings = false
            old.connection.isReading = true
            try old.expect(.ping)
            try old.expectClose(.duplicate)
            try link.expectAlive()
        },
        Case(
            "LINK-31", "6.5", "a SELECT does not end a link that lives",
            stimulus: "T, controlling, dials again and selects, and answers PING on the old link",
            expectation: "DUPLICATE on the new connection; the old link lives", rules: ["stale.supersede"],
            bugs: [.seen("supersedes-living-link", by: "CLOSE(DUPLICATE)")], orders: [.testerLower]
        ) { caseRun in
            let (pair, old) = try caseRun.linked()
            let link = try pair.tester.dial(pair.linkParameters)
            try link.becomeCandidate()
            link.send(.select)
            try link.expectClose(.duplicate)
            try old.expectAlive()
            try pair.session.expectNo("notConnected", of: pair.tester.endpoint.uid, for: .milliseconds(200))
        },
        Case(
            "LINK-32", "6.5", "messages of the old link are delivered before the new link",
            stimulus: "T, controlling, selects again; then the old link brings a message and its end",
            expectation: "the message is delivered; SELECTED as soon as the old link has ended",
            rules: ["stale.supersede"], bugs: ["supersedes-living-link"], orders: [.testerLower]
        ) { caseRun in
            let (pair, old) = try caseRun.linked()
            old.answersPings = false
            let link = try pair.tester.dial(pair.linkParameters)
            try link.becomeCandidate()
            link.send(.select)
            try old.expect(.ping)
            old.send(.message([1, 2, 3]))
            old.connection.close()
            try link.expect(.selected, within: .milliseconds(800))
            let peer = pair.tester.endpoint.uid
            try caseRun.require(
                pair.session.event("message", from: peer, within: .seconds(2)) != nil,
                "the message is not delivered")
            try pair.session.expect("connected", of: peer)
            try link.expectAlive()
        },
        Case(
            "LINK-21", "6.5", "a controlling end finds out that its link is lost",
            stimulus: "T, controlled, becomes silent after 2 s and dials again",
            expectation: "PING on the old link, SELECT on the new one within 2 s",
            rules: ["stale.probe"], bugs: ["never-probes"], orders: [.testerHigher], seconds: 30
        ) { caseRun in
            let (pair, old) = try caseRun.linked()
            caseRun.loop.wait(.milliseconds(2_300))
            old.answersPings = false
            let link = try pair.tester.dial(pair.linkParameters)
            try link.becomeCandidate()
            let start = ContinuousClock.now
            try link.expect(.select, within: .seconds(4))
            try caseRun.require(ContinuousClock.now - start < .milliseconds(2_500), "selected late")
            link.send(.selected)
            try caseRun.require(old.waiting.contains { $0.kind == .ping }, "the old link is not probed")
            try link.expectAlive()
        },
        Case(
            "LINK-28", "6.5", "a live link is not replaced",
            stimulus:
                "T, controlled, dials again: at once, and after 2 s while it answers PING on the old link",
            expectation: "DUPLICATE both times, the old link lives", rules: ["stale.probe"],
            bugs: [.seen("replaces-living-link", by: "CLOSE(DUPLICATE)")],
            orders: [.testerHigher], seconds: 30
        ) { caseRun in
            let (pair, old) = try caseRun.linked()
            let young = try pair.tester.dial(pair.linkParameters)
            try young.becomeCandidate()
            try young.expectClose(.duplicate)
            caseRun.loop.wait(.milliseconds(2_300))
            let link = try pair.tester.dial(pair.linkParameters)
            try link.becomeCandidate()
            try link.expectClose(.duplicate)
            try old.expectAlive()
            try pair.session.expectNo("notConnected", of: pair.tester.endpoint.uid, for: .milliseconds(200))
        },
        Case(
            "LINK-22", "6.5", "a new instance does not push out a living link",
            stimulus:
                "the same uid with another instance and data of its own links, while the old link answers PING",
            expectation: "BUSY; the old link is unharmed", rules: ["stale.busy"],
            bugs: [.seen("new-instance-pushes-out", by: "CLOSE(BUSY)")],
            orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let (pair, old) = try caseRun.linked()
            caseRun.loop.wait(.milliseconds(2_300))
            pair.tester.restart()
            let next = try caseRun.introduce(pair.session, pair.tester)
            let link = try pair.tester.dial(next.linkParameters)
            try link.becomeCandidate()
            if next.linkParameters.isControlling { link.send(.select) }
            try link.expectClose(.busy)
            try old.expectAlive()
        },
        Case(
            "LINK-27", "3.2", "a peer that was restarted gets in",
            stimulus: "T is killed and returns with another instance",
            expectation: "connected within 15 s", rules: ["stale.busy", "endpoint.instance"],
            bugs: [.seen("remembers-instance", by: "SELECTED")],
            orders: UIDOrder.allCases, seconds: 40
        ) { caseRun in
            let (pair, old) = try caseRun.linked()
            old.abandon()
            pair.tester.restart()
            pair.tester.dismissCallers()
            let next = try caseRun.introduce(pair.session, pair.tester)
            let deadline = ContinuousClock.now + .seconds(15)
            let link = try pair.tester.dial(next.linkParameters)
            try link.becomeCandidate()
            caseRun.loop.wait(.milliseconds(10))
            try link.select(within: deadline - .now)
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
            try link.expectAlive()
        },
        Case(
            "LINK-24", "15.2", "unauthenticated connections do not exclude an honest peer",
            stimulus: "120 idle connections from 30 addresses, then an honest peer",
            expectation: "96 at most are kept, 4 from an address; the honest peer is linked",
            rules: ["limit.unauthenticated"], bugs: [.seen("unauthenticated-unbounded", by: "are kept")],
            seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair()
            pair.tester.dismissCallers()
            let idle = try (0..<120).map { index in
                try pair.tester.dial(
                    pair.linkParameters, from: [127, 0, 1, UInt8(1 + index % 30)], sendsPreface: false)
            }
            caseRun.loop.wait(.seconds(2)) { idle.count { $0.ending != nil } >= 24 }
            try caseRun.require(
                idle.count { $0.ending == nil } <= 96, "\(idle.count { $0.ending == nil }) are kept")
            let crowd = try (0..<6).map { _ in
                try pair.tester.dial(pair.linkParameters, from: [127, 0, 1, 99], sendsPreface: false)
            }
            caseRun.loop.wait(.seconds(2)) { crowd.count { $0.ending != nil } >= 2 }
            try caseRun.require(
                crowd.count { $0.ending == nil } <= 4,
                "\(crowd.count { $0.ending == nil }) of one address are kept")
            let link = try pair.tester.dial(pair.linkParameters)
            try link.complete(within: .seconds(5))
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
        },
    ]
}

extension CaseRun {
    /// Makes `count` connections on which CONFIRM went both ways, all dialled by T.
    func candidates(_ count: Int) throws -> (Pair, [TesterLink]) {
        let pair = try pair()
        let links = try (0..<count).map { _ in try pair.tester.dial(pair.linkParameters) }
        for link in links {
            try link.greet()
            link.sendConfirm()
            loop.wait(.seconds(5)) { link.ending != nil || link.waiting.contains { $0.kind == .confirm } }
            try link.expectConfirm()
        }
        return (pair, links)
    }

    /// Returns the one on which SELECT was received, which stays unread.
    func selected(among links: [TesterLink]) throws -> TesterLink {
        let isChosen = { (link: TesterLink) in
            link.ending == nil && link.waiting.contains { $0.kind == .select }
        }
        loop.wait(.seconds(6)) { links.contains(where: isChosen) }
        guard let chosen = links.first(where: isChosen) else { throw CaseFailure("no SELECT received") }
        return chosen
    }

    /// Takes two connections of one pair to their end: one is the link, the other is closed.
    func settle(_ links: [TesterLink], _ pair: Pair) throws -> TesterLink {
        for link in links where link.role == .initiator {
            try link.expectReady()
            link.sendHello()
        }
        for link in links {
            try link.expectReady()
            try link.expectHello()
            if link.role == .responder { link.sendHello() }
            link.sendConfirm()
        }
        if pair.linkParameters.isControlling {
            for link in links { try link.expectConfirm() }
            links[0].send(.select)
            try links[0].expect(.selected)
            links[1].send(.close(.duplicate))
            try links[1].expectEnd()
            return links[0]
        }
        let chosen = try selected(among: links)
        try chosen.expectConfirm()
        try chosen.expect(.select)
        chosen.send(.selected)
        for link in links where link !== chosen { try link.expectClose(.duplicate) }
        return chosen
    }
}
