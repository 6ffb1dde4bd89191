/// Chapters 9 and 15: how much, and how often.
enum ChannelLimitCases {
    static let all: [Case] = [
        Case(
            "CHN-05", "9.3", level: .channels, "no more channels than the receiver accepts",
            stimulus: "T opens as many as S's HELLO allows, and one more",
            expectation: "all are reported; one more is FLOW", rules: ["channel.limit"],
            bugs: [.seen("channels-without-limit", by: "CLOSE(FLOW)")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let most = link.receivedHello?.limits.channels ?? 0
            try caseRun.require(
                most > 0 && most < 3_000, "S takes \(most) channels, a limit that cannot be tested")
            for number in 1...most { link.send(.open(number)) }
            for _ in 1...most { _ = try pair.session.expectStream(from: pair.tester.endpoint.uid) }
            try link.expectAlive()
            link.send(.open(most + 1))
            try link.expectBroken(.flow, by: pair)
        },
        Case(
            "CHN-10", "9.4", level: .channels, "no sender exceeds the credit of a channel",
            stimulus: "S's reader waits; T sends all that its HELLO grants, then one byte more",
            expectation: "the link lives; then FLOW",
            rules: ["channel.credit-limit", "channel.credit-return"],
            bugs: [.seen("no-channel-credit-check", by: "CLOSE(FLOW)")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            try pair.session.call("hold")
            link.send(.open(1))
            _ = try pair.session.expectStream(from: pair.tester.endpoint.uid)
            try link.channel(1).send(.pattern(link.channelCredit))
            try link.expectAlive()
            try caseRun.require(
                link.channelLimits[1] == nil, "CREDIT for a channel whose reader takes nothing")
            link.send(.data(1, [1]))
            try link.expectBroken(.flow, by: pair)
        },
        Case(
            "CHN-11", "9.4", level: .channels, "streams that are stalled do not stall another",
            stimulus:
                "all but one of S's readers wait, with their credit used up, and 8 MiB go by the last; S writes to four streams, "
                + "and only the last gets credit",
            expectation: "they arrive within 10 s", rules: ["channel.credit-return", "channel.starvation"],
            bugs: [.seen("stalled-stream-stalls-all", by: "nothing on channel")], seconds: 60
        ) { caseRun in
            caseRun.allowance = 8 << 20
            let (pair, link) = try caseRun.linked()
            let uid = pair.tester.endpoint.uid
            let most = min(64, link.receivedHello?.limits.channels ?? 0)
            try pair.session.call("hold")
            for number in 1..<most {
                link.send(.open(number))
                _ = try pair.session.expectStream(from: uid)
                // Less than 20 MiB in all: otherwise the fullest would be given up.
                try link.channel(number).send(.pattern(min(link.channelCredit, (16 << 20) / Int(most))))
            }
            try pair.session.call("take")
            link.send(.open(most))
            let number = try pair.session.expectStream(from: uid)
            let bytes = [UInt8].pattern(8 << 20)
            try link.channel(most).send(bytes, within: .seconds(10))
            link.send(.fin(most))
            try pair.session.expectStreamEnd(number, bytes)
            try caseRun.expectLastOfFour()
        },
        Case(
            "CHN-12", "9.5", level: .channels, "channels are not opened and reset forever",
            stimulus: "150 channels that are reset at once; then 100 more, in a second",
            expectation: "the link lives; then FLOOD", rules: ["channel.reset-rate"],
            bugs: [.seen("resets-without-limit", by: "CLOSE(FLOOD)")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            for number in UInt32(1)...150 { link.send([.open(number), .reset(number)]) }
            try link.expectAlive()
            for number in UInt32(151)...250 { link.send([.open(number), .reset(number)]) }
            try link.expectBroken(.flood, by: pair)
        },
        Case(
            "CHN-13", "15.2", level: .channels, "DATA without bytes is not sent forever",
            stimulus: "8 empty DATA, one of a byte, 8 empty ones; then 9 in a row",
            expectation: "the link lives; then FLOOD", rules: ["limit.empty"],
            bugs: [.seen("empty-data-without-limit", by: "CLOSE(FLOOD)")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let empty = [Frame](repeating: .data(1, []), count: 8)
            link.send([.open(1)] + empty + [.data(1, [1])] + empty)
            try link.expectAlive()
            link.send(.data(1, [1]))
            link.send(empty + [.data(1, [])])
            try link.expectBroken(.flood, by: pair)
        },
        Case(
            "CHN-17", "9.4", level: .channels, "CREDIT for a channel grows",
            stimulus: "CREDIT of the limit that there is, and of less",
            expectation: "PROTOCOL", rules: ["channel.credit-grow"],
            bugs: [.seen("channel-credit-may-fall", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            for less in [UInt64(0), 1] {
                let (pair, link) = try caseRun.linked()
                _ = try pair.session.openStream("log", to: pair.tester.endpoint.uid)
                let (channel, _) = try link.expectOpen()
                link.send(.credit(UInt64(pair.linkParameters.limits.channelCredit) - less, channel: channel))
                try link.expectBroken(.protocol, by: pair)
            }
        },
        Case(
            "CHN-18", "9.4", level: .channels, "S sends no more than it was granted",
            stimulus:
                "T's HELLO grants 65,536 bytes for a channel; S writes 500,000; CREDIT follows after a second",
            expectation: "65,536 bytes at first, and all of them in the end", rules: ["channel.credit-limit"],
            bugs: [.seen("sends-beyond-channel-credit", by: "bytes came for a credit")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked(prepare: { $0.limits.channelCredit = 65_536 })
            let own = try pair.session.openStream("log", to: pair.tester.endpoint.uid)
            let (channel, _) = try link.expectOpen()
            let stream: [String: JSONValue] = ["stream": .number(Double(own))]
            _ = pair.session.post("write", stream.merging(["size": 500_000]) { $1 })
            _ = pair.session.post("finish", stream)
            caseRun.loop.wait(.seconds(1))
            let early = link.waiting.filter { $0.kind == .data }.reduce(0) { $0 + $1.payload.count }
            try caseRun.require(early <= 65_536, "\(early) bytes came for a credit of 65,536")
            try caseRun.require(early == 65_536, "only \(early) bytes came for a credit of 65,536")
            link.send(.credit(65_536 + 16_384, channel: channel))
            try caseRun.require(
                try link.channel(channel).expectBytes(granted: 65_536 + 16_384).bytes == .pattern(500_000),
                "the bytes differ from those written")
        },
        Case(
            "CHN-19", "9.4", level: .channels, "what HELLO grants for a channel is what is granted",
            stimulus:
                "S is configured for 16 KiB; T sends 200,000 bytes as credit arrives, then too much on another channel",
            expectation: "HELLO grants 16 KiB; the bytes arrive; then FLOW", rules: ["channel.credit-limit"],
            bugs: [.seen("counts-the-usual-window", by: "no CREDIT on channel")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(limits: ["channelCredit": 16_384]))
            let peer = pair.tester.endpoint.uid
            try caseRun.require(link.channelCredit == 16_384, "HELLO grants \(link.channelCredit) bytes")
            link.send(.open(1))
            let number = try pair.session.expectStream(from: peer)
            try link.channel(1).send(.pattern(200_000))
            link.send(.fin(1))
            try pair.session.expectStreamEnd(number, .pattern(200_000))
            try pair.session.call("hold")
            link.send(.open(2))
            _ = try pair.session.expectStream(from: peer)
            try link.channel(2).send(.pattern(16_384))
            try link.expectAlive()
            link.send(.data(2, [1]))
            try link.expectBroken(.flow, by: pair)
        },
    ]
}

extension CaseRun {
    /// S writes to four streams, and three of them get no credit beyond the initial: all of the last is received.
    fileprivate func expectLastOfFour() throws {
        let (pair, link) = try linked(prepare: { $0.limits.channelCredit = 65_536 })
        var channels: [UInt32] = []
        var streams: [[String: JSONValue]] = []
        for number in 1...4 {
            let stream = try pair.session.openStream("\(number)", to: pair.tester.endpoint.uid)
            streams.append(["stream": .number(Double(stream))])
            channels.append(try link.expectOpen().number)
        }
        for stream in streams {
            _ = pair.session.post("write", stream.merging(["size": 200_000]) { $1 })
            _ = pair.session.post("finish", stream)
        }
        let bytes = try link.channel(channels[3]).expectBytes(within: .seconds(10)).bytes
        try require(bytes == .pattern(200_000), "the bytes differ from those written")
    }
}
