/// Chapter 6: one link for each pair, and links that one end has lost.
extension Suite {
    static let selectCases: [Case] = [
        Case(
            "LINK-16", "6.4", "only the end with the lower uid selects",
            stimulus: "T has the higher uid and sends SELECT",
            expectation: "PROTOCOL", rules: ["select.lower"],
            bugs: [.seen("select-from-anybody", by: "CLOSE(PROTOCOL)")],
            orders: [.testerHigher]
        ) { trial in
            let pair = try trial.pair()
            let link = try pair.tester.dial(pair.terms)
            try link.becomeCandidate()
            try link.expect(.select)
            link.send(.select)
            try link.expectClose(.protocol)
            // And where S has not selected, because its SELECT is unanswered elsewhere.
            let first = try pair.tester.dial(pair.terms)
            try first.becomeCandidate()
            try first.expect(.select)
            let second = try pair.tester.dial(pair.terms)
            try second.becomeCandidate()
            second.send(.select)
            try second.expectClose(.protocol)
        },
        Case(
            "LINK-17", "6.4", "both dial at the same moment, and there is one link",
            stimulus: "S and T dial at once, again and again with new peers",
            expectation: "one SELECTED each time; the other connection is closed with DUPLICATE",
            rules: ["select.one", "select.rest"], bugs: [.seen("two-links-per-pair", by: "CLOSE(DUPLICATE)")],
            orders: Order.allCases,
            seconds: 120
        ) { trial in
            let session = try trial.session()
            for round in 0..<(trial.order == .testerHigher ? 100 : 15) {
                let tester = try trial.tester(beside: session, "peer \(round)")
                let pair = try trial.introduce(session, tester)
                let dialled = try tester.dial(pair.terms)
                let accepted = try tester.accepted(pair.terms)
                let link = try trial.settle([dialled, accepted], pair)
                try session.expect("connected", of: tester.endpoint.uid)
                link.send(.close(.goodbye))
                try link.expectEnd()
                try session.expectNotConnected(tester.endpoint.uid)
                let states = session.states(of: tester.endpoint.uid)
                try trial.require(states == ["connecting"], "\(states) is told on top")
            }
        },
        Case(
            "LINK-18", "6.4", "of three candidates one is selected",
            stimulus: "T confirms three connections; S selects",
            expectation: "one SELECT, DUPLICATE on the two others", rules: ["select.one", "select.rest"],
            bugs: [.seen("selects-all", by: "are selected")], orders: [.testerHigher]
        ) { trial in
            let (_, links) = try trial.candidates(3)
            let chosen = try trial.selected(among: links)
            trial.pump.wait(.seconds(1))
            try trial.require(
                links.count { $0.waiting.contains { $0.kind == .select } } == 1, "two are selected")
            try chosen.expect(.select)
            chosen.send(.selected)
            for link in links where link !== chosen { try link.expectClose(.duplicate) }
            try chosen.expectAlive()
        },
        Case(
            "LINK-19", "6.4", "when the selected connection dies, the next one is selected",
            stimulus: "three candidates; T resets the selected one, twice", expectation: "SELECT on the next",
            rules: ["select.next"], bugs: [.seen("never-selects-next", by: "no SELECT comes")],
            orders: [.testerHigher]
        ) { trial in
            var (pair, links) = try trial.candidates(3)
            for _ in 0..<2 {
                let chosen = try trial.selected(among: links)
                chosen.reset()
                links.removeAll { $0 === chosen }
            }
            let last = try trial.selected(among: links)
            try last.expect(.select)
            last.send(.selected)
            try last.expectAlive()
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
        },
    ]

    static let staleCases: [Case] = [
        Case(
            "LINK-20", "6.5", "a SELECT replaces the link that the other end has lost",
            stimulus: "T, controlling, falls silent, dials again and selects",
            expectation: "SELECTED at once; the old link ends",
            rules: ["stale.supersede"], bugs: [.seen("keeps-stale-link", by: "SELECTED")],
            orders: [.testerLower]
        ) { trial in
            let (pair, old) = try trial.linked()
            old.abandon()
            let link = try pair.tester.dial(pair.terms)
            try link.complete(within: .seconds(2))
            let peer = pair.tester.endpoint.uid
            try pair.session.expectNotConnected(peer)
            try pair.session.expect("connected", of: peer)
            old.isReading = true
            try old.expectEnd()
            try link.expectAlive()
        },
        Case(
            "LINK-21", "6.5", "a controlling end finds out that its link is lost",
            stimulus: "T, controlled, falls silent after 2 s and dials again",
            expectation: "PING on the old link, SELECT on the new one within 3 s",
            rules: ["stale.probe"], bugs: ["never-probes"], orders: [.testerHigher], seconds: 30
        ) { trial in
            let (pair, old) = try trial.linked()
            trial.pump.wait(.milliseconds(2_300))
            old.answersPings = false
            let link = try pair.tester.dial(pair.terms)
            try link.becomeCandidate()
            let start = ContinuousClock.now
            try link.expect(.select, within: .seconds(4))
            try trial.require(ContinuousClock.now - start < .milliseconds(3_500), "selected late")
            link.send(.selected)
            try trial.require(old.waiting.contains { $0.kind == .ping }, "the old link is not probed")
            try link.expectAlive()
        },
        Case(
            "LINK-28", "6.5", "a link that lives keeps its place",
            stimulus:
                "T, controlled, dials again: at once, and after 2 s while it answers PING on the old link",
            expectation: "DUPLICATE both times, the old link lives", rules: ["stale.probe"],
            bugs: [.seen("replaces-living-link", by: "CLOSE(DUPLICATE)")],
            orders: [.testerHigher], seconds: 30
        ) { trial in
            let (pair, old) = try trial.linked()
            let young = try pair.tester.dial(pair.terms)
            try young.becomeCandidate()
            try young.expectClose(.duplicate)
            trial.pump.wait(.milliseconds(2_300))
            let link = try pair.tester.dial(pair.terms)
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
            orders: Order.allCases, seconds: 30
        ) { trial in
            let (pair, old) = try trial.linked()
            trial.pump.wait(.milliseconds(2_300))
            pair.tester.restart()
            let next = try trial.introduce(pair.session, pair.tester)
            let link = try pair.tester.dial(next.terms)
            try link.becomeCandidate()
            if next.terms.isControlling { link.send(.select) }
            try link.expectClose(.busy)
            try old.expectAlive()
        },
        Case(
            "LINK-27", "3.2", "a peer that was restarted gets in",
            stimulus: "T is killed and comes back with another instance",
            expectation: "connected within 15 s", rules: ["stale.busy", "endpoint.instance"],
            bugs: [.seen("remembers-instance", by: "SELECTED")],
            orders: Order.allCases, seconds: 40
        ) { trial in
            let (pair, old) = try trial.linked()
            old.abandon()
            pair.tester.restart()
            pair.tester.dismissCallers()
            let next = try trial.introduce(pair.session, pair.tester)
            let deadline = ContinuousClock.now + .seconds(15)
            let link = try pair.tester.dial(next.terms)
            try link.becomeCandidate()
            trial.pump.wait(.milliseconds(10))
            try link.select(within: deadline - .now)
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
            try link.expectAlive()
        },
        Case(
            "LINK-24", "15.2", "strangers do not keep an honest peer out",
            stimulus: "40 connections from 10 addresses that say nothing, then an honest peer",
            expectation: "32 at most are kept, 4 from an address; the honest peer is linked",
            rules: ["limit.unauthenticated"], bugs: [.seen("unauthenticated-unbounded", by: "are kept")],
            seconds: 30
        ) { trial in
            let pair = try trial.pair()
            pair.tester.dismissCallers()
            let idle = try (0..<40).map { index in
                try pair.tester.dial(
                    pair.terms, from: [127, 0, 1, UInt8(1 + index % 10)], sendsPreface: false)
            }
            trial.pump.wait(.seconds(2)) { idle.count { $0.ending != nil } >= 8 }
            try trial.require(
                idle.count { $0.ending == nil } <= 32, "\(idle.count { $0.ending == nil }) are kept")
            let crowd = try (0..<6).map { _ in
                try pair.tester.dial(pair.terms, from: [127, 0, 1, 99], sendsPreface: false)
            }
            trial.pump.wait(.seconds(2)) { crowd.count { $0.ending != nil } >= 2 }
            try trial.require(
                crowd.count { $0.ending == nil } <= 4,
                "\(crowd.count { $0.ending == nil }) of one address are kept")
            let link = try pair.tester.dial(pair.terms)
            try link.complete(within: .seconds(5))
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
        },
    ]
}

extension Trial {
    /// So many connections on which CONFIRM went both ways, all dialled by T.
    fileprivate func candidates(_ count: Int) throws -> (Pair, [Link]) {
        let pair = try pair()
        let links = try (0..<count).map { _ in try pair.tester.dial(pair.terms) }
        for link in links {
            try link.greet()
            link.sendConfirm()
            pump.wait(.seconds(5)) { link.ending != nil || link.waiting.contains { $0.kind == .confirm } }
            try link.expectConfirm()
        }
        return (pair, links)
    }

    /// The one on which SELECT came; it is not taken.
    fileprivate func selected(among links: [Link]) throws -> Link {
        let isChosen = { (link: Link) in link.ending == nil && link.waiting.contains { $0.kind == .select } }
        pump.wait(.seconds(6)) { links.contains(where: isChosen) }
        guard let chosen = links.first(where: isChosen) else { throw Failure("no SELECT comes") }
        return chosen
    }

    /// Takes two connections of one pair to their end: one is the link, the other is closed.
    fileprivate func settle(_ links: [Link], _ pair: Pair) throws -> Link {
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
        if pair.terms.isControlling {
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
