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
        Case(
            "LIM-12", "15.2", "32 peers are expected at a time",
            stimulus: "S is asked to connect to 33 peers that do nothing; one is cancelled",
            expectation: "an error for the last one; it is taken afterwards", rules: ["limit.expected"],
            bugs: [.seen("expects-without-limit", by: "is expected")]
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            var blobs: [[UInt8]] = []
            var uids: [[UInt8]] = []
            for _ in 0..<33 {
                var data = tester.data(for: session.uid)
                data.endpoint = Endpoint(uid: caseRun.random.uid(), instance: caseRun.random.bytes(8))
                _ = try session.data(for: data.endpoint.uid)
                uids.append(data.endpoint.uid)
                blobs.append(data.bytes)
            }
            for blob in blobs.dropLast() { try session.connect(blob) }
            let code = try session.refusal(of: blobs[32], from: uids[32])
            try caseRun.require(code != nil, "a 33rd peer is expected")
            try session.call("cancel", ["peer": .string(uids[0].hex)])
            try session.expectNotConnected(uids[0])
            try session.connect(blobs[32])
            caseRun.isSessionSpent = true
        },
        Case(
            "LIM-13", "15.2", "connections that S has closed do not pile up",
            stimulus: "120 connections from 40 addresses, each with a frame that ends it; T keeps them open",
            expectation: "S holds at most 64 of them", rules: ["limit.closing"],
            bugs: [.seen("closing-unbounded", by: "are held")], seconds: 30
        ) { caseRun in
            guard let before = try caseRun.subject().processUsage()?.descriptors else {
                throw Skip("no descriptors in 'stats'")
            }
            let pair = try caseRun.pair(connects: false)
            var links: [TesterLink] = []
            for wave in 0..<2 {
                for number in 0..<60 {
                    let link = try pair.tester.dial(
                        pair.linkParameters, from: [127, 0, 2, UInt8(1 + (60 * wave + number) % 40)])
                    link.connection.isReading = false
                    link.send(raw: Frame(.select).bytes, "SELECT")
                    links.append(link)
                }
                caseRun.loop.wait(.milliseconds(150))
            }
            var least = Int.max
            for _ in 0..<3 {
                least = min(least, (try caseRun.subject().processUsage()?.descriptors ?? 0) - before)
                caseRun.loop.wait(.milliseconds(50))
            }
            for link in links { link.connection.reset() }
            // The session has a listener, and sockets of its own.
            try caseRun.require(least <= 64 + 16, "\(least) are held")
        },
        Case(
            "LIM-14", "15.2", "issued data is held for 1,024 peers",
            stimulus: "S issues data for T, then for 1,024 others, and for T2; both dial",
            expectation: "UNKNOWN_PEER for T, or no attempt; T2 is linked", rules: ["limit.issued"],
            bugs: [.seen("issues-without-limit", by: "CLOSE(UNKNOWN_PEER)")], seconds: 30
        ) { caseRun in
            caseRun.allowance = 4 << 20
            let session = try caseRun.session()
            let old = try caseRun.tester(beside: session, "old")
            let forgotten = try session.data(for: old.endpoint.uid)
            let posts = (0..<1_024).map { _ in
                session.post("data", ["peer": .string(caseRun.random.uid().hex), "mesh": .bool(false)])
            }
            for post in posts { _ = session.subject.answer(post, within: .seconds(20)) }
            let new = try caseRun.introduce(session, caseRun.tester(beside: session, "new"))
            let link = try new.link()
            let data = old.data(for: session.uid)
            if try session.ask("connect", ["data": .string(data.bytes.hex)])["error"] == nil {
                let late = try old.dial(
                    LinkParameters(
                        mine: data.bytes, myToken: data.token, theirs: forgotten,
                        theirData: try ConnectionData(ofSubject: forgotten), me: old.endpoint))
                try late.expectReady()
                late.sendHello()
                try late.expectClose(.unknownPeer)
            }
            try link.expectAlive()
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
