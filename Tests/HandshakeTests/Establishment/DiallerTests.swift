import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("6.1 Dialling and trying again", .computing)
struct DiallerTests {
    @Test("the lower uid dials at once, the higher after 500 ms [link.dialler]")
    func who() throws {
        var lower = try Stage(weAreLower: true)
        #expect(try lower.connect().dials.count == 1)
        var higher = try Stage(weAreLower: false)
        #expect(try higher.connect().isEmpty)
        #expect(
            higher.wait(.seconds(1)).filter { ![$0.action].dials.isEmpty }.map(\.after) == [
                .milliseconds(500)
            ])
    }

    @Test("the higher uid never dials if it is linked earlier [link.dialler]")
    func notNeeded() throws {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        _ = stage.wait(.milliseconds(499))
        try stage.link()
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    @Test(
        "an unreachable peer is dialled again after 250 ms, doubled up to 2 s, ±50 %, for 30 s [link.retry] [link.deadline]"
    )
    func backOff() throws {
        var shortest = 2.0
        var longest = 0.0
        for seed in UInt64(0)..<50 {
            let pair = try SimulatedSessions(seed: seed)
            pair.nodes[1].isListening = false
            pair.latency = 0...0
            let start = pair.now
            try pair.connect(0, to: 1)
            pair.run(for: .seconds(40))
            let dials = pair.nodes[0].dials.map { $0.moment - start }
            for (round, (earlier, later)) in zip(dials, dials.dropFirst()).enumerated() {
                let pause = Duration.milliseconds(250) * (1 << min(round, 4))
                // A refused dial takes no time here.
                let factor = (later - earlier) / pause
                #expect(later - earlier <= .milliseconds(2_001))
                guard round < 2 else { continue }
                #expect((0.499...1.501).contains(factor), "round \(round): \(factor)")
                (shortest, longest) = (min(shortest, factor), max(longest, factor))
            }
            #expect(dials.count > 8 && dials.allSatisfy { $0 < .seconds(30) })
            #expect(pair.nodes[0].events == [.failed(pair.nodes[1].uid, .timedOut(.lost))])
            #expect(pair.complaints.isEmpty)
        }
        #expect(shortest < 0.6 && longest > 1.4)
    }

    @Test("a silent address is dialled again after 2 s, up to four at a time [link.again] [dial.limit]")
    func silence() throws {
        for addresses in [1, 3] {
            let candidates = try (1...addresses).map { try Stage.address(UInt8($0)) }
            var stage = try Stage(weAreLower: true, theirCandidates: candidates)
            try stage.connect()
            let dials = stage.wait(.milliseconds(4_900)).filter { ![$0.action].dials.isEmpty }.map(\.after)
            let first = (1..<addresses).map { Duration.milliseconds(250 * $0) }
            #expect(dials == first + [.seconds(2)] + (addresses == 1 ? [.seconds(4)] : []))
        }
    }

    @Test(
        "an attempt ends with TIMEOUT at its deadline, to the nanosecond [link.deadline]",
        arguments: [1, 7, 30])
    func deadline(_ seconds: Int) throws {
        var stage = try Stage(weAreLower: true)
        let dial = try #require(try stage.connect(within: .seconds(seconds)).dials.first)
        stage.machine.lost(dial.id, .lost, at: stage.now)
        _ = stage.accept()
        let ends = stage.wait(.seconds(60)).filter { ![$0.action].failures.isEmpty }
        #expect(ends.map(\.after) == [.seconds(seconds)])
        guard case .timedOut? = ends.map(\.action).failures.first else {
            Issue.record("\(ends)")
            return
        }
        #expect(stage.machine.deadline == nil)
        // No peer is expected any more.
        let late = stage.accept()
        #expect(stage.give(late, stage.hello()) == [.close(late, .unknownPeer)])
    }

    @Test(
        "after data unknown to the peer the other data is tried at once, each once in a round [link.unknown-data]"
    )
    func guesses() throws {
        var stage = try Stage(weAreLower: true)
        let newer = try stage.machine.connectionData(
            for: stage.peer.peer.uid, candidates: [Stage.address(3)], token: stage.random.bytes(32),
            at: stage.now)
        var dials = try stage.connect().dials
        for reference in [newer.reference, stage.ours.reference] {
            let dial = try #require(dials.first)
            stage.machine.secured(dial.id, stage.channel, nonce: stage.random.bytes(32), at: stage.now)
            let greeting = try #require(stage.machine.takeActions().sent(on: dial.id).first)
            let hello = try Hello(greeting.span.extracting(FrameHeader.byteCount..<greeting.count))
            #expect(hello.myDataReference == reference)
            dials = stage.give(dial.id, .close(.unknownPeer, reason: "")).dials
        }
        #expect(dials.isEmpty)
        #expect(stage.wait(.milliseconds(375)).map(\.action).dials.count == 1)
    }

    @Test("a connection that is open at the deadline is closed with TIMEOUT [link.deadline]")
    func deadlineOfCandidate() throws {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        _ = stage.wait(.seconds(29))
        let candidate = try stage.candidate()
        let later = stage.wait(.seconds(1)).map(\.action)
        #expect(later.code(of: candidate.id) == .timeout && later.failures == [.timedOut(.refused(.timeout))])
    }

    @Test("a side that connects up to 25 s later is linked [link.retry] [link.deadline]", arguments: 0..<50)
    func late(_ seed: Int) throws {
        let pair = try SimulatedSessions(seed: UInt64(seed))
        let late = seed % 2
        for one in [0, 1] { try pair.data(from: one, for: 1 - one) }
        try pair.connect(1 - late, to: late)
        pair.after(pair.dice.milliseconds(0...25_000)) { try pair.connect(late, to: 1 - late) }
        pair.run(for: .seconds(31))
        #expect(pair.areLinked(0, 1) && pair.complaints.isEmpty, "\(pair.complaints)")
        #expect(pair.nodes.allSatisfy { $0.events.count == 1 })
    }

    @Test("an attempt that has ended can be repeated with the same data")
    func again() throws {
        let pair = try SimulatedSessions(seed: 1)
        try pair.data(from: 0, for: 1)
        let data = try pair.data(from: 1, for: 0)
        try pair.connect(0, to: 1, with: data, within: .seconds(2))
        pair.run(for: .seconds(3))
        #expect(pair.nodes[0].failures(of: pair.nodes[1].uid).count == 1)
        #expect(try pair.connect(0, to: 1, with: data))
        try pair.connect(1, to: 0)
        pair.run(for: .seconds(6))
        #expect(pair.areLinked(0, 1) && pair.complaints.isEmpty)
    }

    @Test("connect with the same data, while connecting or linked, changes nothing")
    func twice() throws {
        let pair = try SimulatedSessions(seed: 2)
        for one in [0, 1] { try pair.connect(one, to: 1 - one) }
        #expect(try !pair.connect(0, to: 1))
        pair.run(for: .seconds(3))
        #expect(try !pair.connect(0, to: 1))
        #expect(pair.areLinked(0, 1) && pair.nodes.allSatisfy { $0.events.count == 1 })
    }
}
