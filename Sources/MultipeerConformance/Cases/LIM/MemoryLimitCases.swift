/// Chapter 15: what one peer can make a session hold.
enum MemoryLimitCases {
    static let all: [Case] = [
        Case(
            "LIM-06", "15.2", level: .datagram, "unread datagrams are bounded",
            stimulus:
                "S's application reads nothing; 3,000 messages of 1,150 bytes arrive by UDP, then a message by the link",
            expectation: "at most 1 MiB of them is delivered later, and the link lives",
            rules: ["limit.datagrams"],
            bugs: [.seen("datagrams-without-limit", by: "were held")], seconds: 40
        ) { caseRun in
            caseRun.allowance = 4 << 20
            let (pair, link, peer) = try caseRun.datagrams(.none)
            try peer.offer()
            try peer.expectUp()
            try pair.session.call("pause")
            for number in 0..<3_000 {
                peer.send([UInt8](repeating: 7, count: 1_150))
                // The kernel's buffer is not what is tested.
                if number % 50 == 49 { caseRun.loop.wait(.milliseconds(10)) }
            }
            try link.expectAlive()
            try pair.session.call("resume")
            link.send(.message([1]))
            var count = 0
            while let event = pair.session.event(
                "message", from: pair.tester.endpoint.uid, within: .seconds(3))
            {
                if event["size"]?.int == 1_150 { count += 1 }
            }
            caseRun.note("\(count) of 3,000 are delivered")
            // One more than fits may be on its way to the application.
            try caseRun.require(count <= (1 << 20) / (1_150 + 64) + 1, "\(count) of 3,000 were held")
            try link.expectAlive()
        },
        Case(
            "LIM-07", "15.2", "long messages are put together one at a time",
            stimulus: "two peers send messages of 6 MiB to a session that grants 4 MiB",
            expectation:
                "the second gets no credit for what is in reassembly until the first is complete; both are delivered",
            rules: ["limit.reassembly", "msg.credit-return"],
            bugs: [.seen("two-long-messages", by: "both get credit")], seconds: 60
        ) { caseRun in
            caseRun.allowance = 16 << 20
            let (pairs, links) = try caseRun.two()
            var messages = links.map { LongMessage($0) }
            let start = links.map(\.credit.limit)
            try messages[0].send(upTo: 5 << 20)
            try messages[1].send(upTo: 5 << 20, stalls: true)
            caseRun.loop.wait(.seconds(1))
            try caseRun.require(links[1].credit.limit == start[1], "both get credit for half a message")
            try messages[0].send(upTo: 6 << 20, isLast: true)
            try pairs[0].session.expectSize(6 << 20, from: pairs[0].tester.endpoint.uid)
            try messages[1].send(upTo: 6 << 20, isLast: true)
            try pairs[1].session.expectSize(6 << 20, from: pairs[1].tester.endpoint.uid)
        },
        Case(
            "LIM-08", "15.2", "no peer blocks the long messages of others",
            stimulus: "the first of two peers that send 6 MiB stops in the middle",
            expectation: "FLOW for it after some 5 s, and credit for the second", rules: ["limit.reassembly"],
            bugs: [.seen("turn-without-end", by: "CLOSE(FLOW)")], seconds: 60
        ) { caseRun in
            caseRun.allowance = 16 << 20
            let (pairs, links) = try caseRun.two()
            var messages = links.map { LongMessage($0) }
            try messages[0].send(upTo: 5 << 20)
            try messages[1].send(upTo: 5 << 20, stalls: true)
            try links[0].expectClose([.flow], within: .seconds(12))
            try pairs[0].session.expectNotConnected(pairs[0].tester.endpoint.uid, [.flow])
            try messages[1].send(upTo: 6 << 20, isLast: true)
            try pairs[1].session.expectSize(6 << 20, from: pairs[1].tester.endpoint.uid)
        },
    ]
}

extension CaseRun {
    /// Makes two peers with links to one session.
    fileprivate func two() throws -> ([Pair], [TesterLink]) {
        let session = try session()
        let pairs = try ["one", "two"].map { try introduce(session, tester(beside: session, $0)) }
        return (pairs, try pairs.map { try $0.link() })
    }
}

/// A message that may be longer than the credit for it, sent in pieces.
private struct LongMessage {
    private static let piece = 16_384
    private let link: TesterLink
    private var sent = 0

    init(_ link: TesterLink) { self.link = link }

    /// Sends pieces until `count` bytes are sent, as credit allows; with `stalls`, as far as the present credit goes.
    mutating func send(upTo count: Int, isLast: Bool = false, stalls: Bool = false) throws {
        while sent < count {
            let frame =
                isLast && sent + LongMessage.piece >= count
                ? Frame.message([UInt8](repeating: 1, count: count - sent))
                : Frame.part([UInt8](repeating: 1, count: min(LongMessage.piece, count - sent)))
            if link.credit.room < frame.cost || link.connection.unsent > 1 << 20 {
                link.caseRun.loop.wait(.seconds(stalls ? 1 : 10)) { [link] in
                    link.credit.room >= frame.cost && link.connection.unsent < 1 << 20 || link.ending != nil
                }
                if let ending = link.ending {
                    throw CaseFailure("\(link.name): the connection ended: \(ending)")
                }
            }
            guard link.credit.room >= frame.cost else {
                if stalls { return }
                throw CaseFailure("\(link.name): no CREDIT after \(sent) bytes of a message")
            }
            link.send(frame)
            sent += frame.payload.count
        }
    }
}

extension SubjectSession {
    fileprivate func expectSize(_ count: Int, from peer: [UInt8]) throws {
        guard let event = event("message", from: peer, within: .seconds(20)) else {
            throw CaseFailure("no message is delivered")
        }
        guard event["size"]?.int == count else {
            throw CaseFailure("a message of \(event["size"]?.int ?? -1) bytes")
        }
    }
}
