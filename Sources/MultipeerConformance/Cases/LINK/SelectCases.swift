/// Chapter 6: one link for each pair, and links that one end has lost.
enum SelectCases {
    static let all: [Case] = [
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
                chosen.connection.reset()
                links.removeAll { $0 === chosen }
            }
            let last = try trial.selected(among: links)
            try last.expect(.select)
            last.send(.selected)
            try last.expectAlive()
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
        },
    ]
}
