/// Chapter 8: messages and their credit.
enum MessageCases {
    static let all: [Case] = [(1, 0), (2, 1), (3, 65_536)].map { size($0, $1) } + sizes

    private static func size(_ number: Int, _ count: Int) -> Case {
        Case(
            "MSG-0\(number)", "8.1", "a message of \(count) bytes arrives unchanged",
            stimulus: "\(count) bytes both ways",
            expectation: "delivered exactly", rules: ["msg.empty", "msg.order"],
            bugs: count == 0 ? ["drops-empty-message"] : ["cuts-last-byte"],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let bytes = caseRun.random.bytes(count)
            link.send(.message(bytes))
            try pair.session.expectMessage(bytes, from: pair.tester.endpoint.uid)
            try pair.session.send(bytes, to: pair.tester.endpoint.uid)
            try caseRun.require(try link.expectMessage() == bytes, "S sends something else")
        }
    }

    private static let sizes: [Case] = [
        Case(
            "MSG-04", "8.1", "the longest message arrives", stimulus: "16 MiB both ways",
            expectation: "delivered exactly",
            rules: ["msg.max", "msg.credit-return"],
            bugs: [.seen("long-message-stalls", by: "no credit within")], orders: UIDOrder.allCases,
            seconds: 60
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            caseRun.allowance = 40 << 20
            let bytes = [UInt8].pattern(16 << 20)
            try link.transmit(Frame.message(bytes, piece: 65_536))
            try pair.session.expectMessage(bytes, from: pair.tester.endpoint.uid, within: .seconds(30))
            _ = pair.session.post(pattern: 16 << 20, to: pair.tester.endpoint.uid)
            try caseRun.require(
                try link.expectMessage(within: .seconds(30)) == bytes, "S sends something else")
        },
        Case(
            "MSG-05", "8.1", "a message that is too long is refused as soon as it is",
            stimulus: "16 MiB and one byte",
            expectation: "TOO_LARGE; at most 20 MiB are held", rules: ["msg.max"],
            bugs: [.seen("message-unbounded", by: "CLOSE(TOO_LARGE)")],
            orders: UIDOrder.allCases, seconds: 60
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            caseRun.allowance = 40 << 20
            let before = try caseRun.subject().processUsage()
            for _ in 0..<256 { try link.transmit([.part(.pattern(65_536))]) }
            try link.expectAlive(within: .seconds(10))
            if let before, let now = try caseRun.subject().processUsage() {
                let more = (now.memory - before.memory) >> 20
                try caseRun.require(more <= 40, "S holds \(more) MiB more for a message of 16 MiB")
            }
            link.send(.message([1]))
            try link.expectClose(.tooLarge)
            try pair.session.expectNoMessage(from: pair.tester.endpoint.uid, for: .milliseconds(300))
        },
        Case(
            "MSG-06", "8.1", "messages keep their order",
            stimulus: "10,000 numbered messages from T, 2,000 from S",
            expectation: "all of them, in order", rules: ["msg.order"],
            bugs: [
                .seen("reorders-messages", by: "is delivered that is not what was sent"),
                .seen("loses-a-message", by: "is delivered that is not what was sent"),
            ],
            orders: UIDOrder.allCases, seconds: 90
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let peer = pair.tester.endpoint.uid
            let number = { (index: Int) in [UInt8(index >> 16), UInt8(index >> 8 & 255), UInt8(index & 255)] }
            for start in stride(from: 0, to: 10_000, by: 500) {
                try link.transmit((start..<(start + 500)).map { .message(number($0)) })
                for index in start..<(start + 500) {
                    try pair.session.expectMessage(number(index), from: peer, within: .seconds(20))
                }
            }
            for index in 0..<2_000 {
                _ = pair.session.post(
                    "send",
                    ["to": [.string(peer.hex)], "mode": "reliable", "hex": .string(number(index).hex)])
            }
            for index in 0..<2_000 {
                try caseRun.require(
                    try link.expectMessage(within: .seconds(20)) == number(index),
                    "message \(index) does not come next")
            }
        },
        Case(
            "MSG-07", "8.1", "a part that is too short is a flood",
            stimulus: "MSG_PART of 1,023 bytes; of none; then of 1,024",
            expectation: "FLOOD, FLOOD, taken", rules: ["msg.part-size"],
            bugs: [.seen("part-size-unchecked", by: "CLOSE(FLOOD)")],
            orders: UIDOrder.allCases
        ) { caseRun in
            try caseRun.refusesOnLinks([("part of 1,023", Frame.part(.pattern(1_023)).bytes)], .flood)
            try caseRun.refusesOnLinks([("part of 0", Frame.part([]).bytes)], .flood)
            let (pair, link) = try caseRun.linked()
            link.send(.part(.pattern(1_024)))
            link.send(.message([]))
            try pair.session.expectMessage(.pattern(1_024), from: pair.tester.endpoint.uid)
        },
        Case(
            "MSG-08", "8.2", "a message that the peer does not accept is not sent",
            stimulus: "T's max_message is 65,536; S sends 100,000 bytes",
            expectation: "an error to the application, nothing on the wire; 65,536 bytes arrive",
            rules: ["msg.local-limit"],
            bugs: [.seen("ignores-max-message", by: "the application gets no error")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked { $0.limits.message = 65_536 }
            let peer = pair.tester.endpoint.uid
            let answer = try pair.session.ask(
                "send", ["to": [.string(peer.hex)], "mode": "reliable", "size": 100_000])
            let late = answer["error"] == nil ? pair.session.event("error", within: .seconds(2)) : nil
            try caseRun.require(answer["error"] != nil || late != nil, "the application gets no error")
            try link.expectQuiet(for: .milliseconds(500))
            _ = pair.session.post(pattern: 65_536, to: peer)
            try caseRun.require(try link.expectMessage() == .pattern(65_536), "S sends something else")
        },
        Case(
            "MSG-13", "8.2", "a message to a peer that is not linked is not sent",
            stimulus: "S sends to T and to an unknown peer", expectation: "an error, nothing on the wire",
            rules: ["msg.failed"],
            bugs: [.seen("sends-to-some", by: "the application gets no error")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let stranger = caseRun.random.bytes(16)
            let answer = try pair.session.ask(
                "send",
                [
                    "to": [.string(pair.tester.endpoint.uid.hex), .string(stranger.hex)], "mode": "reliable",
                    "hex": "616263",
                ])
            try caseRun.require(answer["error"] != nil, "the application gets no error")
            try link.expectQuiet(for: .milliseconds(500))
        },
    ]
}
