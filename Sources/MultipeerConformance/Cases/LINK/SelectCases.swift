/// Chapter 6: one link for each pair, and links that one end has lost.
enum SelectCases {
    static let all: [Case] = [
        Case(
            "LINK-16", "6.4", "only the end with the lower uid selects",
            stimulus: "T has the higher uid and sends SELECT",
            expectation: "PROTOCOL", rules: ["select.lower"],
            bugs: [.seen("select-from-anybody", by: "CLOSE(PROTOCOL)")],
            orders: [.testerHigher]
        ) { caseRun in
            let pair = try caseRun.pair()
            let link = try pair.tester.dial(pair.linkParameters)
            try link.becomeCandidate()
            try link.expect(.select)
            link.send(.select)
            try link.expectClose(.protocol)
            // And where S has not selected, because its SELECT on another connection is unanswered.
            let first = try pair.tester.dial(pair.linkParameters)
            try first.becomeCandidate()
            try first.expect(.select)
            let second = try pair.tester.dial(pair.linkParameters)
            try second.becomeCandidate()
            second.send(.select)
            try second.expectClose(.protocol)
        },
        Case(
            "LINK-17", "6.4", "both dial at the same moment, and there is one link",
            stimulus: "S and T dial at once, again and again with new peers",
            expectation: "one SELECTED each time; the other connection is closed with DUPLICATE",
            rules: ["select.one", "select.duplicates"],
            bugs: [.seen("two-links-per-pair", by: "CLOSE(DUPLICATE)")],
            orders: UIDOrder.allCases,
            seconds: 120
        ) { caseRun in
            let session = try caseRun.session()
            for round in 0..<(caseRun.order == .testerHigher ? 100 : 15) {
                let tester = try caseRun.tester(beside: session, "peer \(round)")
                let pair = try caseRun.introduce(session, tester)
                let dialled = try tester.dial(pair.linkParameters)
                let accepted = try tester.accepted(pair.linkParameters)
                let link = try caseRun.settle([dialled, accepted], pair)
                try session.expect("connected", of: tester.endpoint.uid)
                link.send(.close(.goodbye))
                try link.expectEnd()
                try session.expectNotConnected(tester.endpoint.uid)
                let states = session.states(of: tester.endpoint.uid)
                try caseRun.require(states == ["connecting"], "S also reports \(states)")
            }
        },
        Case(
            "LINK-18", "6.4", "of three candidates one is selected",
            stimulus: "T confirms three connections; S selects",
            expectation: "one SELECT, DUPLICATE on the two others",
            rules: ["select.one", "select.duplicates"],
            bugs: [.seen("selects-all", by: "are selected")], orders: [.testerHigher]
        ) { caseRun in
            let (_, links) = try caseRun.candidates(3)
            let chosen = try caseRun.selected(among: links)
            caseRun.loop.wait(.seconds(1))
            try caseRun.require(
                links.count { $0.waiting.contains { $0.kind == .select } } == 1, "two are selected")
            try chosen.expect(.select)
            chosen.send(.selected)
            for link in links where link !== chosen { try link.expectClose(.duplicate) }
            try chosen.expectAlive()
        },
        Case(
            "LINK-19", "6.4", "when the selected connection dies, the next one is selected",
            stimulus: "three candidates; T resets the selected one, twice", expectation: "SELECT on the next",
            rules: ["select.next"], bugs: [.seen("never-selects-next", by: "no SELECT received")],
            orders: [.testerHigher]
        ) { caseRun in
            var (pair, links) = try caseRun.candidates(3)
            for _ in 0..<2 {
                let chosen = try caseRun.selected(among: links)
                chosen.connection.reset()
                links.removeAll { $0 === chosen }
            }
            let last = try caseRun.selected(among: links)
            try last.expect(.select)
            last.send(.selected)
            try last.expectAlive()
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
        },
    ]
}
