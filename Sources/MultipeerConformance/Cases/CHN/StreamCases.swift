/// Chapter 9, streams.
enum StreamCases {
    static let all: [Case] = [
        Case(
            "CHN-01", "9.5", level: .channels, "a stream arrives, to its last byte",
            stimulus: "1 MiB and FIN, each way",
            expectation: "the bytes and the end are delivered; S sends FIN after its last byte",
            rules: ["channel.credit-return", "channel.credit-limit", "channel.fin", "stream.end"],
            bugs: [.seen("stream-loses-tail", by: "not those sent")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let bytes = [UInt8].pattern(1 << 20)
            link.send(.open(1, name: Array("log".utf8)))
            let number = try pair.session.expectStream("log", from: pair.tester.endpoint.uid)
            try link.channel(1).send(bytes)
            link.send(.fin(1))
            try pair.session.expectStreamEnd(number, bytes)

            let own = try pair.session.openStream("back", to: pair.tester.endpoint.uid)
            let (channel, opening) = try link.expectOpen()
            try caseRun.require(opening.name == Array("back".utf8), "the stream's name is changed")
            try caseRun.require(
                opening.kind == Frame.ChannelPurpose.stream, "a stream is opened as KIND \(opening.kind)")
            let stream: [String: JSONValue] = ["stream": .number(Double(own))]
            _ = pair.session.post("write", stream.merging(["size": .number(Double(bytes.count))]) { $1 })
            _ = pair.session.post("finish", stream)
            try caseRun.require(
                try link.channel(channel).expectBytes().bytes == bytes, "the bytes differ from those written")
            try link.expectAlive()
        },
        Case(
            "CHN-02", "9.5", level: .channels, "a stream may be empty",
            stimulus: "OPEN and FIN at once, each way",
            expectation: "a stream without bytes, and its end", rules: ["channel.fin", "stream.end"],
            bugs: [.seen("fin-is-silent", by: "no 'stream-end'")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            link.send([.open(1, name: Array("empty".utf8)), .fin(1)])
            let number = try pair.session.expectStream("empty", from: pair.tester.endpoint.uid)
            try pair.session.expectStreamEnd(number, [])
            let own = try pair.session.openStream("void", to: pair.tester.endpoint.uid)
            let (channel, _) = try link.expectOpen()
            _ = pair.session.post("finish", ["stream": .number(Double(own))])
            try caseRun.require(
                try link.channel(channel).expectBytes().bytes.isEmpty, "an empty stream has bytes")
        },
        Case(
            "CHN-03", "9.5", level: .channels, "a writer is notified of STOP",
            stimulus: "S opens a stream, T sends STOP",
            expectation: "RESET with the same code; the writer gets an error within a second",
            rules: ["channel.stop"], bugs: [.seen("ignores-stop", by: "nothing on channel")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let own = try pair.session.openStream("log", to: pair.tester.endpoint.uid)
            let (channel, _) = try link.expectOpen()
            link.send(.stop(channel, .declined))
            try link.channel(channel).expect(.reset, .declined, within: .seconds(2))
            try pair.session.expectStreamError(own, within: .seconds(2))
            try link.expectAlive()
        },
        Case(
            "CHN-04", "9.5", level: .channels, "RESET does not complete a stream",
            stimulus: "OPEN, 1,000 bytes, RESET",
            expectation: "the reader gets an error", rules: ["stream.end"],
            bugs: [.seen("reset-is-an-end", by: "reported as complete")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            link.send([.open(1), .data(1, .pattern(1_000))])
            let number = try pair.session.expectStream(from: pair.tester.endpoint.uid)
            link.send(.reset(1, .cancelled))
            try pair.session.expectStreamError(number)
            try link.expectAlive()
        },
        Case(
            "CHN-14", "9.5", level: .channels, "streams end with their link",
            stimulus:
                "S disconnects while streams are open each way; then T ends a link in the same situation",
            expectation: "every stream is reported as broken", rules: ["stream.end", "close.goodbye"],
            bugs: [.seen("streams-outlive-link", by: "no 'stream-end'")], orders: UIDOrder.allCases
        ) { caseRun in
            for isLeaving in [true, false] {
                let (pair, link) = try caseRun.linked()
                let uid = pair.tester.endpoint.uid
                link.send([.open(1), .data(1, .pattern(1_000)), .open(2)])
                var numbers = [
                    try pair.session.expectStream(from: uid), try pair.session.expectStream(from: uid),
                ]
                numbers.append(try pair.session.openStream("back", to: uid))
                _ = try link.expectOpen()
                if isLeaving {
                    _ = pair.session.post("disconnect")
                    try link.expectClose(.goodbye)
                } else {
                    link.send(.close(.goodbye))
                    try link.expectEnd()
                }
                for number in numbers { try pair.session.expectStreamError(number) }
            }
        },
    ]
}
