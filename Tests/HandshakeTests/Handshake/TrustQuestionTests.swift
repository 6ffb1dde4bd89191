import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("5.4 The trust decision", .computing)
struct TrustQuestionTests {
    @Test(
        "no CONFIRM is sent before the answer, whatever kind the connection is [trust.before-confirm]",
        arguments: [EncryptionPreference.optional, .none])
    func before(_ preference: EncryptionPreference) throws {
        var stage = try Stage(preference)
        try stage.connect()
        let greeting = try stage.greet(trusted: false)
        #expect(
            greeting.actions == [
                .send(greeting.id, greeting.ours), .ask(stage.peer.endpoint.uid, greeting.id),
            ])
        #expect(stage.wait(.seconds(4)).map(\.action).sent(on: greeting.id).isEmpty)
        stage.machine.decide(stage.peer.endpoint.uid, asked: greeting.id, isTrusted: true, at: stage.now)
        let own = stage.confirm(as: .responder, initiator: greeting.theirs, responder: greeting.ours)
        #expect(stage.machine.takeActions() == [.send(greeting.id, own)])
    }

    @Test(
        "two connections at once cause one question, and its answer holds for both [trust.once]",
        arguments: [true, false])
    func once(_ isTrusted: Bool) throws {
        var stage = try Stage()
        let uid = stage.peer.endpoint.uid
        try stage.connect()
        let first = try stage.greet(trusted: false)
        let second = try stage.greet(trusted: false)
        #expect(first.actions.contains(.ask(uid, first.id)))
        #expect(second.actions == [.send(second.id, second.ours)])
        stage.machine.decide(uid, asked: first.id, isTrusted: isTrusted, at: stage.now)
        let actions = stage.machine.takeActions()
        if isTrusted {
            #expect(actions.sent(on: first.id).count == 1 && actions.sent(on: second.id).count == 1)
            let third = try stage.greet(trusted: false)
            #expect(
                third.actions.sent(on: third.id).count == 2 && !third.actions.contains(.ask(uid, third.id)))
        } else {
            #expect(actions.code(of: first.id) == .rejected && actions.code(of: second.id) == .rejected)
        }
    }

    @Test("the answer holds although the connection that caused the question is gone [trust.once]")
    func gone() throws {
        var stage = try Stage()
        try stage.connect()
        let first = try stage.greet(trusted: false)
        stage.machine.lost(first.id, .lost, at: stage.now)
        let second = try stage.greet(trusted: false)
        #expect(!second.actions.contains(.ask(stage.peer.endpoint.uid, second.id)))
        stage.machine.decide(stage.peer.endpoint.uid, asked: first.id, isTrusted: true, at: stage.now)
        #expect(stage.machine.takeActions().sent(on: second.id).count == 1)
    }

    @Test("each end asks once, however many connections there are [trust.once]")
    func onceAtEachEnd() throws {
        for seed in UInt64(0)..<50 {
            let pair = try SimulatedSessions(seed: seed)
            pair.latency = 100...300
            for index in [0, 1] { pair.nodes[index].trust = .yesAfter(1_500_000_000) }
            for one in [0, 1] { try pair.connect(one, to: 1 - one) }
            pair.run(for: .seconds(10))
            #expect(pair.areLinked(0, 1) && pair.complaints.isEmpty, "seed \(seed)")
            #expect(pair.nodes.allSatisfy { $0.questions.count == 1 }, "seed \(seed)")
        }
    }

    @Test(
        "a refusal closes with REJECTED and ends both attempts at once [trust.before-confirm]",
        arguments: [0, 1])
    func refused(_ judge: Int) throws {
        let pair = try SimulatedSessions(seed: 5)
        pair.nodes[judge].trust = .no
        for one in [0, 1] { try pair.connect(one, to: 1 - one) }
        pair.run(for: .seconds(3))
        #expect(pair.nodes[judge].events == [.failed(pair.nodes[1 - judge].uid, .refused(.rejected))])
        #expect(pair.nodes[1 - judge].events == [.failed(pair.nodes[judge].uid, .refusedByPeer(.rejected))])
        let dials = pair.connections.count
        pair.run(for: .seconds(60))
        #expect(pair.connections.count == dials && pair.complaints.isEmpty)
    }

    @Test("a question without an answer ends the attempt with TIMEOUT after 30 s [trust.before-confirm]")
    func unanswered() throws {
        var stage = try Stage()
        try stage.connect()
        _ = stage.wait(.seconds(20))
        let greeting = try stage.greet(trusted: false)
        let happened = stage.wait(.seconds(60))
        let end = happened.first { ![$0.action].failures.isEmpty }
        #expect(end?.after == .seconds(30))
        #expect(happened.map(\.action).failures == [.timedOut(.refused(.timeout))])
        #expect(happened.map(\.action).code(of: greeting.id) == .timeout)
        stage.machine.decide(stage.peer.endpoint.uid, asked: greeting.id, isTrusted: true, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty)
    }

    @Test(
        "an attempt whose question is open lasts until the answer, past its own deadline [link.deadline] [trust.before-confirm]"
    )
    func late() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        _ = stage.wait(.seconds(25))
        let greeting = try stage.greet(trusted: false)
        #expect(stage.wait(.seconds(29)).map(\.action).failures.isEmpty)
        stage.machine.decide(stage.peer.endpoint.uid, asked: greeting.id, isTrusted: true, at: stage.now)
        let proof = stage.confirm(as: .initiator, initiator: greeting.theirs, responder: greeting.ours)
        stage.give(greeting.id, proof)
        #expect(stage.give(greeting.id, .selected).links == [greeting.id])
    }

    @Test("an answer to a question that is not open changes nothing [trust.once]")
    func stray() throws {
        var stage = try Stage()
        try stage.connect()
        let greeting = try stage.greet(trusted: false)
        stage.machine.decide(
            stage.peer.endpoint.uid, asked: ConnectionID(rawValue: 999), isTrusted: true, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty)
        stage.machine.decide(UID(high: 77, low: 0), asked: greeting.id, isTrusted: false, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty)
    }
}
