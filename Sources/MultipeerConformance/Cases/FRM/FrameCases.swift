/// Chapter 7: the byte stream.
enum FrameCases {
    static let all: [Case] = [
        Case(
            "FRM-01", "7.3", "an unknown kind ends the link",
            stimulus: "kinds 0x00, 0x0A, 0x12, 0x29, 0x43, 0x50 and 0x7F on a link",
            expectation: "PROTOCOL each time", rules: ["frame.unknown"],
            bugs: [.seen("skips-unknown-kinds", by: "CLOSE(PROTOCOL)")],
            orders: UIDOrder.allCases,
            seconds: 30
        ) { caseRun in
            try caseRun.refusesOnLinks(
                [0x00, 0x0a, 0x12, 0x29, 0x43, 0x50, 0x7f].map {
                    ("kind \($0)", Frame(FrameKind($0), []).bytes)
                })
        },
        Case(
            "FRM-02", "7.3", "ignorable kinds are ignored",
            stimulus: "kinds 0x8A, 0xFA and 0xBB with 60,000 bytes, on several channels, between two parts",
            expectation: "the message around them is delivered",
            rules: ["frame.ignorable", "frame.channel-zero"],
            bugs: [.seen("refuses-ignorable", by: "no message of")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let bytes = [UInt8].pattern(3_000)
            link.send(.part(Array(bytes[..<2_000])))
            for (kind, channel) in [(0x8a, 0), (0xfa, 7), (0xbb, 0xffff_ffff)] as [(UInt8, UInt32)] {
                link.send(Frame(FrameKind(kind), channel: channel, .pattern(60_000)))
                link.send(Frame(FrameKind(kind), channel: channel))
            }
            link.send(.message(Array(bytes[2_000...])))
            try pair.session.expectMessage(bytes, from: pair.tester.endpoint.uid)
            try link.expectAlive()
        },
        Case(
            "FRM-03", "7.1", "a frame that is too long is refused at its header",
            stimulus:
                "headers with length 65,537 and 0xFFFFFF, of MSG and of an ignorable kind, and nothing after them",
            expectation: "PROTOCOL at once", rules: ["frame.limit"],
            bugs: [.seen("frame-limit-unchecked", by: "CLOSE(PROTOCOL)")],
            orders: UIDOrder.allCases
        ) { caseRun in
            try caseRun.refusesOnLinks([
                ("MSG of 65,537", Frame.header(length: 65_537, kind: .message)),
                ("MSG of 16 MiB", Frame.header(length: 0xffffff, kind: .message)),
                ("ignorable of 65,537", Frame.header(length: 65_537, kind: FrameKind(0x9a))),
            ])
        },
        Case(
            "FRM-04", "7.2", "a frame on the wrong channel ends the link",
            stimulus: "PING, PONG, MSG, CLOSE on channel 5; OPEN, DATA, DONE on channel 0",
            expectation: "PROTOCOL",
            rules: ["frame.channel-zero"], bugs: [.seen("channel-unchecked", by: "CLOSE(PROTOCOL)")],
            orders: UIDOrder.allCases,
            seconds: 30
        ) { caseRun in
            let frames = [
                Frame(.ping, channel: 5, .pattern(8)), Frame(.pong, channel: 5, .pattern(8)),
                Frame(.message, channel: 5, [1]),
                Frame(.close, channel: 5, [0, 1]),
                Frame(.open, channel: 0, [TLVEntry(1, [1]), TLVEntry(2, [97])].bytes),
                Frame(.data, channel: 0, [1]), Frame(.done, channel: 0, [0, 0]),
            ]
            try caseRun.refusesOnLinks(frames.map { ("\($0.kind)", $0.bytes) })
        },
        Case(
            "FRM-05", "7.1", "record boundaries have no meaning",
            stimulus: "1,000 frames in one record; one frame over 40 records",
            expectation: "all messages are delivered, in order", rules: ["frame.header"],
            bugs: [.seen("one-frame-per-read", by: "no message of")],
            orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            let peer = pair.tester.endpoint.uid
            let many = (0..<1_000).map { Frame.message([UInt8($0 >> 8), UInt8($0 & 255)]) }
            link.send(many)
            for frame in many { try pair.session.expectMessage(frame.payload, from: peer) }
            let long = [UInt8].pattern(4_000)
            let bytes = Frame.message(long).bytes
            // A PONG between the pieces would be a part of the message.
            link.answersPings = false
            for start in stride(from: 0, to: bytes.count, by: 101) {
                link.send(raw: Array(bytes[start..<min(start + 101, bytes.count)]), "a piece")
                caseRun.loop.wait(.milliseconds(2))
            }
            link.answersPings = true
            try pair.session.expectMessage(long, from: peer)
        },
        Case(
            "FRM-06", "7.4", "frames after CLOSE are ignored",
            stimulus: "CLOSE(GOODBYE), a message and nonsense in one piece",
            expectation: "no message; S ends the connection without a CLOSE of its own and reports GOODBYE",
            rules: ["close.after"],
            bugs: [
                .seen("delivers-after-close", by: "answered with CLOSE"),
                .seen("answers-close", by: "answered with CLOSE"),
            ], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            link.send(
                raw: Frame.close(.goodbye, reason: "bye").bytes + Frame.message([1]).bytes + .pattern(40),
                "CLOSE and more")
            try link.expectEnd()
            try caseRun.require(!link.waiting.contains { $0.kind == .close }, "CLOSE is answered with CLOSE")
            try pair.session.expectNotConnected(pair.tester.endpoint.uid, [.goodbye])
            try pair.session.expectNoMessage(from: pair.tester.endpoint.uid, for: .milliseconds(300))
        },
        Case(
            "FRM-07", "14.2", "an unsolicited PONG is ignored", stimulus: "three PONGs",
            expectation: "the link lives",
            rules: ["live.pong"], bugs: [.seen("refuses-stray-pong", by: "is not answered")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (_, link) = try caseRun.linked()
            for _ in 0..<3 { link.send(.pong(caseRun.random.bytes(8))) }
            try link.expectAlive()
        },
        Case(
            "FRM-08", "14.2", "PING is answered while much is sent",
            stimulus: "S sends 12 MiB; T asks while S waits for credit, and five times while it sends",
            expectation: "PONG with the same bytes within 1 s", rules: ["live.pong"],
            bugs: [
                .seen("pong-after-messages", by: "is not answered"),
                .seen("pong-other-bytes", by: "is not answered"),
            ],
            orders: UIDOrder.allCases, seconds: 40
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            link.isGranting = false
            for _ in 0..<3 { _ = pair.session.post(pattern: 4 << 20, to: pair.tester.endpoint.uid) }
            let cost = { link.waiting.reduce(0) { $0 + $1.cost } }
            caseRun.loop.wait(.seconds(10)) { cost() > 4_000_000 }
            caseRun.loop.wait(.milliseconds(200))
            try link.expectAlive(within: .milliseconds(1_500))
            link.isGranting = true
            link.grant()
            for _ in 0..<5 {
                try link.expectAlive(within: .milliseconds(1_500))
                caseRun.loop.wait(.milliseconds(50))
            }
        },
        Case(
            "FRM-09", "7.5", "a payload of the wrong size or form ends the link",
            stimulus:
                "PING of 7 and 9 bytes, CREDIT of 7, CLOSE of 1, of 259 and with a reason that is not text, HELLO and SELECT on a link",
            expectation: "PROTOCOL", rules: ["frame.payload", "close.reason", "frame.order"],
            bugs: [
                .seen("payload-size-unchecked", by: "CLOSE(PROTOCOL)"),
                .seen("close-reason-unchecked", by: "CLOSE(PROTOCOL)"),
            ],
            orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let frames = [
                Frame(.ping, .pattern(7)), Frame(.ping, .pattern(9)), Frame(.credit, .pattern(7)),
                Frame(.close, [0]),
                Frame(.close, [0, 1] + [UInt8](repeating: 97, count: 257)),
                Frame(.close, [0, 1, 0xff, 0xfe]), .select,
                .selected, Frame(.hello, []), Frame(.confirm, .pattern(32)),
            ]
            try caseRun.refusesOnLinks(frames.map { ("\($0.kind) of \($0.payload.count)", $0.bytes) })
        },
        Case(
            "FRM-10", "16.2", "an unknown code is an internal fault of the other",
            stimulus: "CLOSE with code 999",
            expectation: "notConnected with INTERNAL; S sends nothing", rules: ["code.unknown"],
            bugs: [.seen("refuses-unknown-code", by: "answered with CLOSE")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            link.send(.close(CloseCode(rawValue: 999)))
            try link.expectEnd()
            try caseRun.require(!link.waiting.contains { $0.kind == .close }, "CLOSE is answered with CLOSE")
            try pair.session.expectNotConnected(pair.tester.endpoint.uid, [.internal])
        },
        Case(
            "FRM-11", "7.3", "a sender sends frames of a GREASE kind", stimulus: "T listens for a second",
            expectation: "one frame of a GREASE kind (recommended)", rules: ["frame.grease", "ext.reserved"],
            bugs: [
                .seen("sends-reserved-kind", by: "neither known nor GREASE"),
                .seen("never-greases-frames", by: "no frame of a GREASE kind"),
            ],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (_, link) = try caseRun.linked()
            caseRun.loop.wait(.seconds(1))
            let grease: Set<UInt8> = [0x8a, 0x9a, 0xaa, 0xba, 0xca, 0xda, 0xea, 0xfa]
            let meaningless = link.waiting.filter(\.kind.isIgnorable)
            try caseRun.require(
                meaningless.allSatisfy { grease.contains($0.kind.rawValue) },
                "a kind is sent that is neither known nor GREASE")
            if meaningless.isEmpty { caseRun.weak("no frame of a GREASE kind comes [frame.grease]") }
            try link.expectAlive()
        },
        Case(
            "FRM-12", "2.2", "numbers have their most significant byte first",
            stimulus: "S is configured for messages of 1 MiB, credit of 128 KiB, 10 channels of 64 KiB",
            expectation: "LIMITS of its HELLO say so", rules: ["int.big-endian"],
            bugs: [.seen("little-endian-limits", by: "LIMITS say")]
        ) { caseRun in
            let limits = [
                "maxMessage": 1 << 20, "messageCredit": 131_072, "channels": 10, "channelCredit": 65_536,
            ]
            let pair = try caseRun.pair(.init(limits: limits))
            let link = try pair.tester.dial(pair.linkParameters)
            try link.greet()
            let wanted = Limits(message: 1 << 20, channels: 10, channelCredit: 65_536, messageCredit: 131_072)
            let said = link.receivedHello?.limits
            try caseRun.require(
                said == wanted, "LIMITS say \(said.map(String.init(describing:)) ?? "nothing")")
        },
    ]
}

extension CaseRun {
    /// Checks that S ends a link with PROTOCOL (or `code`) for each of these, on a link of its own with a peer of its
    /// own.
    func refusesOnLinks(_ what: [(String, [UInt8])], _ code: CloseCode = .protocol) throws {
        let session = try session()
        for (name, bytes) in what {
            let pair = try introduce(session, try tester(beside: session, name))
            let link = try pair.link()
            link.send(raw: bytes, name)
            do { try link.expectClose(code) } catch let failure as CaseFailure {
                throw CaseFailure("\(name): \(failure)")
            }
            try session.expectNotConnected(pair.tester.endpoint.uid)
        }
    }
}
