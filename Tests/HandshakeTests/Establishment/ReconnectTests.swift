import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("6.5 After a link", .computing)
struct ReconnectTests {
    @Test("after a link has ended, connecting again with the same data makes a new one, any number of times")
    func again() throws {
        let pair = try SimulatedSessions(seed: 1)
        for round in 0..<5 {
            for one in [0, 1] { #expect(try pair.connect(one, to: 1 - one), "round \(round)") }
            // Until the link is used: one that is not would be established again by itself.
            pair.run(for: .seconds(12))
            #expect(pair.areLinked(0, 1), "round \(round)")
            try pair.end(0, 1)
            pair.run(for: .seconds(1))
            #expect(pair.nodes.allSatisfy { $0.links.isEmpty && $0.open.isEmpty })
        }
        #expect(pair.complaints.isEmpty, "\(pair.complaints)")
    }

    @Test("a link that is lost before the peer used it resumes the attempt, and links again [state.unused]")
    func unused() throws {
        var stage = try Stage(weAreLower: false)
        let uid = stage.peer.endpoint.uid
        try stage.connect()
        let first = try stage.link()
        _ = stage.wait(.seconds(1))
        stage.machine.linkEnded(first, of: uid, mayResume: true, at: stage.now)
        #expect(stage.machine.takeActions().contains(.resume(uid)))
        #expect(!stage.wait(.seconds(2)).map(\.action).dials.isEmpty)
        try stage.link()
    }

    @Test(
        "a link that was used, or lost after the attempt's deadline, is not dialled again",
        arguments: [true, false])
    func used(_ isUsed: Bool) throws {
        var stage = try Stage()
        try stage.connect()
        let link = try stage.link()
        if !isUsed { _ = stage.wait(.seconds(30)) }
        stage.machine.linkEnded(link, of: stage.peer.endpoint.uid, mayResume: !isUsed, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty && stage.wait(.seconds(60)).isEmpty)
    }

    @Test("a link that is lost the moment it is made is lost at both ends [select.answer] [select.next]")
    func lostAtOnce() throws {
        for seed in UInt64(0)..<200 {
            let pair = try SimulatedSessions(seed: seed)
            for one in [0, 1] { try pair.connect(one, to: 1 - one) }
            var isKilled = false
            pair.interfere = { [unowned pair] frame, _ in
                guard !isKilled, frame[3] == FrameKind.selected.rawValue else { return frame }
                isKilled = true
                if let connection = pair.connections.indices.last(where: {
                    !pair.connections[$0].isDead && pair.connections[$0].sockets[0]?.phase == .framed
                }) {
                    pair.kill(connection)
                }
                return frame
            }
            pair.run(for: .seconds(12))
            #expect(
                isKilled && pair.areLinked(0, 1) && pair.complaints.isEmpty,
                "seed \(seed): \(pair.complaints)")
        }
    }

    @Test(
        "a session that restarts is another instance: only new data links [endpoint.instance] [hello.receiver]"
    )
    func restarted() throws {
        for isSilent in [true, false] {
            let pair = try SimulatedSessions(seed: 4)
            for one in [0, 1] { try pair.connect(one, to: 1 - one) }
            pair.run(for: .seconds(4))
            let old = try #require(pair.nodes[0].held[pair.nodes[1].uid])
            #expect(pair.areLinked(0, 1))
            pair.restart(1, isSilent: isSilent)
            #expect(pair.nodes[1].endpoint != old.endpoint && pair.nodes[1].uid == old.endpoint.uid)
            pair.run(for: .seconds(2))
            for one in [0, 1] { try pair.connect(one, to: 1 - one) }
            pair.run(for: .seconds(10))
            #expect(pair.areLinked(0, 1) && pair.complaints.isEmpty, "\(isSilent): \(pair.complaints)")
        }
    }

    @Test(
        "data of an earlier instance of the peer is answered with UNKNOWN_PEER until the attempt times out [endpoint.instance]"
    )
    func old() throws {
        let pair = try SimulatedSessions([.none, .none], seed: 4)
        try pair.data(from: 0, for: 1)
        let old = try pair.data(from: 1, for: 0)
        pair.restart(1, isSilent: true)
        try pair.connect(0, to: 1, with: old)
        try pair.connect(1, to: 0)
        pair.run(for: .seconds(40))
        #expect(pair.nodes[0].failures(of: pair.nodes[1].uid).count == 1)
        #expect(pair.nodes.allSatisfy { $0.links.isEmpty } && pair.nodes[0].heard.contains(.unknownPeer))
    }

    @Test("newer data of a peer that is being dialled replaces the older, and the two link [hello.refs]")
    func newerData() throws {
        for seed in UInt64(0)..<50 {
            let pair = try SimulatedSessions(seed: seed)
            let moved = try #require(Candidate(address: [10, 0, 9, 9], port: 50_000))
            pair.nodes[1].isListening = false
            for one in [0, 1] { try pair.connect(one, to: 1 - one) }
            pair.after(pair.dice.milliseconds(0...3_000)) {
                pair.nodes[1].isListening = true
                let own = try #require(Candidate(address: pair.nodes[1].address, port: pair.nodes[1].port))
                let newer = try pair.data(from: 1, for: 0, candidates: [moved, own])
                if pair.nodes[0].links.isEmpty { #expect(try pair.connect(0, to: 1, with: newer)) }
            }
            pair.run(for: .seconds(15))
            #expect(pair.areLinked(0, 1) && pair.complaints.isEmpty, "seed \(seed): \(pair.complaints)")
        }
    }

    @Test(
        "newer data, or a withdrawal, after SELECT was sent leaves the resulting link [select.pending]",
        arguments: [true, false])
    func promised(_ isNewer: Bool) throws {
        for seed in UInt64(0)..<50 {
            let pair = try SimulatedSessions(seed: seed)
            let other = try #require(Candidate(address: [10, 0, 9, 9], port: 50_000))
            let own = try #require(Candidate(address: pair.nodes[1].address, port: pair.nodes[1].port))
            for one in [0, 1] { try pair.connect(one, to: 1 - one) }
            var selections = 0
            pair.interfere = { [unowned pair] frame, sender in
                guard frame[3] == FrameKind.select.rawValue else { return frame }
                selections += 1
                pair.after(pair.dice.milliseconds(0...1)) {
                    let peer = pair.nodes[1 - sender].uid
                    guard isNewer else { return pair.nodes[sender].withdraw(peer) }
                    let newer = try pair.data(from: 1 - sender, for: sender, candidates: [other, own])
                    try pair.connect(sender, to: 1 - sender, with: newer)
                }
                return frame
            }
            pair.run(for: .seconds(15))
            #expect(selections == 1 && pair.areLinked(0, 1), "seed \(seed)")
            #expect(pair.nodes.allSatisfy { $0.events.count == 1 }, "seed \(seed): a link ended")
        }
    }

    @Test("a peer with an older version of the own data is linked all the same [hello.refs] [link.retry]")
    func olderData() throws {
        for seed in UInt64(0)..<50 {
            let pair = try SimulatedSessions([.none, .none], seed: seed)
            let older = try pair.data(from: 0, for: 1)
            let other = try #require(Candidate(address: [10, 0, 9, 9], port: 50_000))
            let own = try #require(Candidate(address: pair.nodes[0].address, port: pair.nodes[0].port))
            #expect(try pair.data(from: 0, for: 1, candidates: [other, own]) != older)
            // The lower one cannot be dialled, and names its newest data first.
            pair.nodes[0].isListening = false
            let data = try pair.data(from: 1, for: 0)
            try pair.connect(0, to: 1, with: data)
            try pair.connect(1, to: 0, with: older)
            pair.run(for: .seconds(25))
            #expect(pair.areLinked(0, 1) && pair.complaints.isEmpty, "seed \(seed): \(pair.complaints)")
        }
    }
}
