import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("6.1 Cancelling", .computing)
struct CancelTests {
    /// How far a connection is when the application gives up.
    enum Phase: CaseIterable {
        case dialling, greeting, deciding, decidingConfirmed, confirming, candidate
    }

    @Test(
        "cancelling closes the connection in every phase, once, and no link follows [link.cancel]",
        arguments: Phase.allCases, [true, false])
    func everyPhase(_ phase: Phase, _ weAreLower: Bool) throws {
        var stage = try Stage(weAreLower: weAreLower)
        let uid = stage.peer.endpoint.uid
        let dial = try #require(
            try (stage.connect() + stage.wait(.milliseconds(500)).map(\.action)).dials.first)
        var id = dial.id
        var proof: [UInt8] = []
        switch phase {
        case .dialling: break
        case .greeting: stage.machine.secured(id, stage.channel, nonce: Stage.binding, at: stage.now)
        case .deciding, .decidingConfirmed, .confirming, .candidate:
            let greeting = try stage.greet(trusted: phase == .confirming || phase == .candidate)
            id = greeting.id
            proof = stage.confirm(as: .initiator, initiator: greeting.theirs, responder: greeting.ours)
            if phase == .decidingConfirmed || phase == .candidate { stage.give(id, proof) }
        }
        _ = stage.machine.takeActions()
        stage.machine.cancel(uid, at: stage.now)
        let actions = stage.machine.takeActions()
        #expect(actions.code(of: id) == .cancelled && actions.code(of: dial.id) == .cancelled)
        #expect(actions.failures == [.cancelled])

        stage.give(id, .select)
        stage.machine.decide(uid, asked: id, isTrusted: true, at: stage.now)
        stage.machine.cancel(uid, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty && stage.wait(.seconds(60)).isEmpty)
    }

    @Test("whenever one side cancels, both ends agree on the outcome [link.cancel]")
    func whenever() throws {
        var outcomes: Set<Bool> = []
        for seed in UInt64(0)..<200 {
            let pair = try SimulatedSessions(seed: seed)
            for one in [0, 1] { try pair.connect(one, to: 1 - one) }
            let canceller = Int(seed % 2)
            pair.after(pair.dice.milliseconds(0...150)) { pair.cancel(canceller, 1 - canceller) }
            pair.run(for: .seconds(40))
            let linked = pair.areLinked(0, 1)
            outcomes.insert(linked)
            #expect(linked || pair.nodes.allSatisfy { $0.links.isEmpty }, "seed \(seed)")
            #expect(pair.complaints.isEmpty && pair.nodes.allSatisfy { $0.open.isEmpty }, "seed \(seed)")
            if !linked {
                // The other end may have had a link already, on the connection that it selected.
                let other = pair.nodes[1 - canceller]
                let failures = other.failures(of: pair.nodes[canceller].uid).count
                let links = other.events.count { if case .linked = $0 { true } else { false } }
                let ends = other.events.count { if case .ended = $0 { true } else { false } }
                #expect(failures + links == 1 && links == ends, "seed \(seed): \(other.events)")
            }
        }
        #expect(outcomes == [true, false])
    }

    @Test("cancelling has no effect on a peer that is already linked [link.cancel]")
    func linked() throws {
        var stage = try Stage()
        try stage.connect()
        try stage.link()
        stage.machine.cancel(stage.peer.endpoint.uid, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty)
        #expect(try !stage.machine.connect(with: stage.theirs, zones: [], at: stage.now))
    }

    @Test(
        "an attempt ends when the peer sends CANCELLED or GOODBYE [link.cancel]",
        arguments: [.cancelled, .goodbye] as [CloseCode])
    func heard(_ code: CloseCode) throws {
        var stage = try Stage()
        try stage.connect()
        let candidate = try stage.candidate()
        let actions = stage.give(candidate.id, .close(code, reason: ""))
        #expect(actions.failures == [.refusedByPeer(code)] && actions.code(of: candidate.id) == .ok)
    }

    @Test(
        "leaving cancels all attempts and every connection, including unauthenticated ones [link.cancel]"
    )
    func all() throws {
        var stage = try Stage()
        try stage.connect()
        let candidate = try stage.candidate()
        let stranger = stage.accept()
        stage.machine.cancelAll(at: stage.now)
        let actions = stage.machine.takeActions()
        #expect(actions.code(of: candidate.id) == .cancelled && actions.code(of: stranger) == .cancelled)
        #expect(actions.failures == [.cancelled] && stage.machine.deadline == nil)
    }

    @Test(
        "leaving after SELECT was sent says GOODBYE there: the peer may have a link by then [close.goodbye]")
    func promised() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let (selected, other) = try (stage.candidate(), stage.candidate())
        stage.machine.cancelAll(at: stage.now)
        let actions = stage.machine.takeActions()
        #expect(actions.code(of: selected.id) == .goodbye && actions.code(of: other.id) == .cancelled)
        #expect(actions.failures == [.cancelled] && stage.machine.deadline == nil)
    }
}
