/// Chapter 15: budgets for control frames and key updates, data that is not read, and a subject without descriptors.
enum BudgetCases {
    static let all: [Case] = [
        Case(
            "LIM-01", "15.2", "PING has a budget", stimulus: "300 PINGs; a second later 10,000",
            expectation: "300 PONGs; then FLOOD", rules: ["limit.control"],
            bugs: [.seen("pings-without-limit", by: "CLOSE(FLOOD)")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            link.send([Frame](repeating: .ping(), count: 300))
            try link.expectAlive()
            link.send([Frame](repeating: .ping(), count: 10_000))
            try link.expectBroken(.flood, by: pair)
        },
        Case(
            "LIM-02", "15.2", "CREDIT has a budget", stimulus: "10,000 CREDITs, each of one byte more",
            expectation: "FLOOD", rules: ["limit.control"],
            bugs: [.seen("credits-without-limit", by: "CLOSE(FLOOD)")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let limit = UInt64(pair.linkParameters.limits.messageCredit)
            link.send((1...10_000).map { .credit(limit + $0) })
            try link.expectBroken(.flood, by: pair)
        },
        Case(
            "LIM-03", "5.3", "changes of keys have a budget",
            stimulus:
                "20 KeyUpdates that ask for one in return; 1,000 in one go; on another link 10 at a time, with a PING after them",
            expectation: "the link lives; FLOOD; FLOOD", rules: ["tls.messages"],
            bugs: [.seen("key-updates-without-limit", by: "CLOSE(FLOOD)")], seconds: 30
        ) { caseRun in
            for batch in [1_000, 10] {
                let (pair, link) = try caseRun.linked(.init(preference: .required))
                for _ in 1...20 { link.connection.updateKeys(isAsking: true) }
                try link.expectAlive()
                for number in 1...1_000 where link.ending == nil {
                    link.connection.updateKeys(isAsking: true)
                    if number % batch == 0 { link.send(.ping()) }
                }
                try link.expectBroken(.flood, by: pair)
            }
        },
        Case(
            "LIM-04", "15.2", level: .channels, "unread data is bounded in a session",
            stimulus: "7 peers, each with 24 full streams that are not read: 42 MiB",
            expectation: "S holds 20 MiB, and stops the fullest with STOP(BUSY); the links continue",
            rules: ["limit.memory", "limit.links"],
            bugs: [.seen("channels-without-memory-limit", by: "given up")], seconds: 90
        ) { caseRun in
            caseRun.allowance = 16 << 20
            let session = try caseRun.session()
            try session.call("hold")
            var links: [TesterLink] = []
            for number in 0..<7 {
                let tester = try caseRun.tester(beside: session, "tester-\(number)")
                links.append(try caseRun.introduce(session, tester).link())
            }
            for link in links {
                for channel in UInt32(1)...24 {
                    link.send(.open(channel))
                    try link.channel(channel).fill()
                }
            }
            for link in links { try link.expectAlive(within: .seconds(20)) }
            let stopped = links.reduce(0) {
                $0 + $1.waiting.filter { $0.kind == .stop && $0.code == .busy }.count
            }
            let held = (7 * 24 - stopped) * links[0].channelCredit
            try caseRun.require(
                held <= 20 << 20, "S has given up \(stopped) streams only and holds \(held >> 20) MiB")
            if let buffered = try caseRun.subject().call("stats")["buffered"]?.int {
                try caseRun.require(buffered <= 21 << 20, "S holds \(buffered >> 20) MiB")
            }
            for link in links { link.send(.close(.goodbye)) }
            for link in links { try link.expectEnd() }
        },
        Case(
            "LIM-05", "15.2", "no descriptors left",
            stimulus: "S may have 8 descriptors more; 28 unauthenticated clients connect",
            expectation: "S does not spin, and accepts an honest peer when the clients have left",
            rules: ["limit.unauthenticated"], bugs: [.seen("spins-without-descriptors", by: "S is busy")],
            seconds: 40
        ) { caseRun in
            guard let descriptors = try caseRun.subject().call("stats")["fds"]?.int else {
                throw Skip("no 'fds' in stats")
            }
            let pair = try caseRun.pair(.init(), connects: false)
            let answer = try caseRun.subject().ask("limit", ["descriptors": .number(Double(descriptors + 8))])
            if let error = answer["error"]?.text { throw CaseFailure("'limit' fails: \(error)") }
            let strangers = try (1...28).map {
                try pair.tester.dial(pair.linkParameters, from: [127, 0, 1, UInt8($0)], sendsPreface: false)
            }
            let before = try caseRun.subject().readySeconds
            caseRun.loop.wait(.seconds(3))
            if let before, let after = try caseRun.subject().readySeconds {
                try caseRun.require(
                    after - before < 1, "S is busy for \(after - before) s of 3, with nothing")
            }
            for stranger in strangers { stranger.connection.close() }
            try pair.session.connect(pair.linkParameters.mine)
            _ = try pair.link(within: .seconds(10))
            try caseRun.subject().call("limit", ["descriptors": 4_096])
        },
    ]
}

extension TesterChannel {
    /// Sends all that is granted at once, unless the subject stops it.
    fileprivate func fill() throws {
        let bytes = [UInt8].pattern(link.channelCredit)
        var position = 0
        while position < bytes.count {
            link.caseRun.loop.wait(.seconds(10)) { link.connection.unsent < 1 << 20 || link.ending != nil }
            if let ending = link.ending { throw CaseFailure("\(link.name): the connection ended: \(ending)") }
            if link.waiting.contains(where: { $0.kind == .stop && $0.channel == number }) {
                return link.send(.reset(number, .busy))
            }
            let end = min(bytes.count, position + Frame.longestData)
            link.send(.data(number, Array(bytes[position..<end])))
            position = end
        }
    }
}
