/// Chapter 6: CONFIRM, and what must not come before it or before the link.
enum ConfirmCases {
    static let all: [Case] = [
        Case(
            "LINK-11", "6.3", "a CONFIRM that does not verify is refused",
            stimulus: "one bit wrong in each byte of the mac, the tokens swapped, the binding left out",
            expectation: "BAD_MAC", rules: ["confirm.mac", "confirm.binding"],
            bugs: [
                .seen("mac-unchecked", by: "CLOSE(BAD_MAC)"),
                .seen("mac-prefix-checked", by: "CLOSE(BAD_MAC)"),
                .seen("mac-without-binding", by: "CLOSE(BAD_MAC)"),
            ], orders: UIDOrder.allCases,
            seconds: 40
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            for place in [0, 7, 8, 15, 16, 24, 31] {
                try pair.refusesConfirm("bit 0 of byte \(place)") { link in
                    link.sendConfirm { $0[place] ^= 1 }
                }
            }
            try pair.refusesConfirm("tokens swapped") { link in
                let tokens = (link.linkParameters.theirData.token, link.linkParameters.myToken)
                let key = LinkKey(
                    hellos: (link.sentHello, link.receivedHelloBytes), tokens: tokens, binding: link.binding)
                link.send(Frame(.confirm, key.mac(.initiator)))
            }
            try pair.refusesConfirm("no binding") { link in
                let tokens = (link.linkParameters.myToken, link.linkParameters.theirData.token)
                let key = LinkKey(
                    hellos: (link.sentHello, link.receivedHelloBytes), tokens: tokens,
                    binding: .init(repeating: 0, count: 32))
                link.send(Frame(.confirm, key.mac(.initiator)))
            }
        },
        Case(
            "LINK-12", "6.3", "a peer's own CONFIRM does not confirm to it",
            stimulus: "T sends S's own CONFIRM back",
            expectation: "BAD_MAC", rules: ["confirm.role"],
            bugs: [
                .seen("mac-without-role", by: "CLOSE(BAD_MAC)"),
                .seen("mac-role-wrong", by: "does not verify"),
            ],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let link = try pair.tester.dial(pair.linkParameters)
            try link.greet()
            link.send(try link.expectConfirm())
            try link.expectClose(.badMAC)
            let other = try pair.tester.accepted(pair.linkParameters)
            try other.greet()
            other.send(try other.expectConfirm())
            try other.expectClose(.badMAC)
        },
        Case(
            "LINK-13", "6.3", "HELLO and CONFIRM come once, in this order",
            stimulus: "CONFIRM first; HELLO twice; CONFIRM twice; PING first", expectation: "PROTOCOL",
            rules: ["confirm.order", "hello.first", "frame.order"],
            bugs: [
                .seen("confirm-any-order", by: "CLOSE(PROTOCOL)"),
                .seen("hello-twice", by: "CLOSE(PROTOCOL)"),
            ],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let first = try pair.tester.dial(pair.linkParameters)
            try first.expectReady()
            first.send(Frame(.confirm, .pattern(32)))
            try first.expectClose(.protocol)
            let second = try pair.tester.dial(pair.linkParameters)
            try second.greet()
            second.sendHello()
            try second.expectClose(.protocol)
            let third = try pair.tester.dial(pair.linkParameters)
            try third.greet()
            third.sendConfirm()
            third.sendConfirm()
            try third.expectClose(.protocol)
            let fourth = try pair.tester.dial(pair.linkParameters)
            try fourth.expectReady()
            fourth.send(.ping())
            try fourth.expectClose(.protocol)
        },
        Case(
            "LINK-14", "7.1", "before the link no frame has more than 2,048 bytes",
            stimulus:
                "the header of a frame of 2,049 bytes, of HELLO and of an ignorable kind; a HELLO of 2,048",
            expectation: "PROTOCOL before the payload came; connected", rules: ["frame.limit-before"],
            bugs: [.seen("limit-before-unchecked", by: "CLOSE(PROTOCOL)")], orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            for kind in [FrameKind.hello, FrameKind(0xaa)] {
                let link = try pair.tester.dial(pair.linkParameters)
                try link.expectReady()
                link.send(raw: Frame.header(length: 2_049, kind: kind), "a header")
                try link.expectClose(.protocol)
            }
            let link = try pair.tester.dial(pair.linkParameters)
            try link.complete { hello in
                let room = 2_048 - hello.entries.bytes.count - 4
                hello.entries.append(TLVEntry(0x7a7a, .init(repeating: 0, count: room)))
            }
        },
        Case(
            "LINK-15", "7.2", "frames of the link are not accepted before it",
            stimulus: "MSG, OPEN, CREDIT, DGRAM and INVITE on a candidate", expectation: "PROTOCOL",
            rules: ["frame.order"],
            bugs: [.seen("message-before-select", by: "CLOSE(PROTOCOL)")], orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let frames = [
                Frame.message([1]), Frame(.open, channel: 1, []), .credit(9_000_000),
                Frame(.datagrams, .pattern(11)),
                Frame(.invite, []),
            ]
            for frame in frames {
                let link = try pair.tester.dial(pair.linkParameters)
                try link.becomeCandidate()
                link.send(frame)
                try link.expectClose(.protocol)
            }
            try pair.session.expectNoMessage(from: pair.tester.endpoint.uid, for: .milliseconds(200))
        },
        Case(
            "LINK-23", "6.1", "a handshake that takes too long is ended",
            stimulus: "HELLO at one byte a second",
            expectation: "TIMEOUT 5 s after TCP", rules: ["link.timeouts"],
            bugs: [.seen("handshake-without-deadline", by: "CLOSE(TIMEOUT)")],
            seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair()
            let start = ContinuousClock.now
            let link = try pair.tester.dial(pair.linkParameters)
            try link.expectReady()
            let bytes = link.properHello().frame.bytes
            for byte in bytes.prefix(12) where link.ending == nil && link.waiting.isEmpty {
                link.send(raw: [byte], "one byte")
                caseRun.loop.wait(.seconds(1)) { link.ending != nil || !link.waiting.isEmpty }
            }
            try link.expectClose(.timeout, within: .seconds(1))
            let delay = ContinuousClock.now - start
            try caseRun.require(delay > .seconds(4) && delay < .seconds(8), "closed after \(delay)")
        },
    ]
}

extension Pair {
    /// Checks that S sends BAD_MAC when T dials, sends HELLO and a wrong CONFIRM.
    fileprivate func refusesConfirm(_ what: String, _ confirm: (TesterLink) -> Void) throws {
        tester.caseRun.note(what)
        let link = try tester.dial(linkParameters)
        try link.greet()
        confirm(link)
        try link.expectClose(.badMAC)
    }
}
