/// Chapter 10: third parties and bad networks.
enum DatagramTroubleCases {
    static let all: [Case] = [
        Case(
            "DGR-05", "10.7", level: .datagram, "unauthenticated senders get no answer",
            stimulus:
                "another association, kind 0x2A, datagrams of 0 to 9 bytes, content of kind 9, a ping of 7 bytes, 1,201 bytes",
            expectation: "no answer, and the link and its path continue",
            rules: ["dgram.drop", "dgram.header", "dgram.size"],
            bugs: [.seen("answers-unknown", by: "come back")]
        ) { caseRun in
            for preference in [Preference.none, .required] {
                let (pair, link, peer) = try caseRun.datagrams(preference)
                try peer.offer()
                try peer.expectUp()
                caseRun.loop.wait(.milliseconds(300))
                let stranger = try UDPSocket()
                caseRun.loop.add(stranger)
                let ping = Content(Content.Tag.ping, 0x7000_0000, [1, 2, 3, 4, 5, 6, 7, 8]).bytes
                let kind = preference == .none ? Datagram.plain : Datagram.dtls
                var packets = (0...9).map { [UInt8](repeating: kind, count: $0) }
                packets.append(Datagram.packet(kind, caseRun.random.bytes(8), ping))
                packets.append(Datagram.packet(0x2a, peer.association, ping))
                packets.append(Datagram.packet(kind, peer.association, []))
                packets.append(Datagram.packet(kind, peer.association, caseRun.random.bytes(1_192)))
                if preference == .none {
                    packets.append(
                        Datagram.packet(kind, peer.association, [9, 0x70, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8]))
                    packets.append(Datagram.packet(kind, peer.association, Array(ping.dropLast())))
                }
                for packet in packets { peer.put(packet, from: stranger) }
                caseRun.loop.wait(.milliseconds(700))
                caseRun.loop.remove(stranger)
                try caseRun.require(stranger.arrived.isEmpty, "\(stranger.arrived.count) datagrams come back")
                try pair.expectBothWays(peer)
                try link.expectAlive()
            }
        },
        Case(
            "DGR-06", "10.5", level: .datagram, "duplicates are delivered once",
            stimulus: "a datagram is sent again as it was; on a plain link also one 64 before the newest",
            expectation: "one message each", rules: ["dgram.sequence"],
            bugs: [.seen("datagrams-twice", by: "is delivered that is not what was sent")]
        ) { caseRun in
            for preference in [Preference.none, .required] {
                let (pair, _, peer) = try caseRun.datagrams(preference)
                try peer.offer()
                try peer.expectUp()
                let uid = pair.tester.endpoint.uid
                peer.send(.pattern(77))
                let packet = peer.sent.last ?? []
                try pair.session.expectMessage(.pattern(77), from: uid)
                for _ in 0..<3 { peer.put(packet) }
                if preference == .none {
                    let old = peer.next()
                    for _ in 0..<64 { _ = peer.next() }
                    peer.send(.pattern(78))
                    try pair.session.expectMessage(.pattern(78), from: uid)
                    peer.send(Content(Content.Tag.message, old, .pattern(79)))
                }
                try pair.session.expectNoMessage(from: uid, for: .milliseconds(700))
            }
        },
        Case(
            "DGR-07", "10.4", level: .datagram, "datagrams belong to their link",
            stimulus: "T shakes hands with another key",
            expectation: "no path; the link lives, and messages go on it",
            rules: ["dgram.key", "dgram.drop", "dgram.fallback"],
            bugs: ["failed-datagrams-end-link"], orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.required)
            peer.wrongKey = caseRun.random.bytes(32)
            try peer.offer()
            do {
                try peer.expectUp(within: .seconds(3))
            } catch is CaseFailure {
                _ = link.takeAll()
                try pair.sendUnreliably(.pattern(100))
                try caseRun.require(try link.expectMessage() == .pattern(100), "another message arrived")
                return try link.expectAlive()
            }
            throw CaseFailure("a handshake with another key succeeds")
        },
        Case(
            "DGR-08", "10.4", level: .datagram, "there is one handshake for each pair of associations",
            stimulus:
                "T asks for another in the one that there is: HelloRequest as server, ClientHello as client",
            expectation: "S makes none; the link lives, and a new DGRAM starts again; sequences go on",
            rules: ["dgram.profile", "dgram.restart", "dgram.sequence"],
            bugs: [
                .seen("renegotiates", by: "a second handshake"), .seen("ignores-new-dgram", by: "no path"),
                .seen("sequence-begins-again", by: "sequence 0 twice"),
            ], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.required)
            try peer.offer()
            try peer.expectUp()
            try pair.expectBothWays(peer)
            let before = peer.packets.count
            peer.renegotiate()
            caseRun.loop.wait(.seconds(1))
            // Of a record: kind 1, version 2, epoch 2. The second epoch is the one after the first handshake.
            let epochs = peer.packets.dropFirst(before).map {
                $0.bytes.dropFirst(Datagram.headerCount + 3).prefix(2)
            }
            try caseRun.require(
                !epochs.contains { $0.reduce(0) { $0 << 8 | Int($1) } > 1 }, "a second handshake is made")
            try link.expectAlive()
            try peer.offerAgain()
            try peer.expectUp()
            try pair.expectBothWays(peer)
        },
        Case(
            "DGR-09", "10.4", level: .datagram, "the last flight may be lost",
            stimulus: "S handshakes as server; its last flight is lost twice",
            expectation: "it answers the retransmission, and the path is up",
            rules: ["dgram.keep-reading", "dgram.retransmit"],
            bugs: [.seen("stops-reading-handshakes", by: "no path for datagrams")], seconds: 30
        ) { caseRun in
            let (pair, _, peer) = try caseRun.datagrams(.required)
            var (lost, isIncoming) = (0, 0)
            // ServerHello, ServerKeyExchange and ServerHelloDone are the first three; then come CCS and Finished.
            peer.loses = { isOutgoing in
                if isOutgoing { return false }
                isIncoming += 1
                guard isIncoming > 3, lost < 4 else { return false }
                lost += 1
                return true
            }
            try peer.offer()
            try peer.expectUp(within: .seconds(9))
            try pair.expectBothWays(peer)
        },
        Case(
            "DGR-10", "10.4", level: .datagram, "a handshake gets through a bad network",
            stimulus: "ten handshakes, 30 of 100 datagrams lost each way",
            expectation: "nine of ten within 8 s", rules: ["dgram.retransmit", "dgram.restart"],
            bugs: [.seen("datagrams-never", by: "no DGRAM")], orders: [.testerHigher], seconds: 100
        ) { caseRun in
            let (_, _, peer) = try caseRun.datagrams(.required)
            peer.loses = { _ in caseRun.random.next() % 100 < 30 }
            var failures = 0
            for round in 0..<10 {
                if round == 0 { try peer.offer() } else { try peer.offerAgain() }
                do { try peer.expectUp(within: .seconds(8)) } catch is CaseFailure { failures += 1 }
            }
            try caseRun.require(failures < 2, "\(failures) of ten handshakes need more than 8 s")
        },
        Case(
            "DGR-11", "10.6", level: .datagram, "a change of the address is followed",
            stimulus: "T continues from another port",
            expectation: "the packets of S arrive there", rules: ["dgram.address"],
            bugs: [.seen("keeps-first-address", by: "to the first port")]
        ) { caseRun in
            let (pair, _, peer) = try caseRun.datagrams(.required)
            try peer.offer()
            try peer.expectUp()
            try pair.expectBothWays(peer)
            let other = try UDPSocket()
            caseRun.loop.add(other)
            other.onPacket = { peer.take($0) }
            peer.send(.pattern(10))
            let first = peer.sent.last ?? []
            try pair.session.expectMessage(.pattern(10), from: pair.tester.endpoint.uid)
            peer.loses = { $0 }
            peer.send(.pattern(11))
            peer.loses = { _ in false }
            peer.put(peer.sent.last ?? first, from: other)
            try pair.session.expectMessage(.pattern(11), from: pair.tester.endpoint.uid)
            let before = peer.packets.count
            try pair.sendUnreliably(.pattern(12))
            try caseRun.require(try peer.expectMessage() == .pattern(12), "another message arrived")
            caseRun.loop.remove(other)
            try caseRun.require(peer.packets.count > before, "nothing came")
            try caseRun.require(other.hasReceived, "what S sends still goes to the first port")
        },
        Case(
            "DGR-12", "10.6", level: .datagram, "another sender cannot change the address",
            stimulus: "garbage, and a replayed record, from another port",
            expectation: "S sends to the first port", rules: ["dgram.address", "dgram.drop"],
            bugs: ["follows-anybody"]
        ) { caseRun in
            let (pair, link, peer) = try caseRun.datagrams(.required)
            try peer.offer()
            try peer.expectUp()
            try pair.expectBothWays(peer)
            let other = try UDPSocket()
            caseRun.loop.add(other)
            peer.put(Datagram.packet(Datagram.dtls, peer.association, caseRun.random.bytes(100)), from: other)
            peer.put(peer.sent.dropLast().last ?? [], from: other)
            caseRun.loop.wait(.milliseconds(300))
            // Before anything comes from the first port again.
            try pair.sendUnreliably(.pattern(90))
            try caseRun.require(try peer.expectMessage() == .pattern(90), "another message arrived")
            try pair.expectBothWays(peer)
            caseRun.loop.remove(other)
            try caseRun.require(other.arrived.isEmpty, "datagrams go to the other port")
            try link.expectAlive()
        },
    ]
}
