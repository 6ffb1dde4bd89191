/// Chapter 9: numbers, order, names.
enum ChannelRuleCases {
    static let all: [Case] = [
        Case(
            "CHN-06", "9.2", level: .channels, "numbers of channels go upwards",
            stimulus:
                "OPEN on channel 0; OPEN of a number that was used; OPEN of a lower number, each on a link of its own",
            expectation: "PROTOCOL; a number may be left out",
            rules: ["channel.number", "frame.channel-zero"],
            bugs: [.seen("reuses-channel-numbers", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            for frames: [Frame] in [
                [.open(0)], [.open(1), .fin(1), .open(1)], [.open(7), .fin(7), .open(3)],
            ] {
                let (pair, link) = try caseRun.linked()
                link.send(frames)
                try link.expectBroken(.protocol, by: pair)
            }
            let (_, link) = try caseRun.linked()
            link.send([.open(2), .fin(2), .open(0x7fff_ffff), .fin(0x7fff_ffff)])
            try link.expectAlive()
        },
        Case(
            "CHN-07", "9.5", level: .channels, "no frame is accepted on a channel that was never opened",
            stimulus: "DATA, FIN, RESET, STOP, CREDIT, DONE about a number above all that were opened",
            expectation: "PROTOCOL", rules: ["channel.closed"],
            bugs: [.seen("data-on-any-channel", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            for frame: Frame in [
                .data(5, [1]), .fin(5), .reset(5), .stop(5), .credit(1 << 30, channel: 5), .done(5),
            ] {
                let (pair, link) = try caseRun.linked()
                link.send([.open(1), frame])
                try link.expectBroken(.protocol, by: pair)
            }
        },
        Case(
            "CHN-08", "9.5", level: .channels, "data in flight when a reader stops is dropped",
            stimulus:
                "S's reader stops; T sends DATA after STOP, then RESET; both again on the closed channel",
            expectation:
                "STOP, and the link lives; RESET on a closed channel is ignored, DATA there is PROTOCOL",
            rules: ["channel.late", "channel.stop", "channel.closed"],
            bugs: [.seen("refuses-late-data", by: "is not answered")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            link.send([.open(1), .data(1, .pattern(1_000))])
            let number = try pair.session.expectStream(from: pair.tester.endpoint.uid)
            try pair.session.call("abort", ["stream": .number(Double(number))])
            let stop = try link.channel(1).expect(.stop)
            link.send([.data(1, .pattern(10_000)), .data(1, .pattern(10_000))])
            try link.expectAlive()
            link.send(.reset(1, stop.code ?? .cancelled))
            link.send(.reset(1))
            try link.expectAlive()
            link.send(.data(1, [1]))
            try link.expectBroken(.protocol, by: pair)
        },
        Case(
            "CHN-09", "9.5", level: .channels, "no frame is accepted after FIN",
            stimulus: "DATA, or another FIN, after FIN of a stream and of a resource",
            expectation: "PROTOCOL",
            rules: ["channel.fin", "channel.closed"], bugs: [.seen("data-after-fin", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            for kind in [Frame.ChannelPurpose.stream, Frame.ChannelPurpose.resource] {
                for frame: Frame in [.data(1, [1]), .fin(1)] {
                    let (pair, link) = try caseRun.linked()
                    link.send([.open(1, kind), .data(1, [1]), .fin(1), frame])
                    try link.expectBroken(.protocol, by: pair)
                }
            }
        },
        Case(
            "CHN-15", "9.2", level: .channels, "a name is 1 to 1,024 bytes of UTF-8",
            stimulus:
                "names of 1,024 bytes, of 1,025, of none, and of bytes that are not UTF-8; metadata of 1,025 bytes",
            expectation: "the first is reported unchanged, the others are PROTOCOL", rules: ["channel.name"],
            bugs: [.seen("channel-name-unchecked", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            let long = String(repeating: "n", count: 1_024)
            let (pair, link) = try caseRun.linked()
            link.send([.open(1, name: Array(long.utf8)), .fin(1)])
            _ = try pair.session.expectStream(long, from: pair.tester.endpoint.uid)
            let wrong: [Frame] = [
                .open(1, name: Array(long.utf8) + [0x6e]), .open(1, name: []), .open(1, name: [0xc3, 0x28]),
                .open(1, name: [0xed, 0xa0, 0x80]),
                .open(1, and: [TLVEntry(Frame.Field.metadata, .pattern(1_025))]),
            ]
            for frame in wrong {
                let (pair, link) = try caseRun.linked()
                link.send(frame)
                try link.expectBroken(.protocol, by: pair)
            }
        },
        Case(
            "CHN-16", "9.2", level: .channels, "an unknown KIND is declined, unknown entries are ignored",
            stimulus:
                "OPEN with KIND 9; OPEN with an unknown entry; OPEN with a critical unknown entry",
            expectation: "STOP(DECLINED), and the link lives; a stream; PROTOCOL",
            rules: ["channel.kind", "tlv.unknown", "tlv.critical"],
            bugs: [.seen("channel-kind-unchecked", by: "nothing on channel")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            link.send(.open(1, 9))
            try link.channel(1).expect(.stop, .declined)
            link.send(.reset(1, .declined))
            let more = [TLVEntry(0x1a1a, [1])]
            link.send([.open(2, name: Array("known".utf8), and: more), .fin(2)])
            _ = try pair.session.expectStream("known", from: pair.tester.endpoint.uid)
            link.send(.open(3, and: [TLVEntry(0x8077, [])]))
            try link.expectBroken(.protocol, by: pair)
        },
    ]
}
