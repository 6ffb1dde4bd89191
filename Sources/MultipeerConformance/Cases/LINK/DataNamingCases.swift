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
