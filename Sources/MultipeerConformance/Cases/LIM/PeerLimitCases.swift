/// Chapter 15: how much one peer may make the other hold, however often it connects.
enum PeerLimitCases {
    static let all: [Case] = [
        Case(
            "LIM-09", "15.2", "one peer has four candidates at most", stimulus: "T confirms six connections",
            expectation: "DUPLICATE on the first two without SELECT; another becomes the link",
            rules: ["limit.confirmed"], bugs: [.seen("confirmed-unbounded", by: "CLOSE(DUPLICATE)")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let links = try (0..<6).map { _ in
                let link = try pair.tester.dial(pair.linkParameters)
                try link.becomeCandidate()
                return link
            }
            var rest = links
            if !pair.linkParameters.isControlling {
                rest.removeAll { $0.waiting.contains { $0.kind == .select } }
            }
            for link in rest.prefix(2) { try link.expectClose(.duplicate) }
            let open = links.filter { $0.ending == nil }
            try caseRun.require(open.count == 4, "\(open.count) connections are open")
            let chosen = pair.linkParameters.isControlling ? open[3] : try caseRun.selected(among: links)
            try chosen.select()
            try chosen.expectAlive()
        },
        Case(
            "LIM-10", "15.2", "a peer that links again gets no additional window while nothing is read",
            stimulus: "S reads nothing; T fills the window of a link and continues on the next, twice",
            expectation: "BUSY for the third; T is linked again after S has read the messages",
            rules: ["limit.relink"], bugs: [.seen("relinks-unread", by: "CLOSE(BUSY)")], seconds: 60
        ) { caseRun in
            caseRun.allowance = 16 << 20
            let (pair, first) = try caseRun.linked()
            try pair.session.call("pause")
            try first.fillWindow()
            let second = try caseRun.moveOver(from: first, pair)
            try second.fillWindow()
            let third = try pair.tester.dial(pair.linkParameters)
            try third.becomeCandidate()
            try third.expectClose(.busy)
            try second.expectAlive()
            try pair.session.call("resume")
            // S reports what it has taken with CREDIT.
            try second.expect(.credit)
            let fourth = try caseRun.moveOver(from: second, pair)
            try fourth.expectAlive()
        },
    ]
}

extension CaseRun {
    /// Selects a new connection while the old link is open, then drops the old one.
    fileprivate func moveOver(from old: TesterLink, _ pair: Pair) throws -> TesterLink {
        let link = try pair.tester.dial(pair.linkParameters)
        try link.becomeCandidate()
        old.answersPings = false
        link.send(.select)
        try old.expect(.ping)
        old.connection.close()
        try link.expect(.selected, within: .seconds(4))
        return link
    }
}

extension TesterLink {
    /// Sends messages until the window is spent, and waits until they have arrived.
    fileprivate func fillWindow() throws {
        while case let room = Int(credit.room), room >= 64 {
            let message = Frame.message([UInt8](repeating: 7, count: min(room, 65_064) - 64))
            caseRun.loop.wait(.seconds(10)) { connection.unsent < 1 << 20 || ending != nil }
            if let ending { throw CaseFailure("\(name): the connection ended: \(ending)") }
            send(message)
        }
        try expectAlive()
    }
}
