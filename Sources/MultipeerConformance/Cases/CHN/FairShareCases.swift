/// Chapters 8.3, 9.4, 9.7 and 15.2: when credit is returned, and that nothing starves.
enum FairShareCases {
    static let messages: [Case] = [
        Case(
            "MSG-17", "8.3", "a quarter of the credit is returned as soon as it is used",
            stimulus:
                "S grants 256 KiB; T sends messages that cost a quarter and some bytes, four times, and waits",
            expectation: "CREDIT each time", rules: ["msg.credit-return"],
            bugs: [.seen("credit-at-half", by: "no CREDIT")], orders: UIDOrder.allCases
        ) { caseRun in
            let window = 262_144
            let (pair, link) = try caseRun.linked(.init(limits: ["messageCredit": window]))
            for round in 1...4 {
                let before = link.credit.limit
                for _ in 0..<4 { link.send(.message(.pattern(window / 16))) }
                for _ in 0..<4 {
                    try pair.session.expectMessage(.pattern(window / 16), from: pair.tester.endpoint.uid)
                }
                caseRun.loop.wait(.seconds(3)) { link.credit.limit > before || link.ending != nil }
                try caseRun.require(
                    link.credit.limit > before, "no CREDIT for a quarter that was taken, in round \(round)")
            }
        }
    ]

    static let channels: [Case] = [
        Case(
            "CHN-20", "9.7", level: .channels, "messages starve neither a stream nor a file",
            stimulus:
                "S has messages to send all the time, up to 24 MiB, and writes 256 KiB to a stream, and sends a file of 256 KiB; T reads 16 MiB a second",
            expectation: "all of both arrives before the messages end", rules: ["channel.starvation"],
            bugs: [
                .seen("messages-starve-streams", by: "of the stream came"),
                .seen("messages-starve-files", by: "of the file came"),
            ], seconds: 40
        ) { caseRun in
            let (pair, link) = try caseRun.linked(prepare: { $0.limits.messageCredit = 64 << 20 })
            let peer = pair.tester.endpoint.uid
            let stream = try pair.session.openStream("log", to: peer)
            let channel = try link.expectOpen().number
            link.connection.narrow(to: 16_777_216)
            let piece = 131_072
            var (posted, received, data, file) = (0, 0, 0, 0)
            func post() {
                _ = pair.session.post(pattern: piece, to: peer)
                posted += piece
            }
            // More than the sockets hold, so that messages wait at S.
            for _ in 0..<48 { post() }
            _ = pair.session.post("write", ["stream": .number(Double(stream)), "size": 262_144])
            let sending = try pair.send(.pattern(262_144), name: "file")
            defer { withExtendedLifetime(sending) {} }
            while received < 24 << 20, data < 262_144 || file < 262_144 {
                guard let frame = link.nextFrame(within: .seconds(5)) else { break }
                switch frame.kind {
                case .part: received += frame.payload.count
                case .message:
                    received += frame.payload.count
                    if posted < 24 << 20 { post() }
                case .data where frame.channel == channel: data += frame.payload.count
                case .data: file += frame.payload.count
                default: break
                }
            }
            try caseRun.require(
                data == 262_144, "\(data) bytes of the stream came while \(received) of messages did")
            try caseRun.require(
                file == 262_144, "\(file) bytes of the file came while \(received) of messages did")
        },
        Case(
            "CHN-21", "9.4", level: .channels,
            "a quarter of a channel's credit is returned as soon as it is used",
            stimulus:
                "S grants 64 KiB for a channel; T sends a quarter and some bytes, four times, and waits",
            expectation: "CREDIT each time", rules: ["channel.credit-return"],
            bugs: [.seen("channel-credit-at-half", by: "no CREDIT")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(limits: ["channelCredit": 65_536]))
            link.send(.open(1))
            _ = try pair.session.expectStream(from: pair.tester.endpoint.uid)
            for round in 1...4 {
                let before = link.channelLimits[1] ?? 0
                link.send([.data(1, .pattern(8_200)), .data(1, .pattern(8_200))])
                caseRun.loop.wait(.seconds(3)) { link.channelLimits[1] ?? 0 > before || link.ending != nil }
                try caseRun.require(
                    link.channelLimits[1] ?? 0 > before,
                    "no CREDIT for a quarter that was taken, in round \(round)")
            }
        },
        Case(
            "CHN-22", "9.3", level: .channels, "OPEN costs message credit until its channel is taken",
            stimulus:
                "S grants 64 KiB and its application takes nothing; T opens channels as credit allows, then one more",
            expectation: "the link lives; FLOW", rules: ["channel.cost"],
            bugs: [.seen("opens-are-free", by: "CLOSE(FLOW)")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked(
                .init(limits: ["messageCredit": 65_536, "channels": 1_000]))
            try pair.session.call("pause")
            var number = UInt32(0)
            func open() -> Frame {
                number += 1
                return .open(number)
            }
            let cost = Frame.open(1).cost
            // What was on its way to the application when it stopped is still returned.
            for _ in 0..<20 {
                while link.credit.room >= cost { link.send(open()) }
                try link.expectAlive()
                if !caseRun.loop.wait(.milliseconds(200), for: { link.credit.room >= cost }) { break }
            }
            try caseRun.require(number < 900, "S returns the cost of channels that are not taken")
            link.send(open())
            try link.expectClose(.flow)
            try pair.session.call("resume")
        },
        Case(
            "CHN-23", "9.5", level: .channels, "frames of open channels are no control frames, others are",
            stimulus: "300 streams with a byte each, in groups of 30; then 1,000 RESETs of closed channels",
            expectation: "the link lives; FLOOD", rules: ["channel.exempt"],
            bugs: [
                "channels-are-control",
                .seen("stray-frames-free", by: "CLOSE(FLOOD)"),
            ]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            for start in stride(from: UInt32(1), to: 301, by: 30) {
                link.send(
                    (start..<(start + 30)).flatMap { [.open($0), .data($0, [1]), .fin($0)] as [Frame] })
                // Their places are free when their ends were taken.
                for _ in 0..<30 {
                    let number = try pair.session.expectStream(from: pair.tester.endpoint.uid)
                    try pair.session.expectStreamEnd(number, [1])
                }
                if let ending = link.ending { throw CaseFailure("the connection ended: \(ending)") }
            }
            link.send((0..<1_000).map { _ in .reset(1) })
            try link.expectBroken(.flood, by: pair)
        },
    ]

    static let limits: [Case] = [
        Case(
            "LIM-11", "15.2", "answers that a peer does not read do not pile up",
            stimulus: "T, a candidate with small buffers, sends 4 MiB of PINGs and reads nothing",
            expectation: "S holds less than 2 MiB more, and links another peer", rules: ["limit.unread"],
            bugs: [.seen("answers-unread", by: "S holds")], orders: [.testerLower], seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair()
            guard let before = try caseRun.subject().processUsage()?.memory else {
                throw Skip("no memory in 'stats'")
            }
            let link = try pair.tester.dial(pair.linkParameters, isNarrow: true)
            try link.becomeCandidate()
            link.answersPings = false
            link.connection.isReading = false
            let pings = Frame.ping().bytes
            let batch = (0..<4_096).flatMap { _ in pings }
            for _ in 0..<64 { link.send(raw: batch, "4,096 PINGs") }
            var most = 0
            for _ in 0..<12 {
                caseRun.loop.wait(.milliseconds(300))
                most = max(most, (try caseRun.subject().processUsage()?.memory ?? before) - before)
            }
            link.connection.reset()
            try caseRun.require(most < 2 << 20, "S holds \(most >> 10) KiB more of what T does not read")
        }
    ]
}
