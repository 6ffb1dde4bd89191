/// Chapter 10: the path for datagrams, and what is sent over it.
enum DatagramPathCases {
    static let all: [Case] = [
        Case(
            "DGR-01", "10.4", level: .datagram, "datagrams get through", stimulus: "DGRAM both ways, on TLS",
            expectation:
                "the controlling end shakes hands with the one suite, within a second; messages go by UDP, both ways",
            rules: [
                "dgram.offer", "dgram.role", "dgram.profile", "dgram.key", "dgram.path", "dgram.mode",
                "dgram.header",
            ],
            bugs: [
                .seen("datagrams-never", by: "no DGRAM"), .seen("dgram-role-swapped", by: "no path"),
                .seen("dgram-key-unbound", by: "no path"), .seen("own-association", by: "no path"),
            ], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.required)
            let start = ContinuousClock.now
            try peer.offer()
            try peer.expectUp(within: .seconds(4))
            caseRun.note("the path is up after \((ContinuousClock.now - start) / .milliseconds(1)) ms")
            try caseRun.require(
                peer.dtls?.suite == "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256",
                "suite \(peer.dtls?.suite ?? "?")")
            try pair.expectBothWays(peer)
            try link.expectAlive()
        },
        Case(
            "DGR-02", "10.5", level: .datagram, "longer messages are sent on the link",
            stimulus: "S sends 1,150 bytes, then 1,151, then 1,200",
            expectation: "the first by UDP, the others as MSG", rules: ["dgram.message-max", "dgram.size"],
            bugs: [
                .seen("datagrams-too-long", by: "no message"),
                .seen("datagrams-oversized", by: "a datagram of"),
            ]
        ) { caseRun in
            for preference in [Preference.none, .required] {
                let (pair, link, peer) = try caseRun.datagrams(preference)
                try peer.offer()
                try peer.expectUp()
                caseRun.loop.wait(.milliseconds(200))
                try pair.sendUnreliably(.pattern(1_150))
                try caseRun.require(try peer.expectMessage() == .pattern(1_150), "another message arrived")
                try pair.sendUnreliably(.pattern(1_151))
                try caseRun.require(try link.expectMessage() == .pattern(1_151), "another message arrived")
                try pair.sendUnreliably(.pattern(1_200))
                caseRun.loop.wait(.seconds(2)) {
                    link.waiting.contains { $0.kind == .message } || peer.complaint != nil
                }
                try peer.check()
                try caseRun.require(try link.expectMessage() == .pattern(1_200), "another message arrived")
            }
        },
        Case(
            "DGR-03", "10.6", level: .datagram, "without UDP, all messages are sent on the link",
            stimulus: "T sends no DGRAM; T sends DGRAM with port 0", expectation: "MSG",
            rules: ["dgram.fallback", "dgram.offer"],
            bugs: ["datagrams-without-path"]
        ) { caseRun in
            for isSaid in [false, true] {
                let (pair, link, peer) = try caseRun.datagrams(.none)
                if isSaid { link.send(DatagramOffer(association: caseRun.random.bytes(8), port: 0).frame) }
                for _ in 0..<3 { try pair.sendUnreliably(.pattern(100)) }
                for _ in 0..<3 {
                    try caseRun.require(try link.expectMessage() == .pattern(100), "another message arrived")
                }
                try caseRun.require(peer.packets.isEmpty, "unwanted datagrams arrive")
            }
        },
        Case(
            "DGR-04", "10.6", level: .datagram, "a path that goes down is no longer used, and is tried again",
            stimulus: "T sends nothing more", expectation: "MSG and a new DGRAM within 2 s",
            rules: ["dgram.silence", "dgram.fallback", "dgram.restart"],
            bugs: [.seen("path-is-never-down", by: "messages go by UDP")], seconds: 30
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.none)
            try peer.offer()
            try peer.expectUp()
            caseRun.loop.wait(.milliseconds(200))
            peer.answersPings = false
            let start = ContinuousClock.now
            var frames: [Frame] = []
            while !frames.contains(where: { $0.kind == .message }), ContinuousClock.now - start < .seconds(3)
            {
                try pair.sendUnreliably(.pattern(100))
                caseRun.loop.wait(.milliseconds(100))
                frames += link.takeAll()
            }
            try caseRun.require(
                frames.contains { $0.kind == .message }, "messages go by UDP though no ping is answered")
            if !frames.contains(where: { $0.kind == .datagrams }) {
                try link.expect(.datagrams, within: .seconds(1))
            }
        },
        Case(
            "DGR-16", "10.6", level: .datagram, "whatever comes shows that the path works",
            stimulus: "T answers no ping, but sends a message every 300 ms for 4 s",
            expectation: "what S sends goes by UDP all the time", rules: ["dgram.silence"],
            bugs: [.seen("only-pongs-count", by: "on the link")]
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.none)
            try peer.offer()
            try peer.expectUp()
            caseRun.loop.wait(.milliseconds(200))
            _ = link.takeAll()
            peer.answersPings = false
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .seconds(4) {
                peer.send(.pattern(20))
                try pair.sendUnreliably(.pattern(30))
                caseRun.loop.wait(.milliseconds(300))
                try caseRun.require(
                    !link.takeAll().contains { $0.kind == .message },
                    "a message goes on the link although UDP works")
            }
        },
        Case(
            "DGR-17", "10.6", level: .datagram, "a message is followed by a ping",
            stimulus: "S sends one message", expectation: "a ping within 1 s", rules: ["dgram.path"],
            bugs: [.seen("never-pings-again", by: "no ping")]
        ) { caseRun in
            let (pair, _, peer) = try caseRun.datagrams(.none)
            try peer.offer()
            try peer.expectUp()
            caseRun.loop.wait(.milliseconds(300))
            let before = peer.pings
            try pair.sendUnreliably(.pattern(30))
            try caseRun.require(try peer.expectMessage() == .pattern(30), "another message arrived")
            caseRun.loop.wait(.seconds(1)) { peer.pings > before }
            try caseRun.require(peer.pings > before, "no ping follows the message")
        },
        Case(
            "DGR-18", "10.6", level: .datagram, "an end that gives up says so",
            stimulus: "T offers, and neither pings nor answers a ping",
            expectation:
                "DGRAM with port 0 after 10 s, and another with a port up to 2 s later; with it the path is up",
            rules: ["dgram.rest", "dgram.path", "dgram.restart"],
            bugs: [.seen("gives-up-silently", by: "says nothing")], orders: UIDOrder.allCases, seconds: 40
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.none)
            (peer.answersPings, peer.sendsPings) = (false, false)
            try peer.offer()
            _ = link.takeAll()
            let frame = try link.expect(.datagrams, within: .seconds(13))
            try caseRun.require(
                link.lastOffer?.port == 0 && frame.kind == .datagrams,
                "S begins again and says nothing before")
            try link.expect(.datagrams, within: .seconds(4))
            (peer.answersPings, peer.sendsPings) = (true, true)
            try peer.adoptOffer()
            try peer.expectUp()
            try pair.expectBothWays(peer)
        },
        Case(
            "DGR-19", "10.6", level: .datagram, "silence ends an attempt, too, once a content has come",
            stimulus: "T pings once, for which it gets a pong, and then neither pings nor answers a ping",
            expectation: "a new DGRAM with a port, not before 1.5 s and within 4 s; until then, MSG",
            rules: ["dgram.silence", "dgram.fallback"],
            bugs: [.seen("attempt-outlasts-silence", by: "no DGRAM")], orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.none)
            (peer.answersPings, peer.sendsPings) = (false, false)
            try peer.offer()
            // A ping of S shows that it knows where to send its pong.
            caseRun.loop.wait(.seconds(4)) { peer.pings > 0 }
            try caseRun.require(peer.pings > 0, "S does not ping")
            _ = link.takeAll()
            peer.sendsPings = true
            peer.ping()
            let start = ContinuousClock.now
            caseRun.loop.wait(.seconds(1)) { peer.hasPong }
            try caseRun.require(peer.hasPong, "a ping is not answered")
            try pair.sendUnreliably(.pattern(30))
            try caseRun.require(try link.expectMessage() == .pattern(30), "another message arrived")
            try link.expect(.datagrams, within: .seconds(4))
            let time = ContinuousClock.now - start
            caseRun.note("DGRAM came after \(time / .milliseconds(1)) ms")
            try caseRun.require(link.lastOffer?.port != 0, "S rests, and does not begin again")
            try caseRun.require(time >= .milliseconds(1_500), "the attempt ended after \(time)")
        },
        Case(
            "DGR-15", "10.5", level: .datagram, "half of all sequences are older than the newest",
            stimulus: "on a plain link, a message 2^31 after the newest; then the next one",
            expectation: "only the second is delivered", rules: ["dgram.sequence"],
            bugs: [.seen("sequence-half-ahead", by: "is delivered that is not what was sent")]
        ) { caseRun in
            let (pair, _, peer) = try caseRun.datagrams(.none)
            try peer.offer()
            try peer.expectUp()
            let uid = pair.tester.endpoint.uid
            peer.send(.pattern(70))
            try pair.session.expectMessage(.pattern(70), from: uid)
            let newest = peer.next() &- 1
            peer.send(Content(Content.Tag.message, newest &+ 0x8000_0000, .pattern(71)))
            peer.send(.pattern(72))
            try pair.session.expectMessage(.pattern(72), from: uid)
        },
        Case(
            "DGR-14", "10.4", level: .datagram, "an unanswered flight is sent again",
            stimulus: "the first two datagrams of S, the client, are lost",
            expectation: "the path is up all the same", rules: ["dgram.retransmit"],
            bugs: [.seen("never-retransmits", by: "no path")], orders: [.testerHigher]
        ) { caseRun in
            let (pair, _, peer) = try caseRun.datagrams(.required)
            var lost = 0
            peer.loses = { isOutgoing in
                if isOutgoing || lost == 2 { return false }
                lost += 1
                return true
            }
            try peer.offer()
            try peer.expectUp()
            try pair.expectBothWays(peer)
        },
        Case(
            "DGR-13", "10.3", level: .datagram, "a plain link has plain datagrams",
            stimulus: "both offer, on a plain link; T sends kind DTLS",
            expectation: "messages both ways, kind plain; what is of kind DTLS is dropped",
            rules: ["dgram.mode", "dgram.drop", "dgram.path"],
            bugs: [.seen("datagrams-of-any-kind", by: "a message is delivered")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.none)
            try peer.offer()
            try peer.expectUp()
            caseRun.loop.wait(.milliseconds(200))
            try pair.expectBothWays(peer)
            let content = Content(Content.Tag.message, peer.next(), .pattern(50)).bytes
            peer.put(Datagram.packet(Datagram.dtls, peer.association, content))
            try pair.session.expectNoMessage(from: pair.tester.endpoint.uid, for: .milliseconds(500))
            try link.expectAlive()
        },
    ]
}

// MARK: - What the cases share

extension CaseRun {
    /// Makes a link over which both ends may offer datagrams.
    func datagrams(_ preference: Preference) throws -> (Pair, TesterLink, DatagramPeer) {
        let (pair, link) = try linked(
            .init(preference: preference), prepare: { $0.flags |= ConnectionData.Flag.datagrams })
        // Where there is no path yet, the link carries the message; where there never is one, the case is skipped here.
        try pair.sendUnreliably([0])
        try require(try link.expectMessage() == [0], "another message arrived")
        return (pair, link, try DatagramPeer(link))
    }
}

extension Pair {
    func sendUnreliably(_ bytes: [UInt8]) throws {
        try session.send(bytes, to: tester.endpoint.uid, mode: "unreliable")
    }

    /// Checks that a message each way goes by UDP, and that the link carries nothing of them.
    func expectBothWays(_ peer: DatagramPeer) throws {
        // The subject has a path when it has the pong, which is on its way.
        peer.caseRun.loop.wait(.milliseconds(300))
        _ = peer.link.takeAll()
        let question = peer.caseRun.random.bytes(100)
        peer.send(question)
        guard let event = session.event("message", from: tester.endpoint.uid) else {
            throw CaseFailure("a message by UDP is not delivered")
        }
        guard event["sha256"]?.text == CaseRun.digest(question), event["mode"]?.text == "unreliable" else {
            throw CaseFailure(
                "another message is delivered than was sent, or as \(event["mode"]?.text ?? "?")")
        }
        let answer = peer.caseRun.random.bytes(100)
        try sendUnreliably(answer)
        let came = try peer.expectMessage()
        guard came == answer else { throw CaseFailure("a different message arrives by UDP than was sent") }
        guard !peer.link.waiting.contains(where: { $0.kind == .message }) else {
            throw CaseFailure("the message arrives on the link, too")
        }
    }
}
