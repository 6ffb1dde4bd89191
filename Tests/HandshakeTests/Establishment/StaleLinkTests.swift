import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@Suite("6.5 Links that one end has lost", .computing)
struct StaleLinkTests {
    /// A controlled end with a link, and SELECT on another connection.
    private func reselected(after age: Duration = .zero) throws -> (
        stage: Stage, old: ConnectionID, fresh: ConnectionID
    ) {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        let old = try stage.link()
        _ = stage.wait(age)
        let fresh = try stage.candidate()
        #expect(fresh.actions.isEmpty)
        #expect(stage.give(fresh.id, .select) == [.probe(old)])
        return (stage, old, fresh.id)
    }

    @Test(
        "SELECT on a new connection ends a link that is silent for 1 s after the probe [stale.supersede]",
        arguments: [Duration.zero, .seconds(60)])
    func supersede(_ age: Duration) throws {
        var (stage, old, fresh) = try reselected(after: age)
        #expect(stage.wait(.milliseconds(999)).isEmpty)
        let actions = stage.wait(.milliseconds(1)).map(\.action)
        #expect(actions.prefix(2) == [.supersede(old), .send(fresh, Stage.bytes(.selected))])
        #expect(actions.links == [fresh])
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    @Test(
        "a link that took the place of an old one, and is lost unused, is dialled again for a whole attempt [state.unused]"
    )
    func superseding() throws {
        var (stage, _, fresh) = try reselected(after: .seconds(60))
        _ = stage.wait(.seconds(1))
        _ = stage.wait(.seconds(20))
        stage.machine.linkEnded(fresh, of: stage.peer.endpoint.uid, mayResume: true, at: stage.now)
        #expect(stage.machine.takeActions().contains(.resume(stage.peer.endpoint.uid)))
        #expect(stage.machine[stage.peer.endpoint.uid]?.isConnecting == true)
    }

    @Test("a link that answers stays, and the new connection is a DUPLICATE [stale.supersede]")
    func keepsLink() throws {
        var (stage, _, fresh) = try reselected()
        stage.machine.probeAnswered(by: stage.peer.endpoint.uid, at: stage.now)
        #expect(stage.machine.takeActions() == [.close(fresh, .duplicate)])
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    @Test("a link that ends while SELECT waits is replaced at once [stale.supersede]")
    func endsBeforeSelected() throws {
        var (stage, old, fresh) = try reselected()
        stage.machine.linkEnded(old, of: stage.peer.endpoint.uid, mayResume: false, at: stage.now)
        let actions = stage.machine.takeActions()
        #expect(actions.first == .resume(stage.peer.endpoint.uid))
        #expect(actions.sent(on: fresh) == [Stage.bytes(.selected)] && actions.links == [fresh])
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    @Test("of two connections with SELECT the later one waits [stale.supersede]")
    func selectedTwice() throws {
        var (stage, old, fresh) = try reselected()
        let later = try stage.candidate()
        #expect(stage.give(later.id, .select) == [.close(fresh, .duplicate)])
        let actions = stage.wait(.seconds(1)).map(\.action)
        #expect(actions.first == .supersede(old) && actions.links == [later.id])
    }

    @Test("when a connection is lost while its SELECT waits, a link that answers stays [stale.supersede]")
    func waitingDies() throws {
        var (stage, _, fresh) = try reselected()
        stage.machine.lost(fresh, .lost, at: stage.now)
        stage.machine.probeAnswered(by: stage.peer.endpoint.uid, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty)
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    @Test("a late SELECT still has the time of a probe before its answer [link.timeouts]")
    func lateSelect() throws {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        let old = try stage.link()
        let fresh = try stage.candidate()
        _ = stage.wait(.milliseconds(4_500))
        #expect(stage.give(fresh.id, .select) == [.probe(old)])
        #expect(stage.wait(.seconds(1)).map(\.action).links == [fresh.id])
    }

    @Test("a candidate is a DUPLICATE at once while the link is younger than 2 s [stale.probe]")
    func young() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        try stage.link()
        #expect(stage.wait(.milliseconds(1_999)).isEmpty)
        let fresh = try stage.candidate()
        #expect(fresh.actions == [.close(fresh.id, .duplicate)])
    }

    @Test("an older link is probed, and its PONG makes the candidate a DUPLICATE [stale.probe]")
    func alive() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let old = try stage.link()
        _ = stage.wait(.seconds(2))
        let (fresh, another) = try (stage.candidate(), stage.candidate())
        #expect(fresh.actions == [.probe(old)] && another.actions.isEmpty)
        _ = stage.wait(.milliseconds(999))
        stage.machine.probeAnswered(by: stage.peer.endpoint.uid, at: stage.now)
        #expect(
            stage.machine.takeActions() == [.close(fresh.id, .duplicate), .close(another.id, .duplicate)])
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    @Test("a link that is silent for 1 s after the probe ends, and the candidate is selected [stale.probe]")
    func silent() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let old = try stage.link()
        _ = stage.wait(.seconds(10))
        let fresh = try stage.candidate()
        let happened = stage.wait(.seconds(1))
        #expect(happened.allSatisfy { $0.after == .seconds(1) })
        #expect(
            happened.map(\.action) == [
                .unanswered(old), .connect(stage.peer.endpoint.uid), .send(fresh.id, Stage.bytes(.select)),
            ])
        #expect(stage.give(fresh.id, .selected).links == [fresh.id])
    }

    @Test("a link whose probe was outstanding during a suspension is probed again, for 3 s [live.resume]")
    func probedWhileAsleep() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let old = try stage.link()
        _ = stage.wait(.seconds(10))
        let fresh = try stage.candidate()
        stage.machine.lost(fresh.id, .lost, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty)
        stage.now = stage.now + .seconds(46_000)
        stage.machine.advance(to: stage.now)
        #expect(stage.machine.takeActions() == [.probe(old)])
        #expect(stage.wait(.milliseconds(2_999)).isEmpty)
        #expect(stage.wait(.milliseconds(1)).map(\.action) == [.unanswered(old)])
    }

    @Test(
        "a probe whose deadline is noticed 5 s late has failed, since there was no suspension [live.resume]")
    func probeNoticedLate() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let old = try stage.link()
        _ = stage.wait(.seconds(10))
        let fresh = try stage.candidate()
        stage.machine.lost(fresh.id, .lost, at: stage.now)
        stage.now = stage.now + .seconds(6)
        stage.machine.advance(to: stage.now)
        #expect(stage.machine.takeActions() == [.unanswered(old)])
    }

    @Test("a candidate that is lost during the probe leaves the link as it is, if that answers [stale.probe]")
    func shortTimeLimit() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        try stage.link()
        _ = stage.wait(.seconds(3))
        let fresh = try stage.candidate()
        stage.machine.lost(fresh.id, .lost, at: stage.now)
        stage.machine.probeAnswered(by: stage.peer.endpoint.uid, at: stage.now)
        #expect(stage.machine.takeActions().isEmpty)
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    @Test("a link that ends during its probe is replaced by the candidate [stale.probe]")
    func endsWhileAsked() throws {
        for weAreLower in [true, false] {
            var stage = try Stage(weAreLower: weAreLower)
            try stage.connect()
            let old = try stage.link()
            _ = stage.wait(.seconds(60))
            let fresh = try stage.candidate()
            stage.machine.linkEnded(old, of: stage.peer.endpoint.uid, mayResume: false, at: stage.now)
            let actions = stage.machine.takeActions()
            #expect(actions.first == .resume(stage.peer.endpoint.uid))
            #expect(actions.sent(on: fresh.id) == (weAreLower ? [Stage.bytes(.select)] : []))
            #expect(stage.give(fresh.id, weAreLower ? .selected : .select).links == [fresh.id])
        }
    }

    @Test(
        "when the link and then the candidate are lost, the peer is dialled again for the time of an attempt")
    func diesAfter() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let old = try stage.link()
        _ = stage.wait(.seconds(60))
        let fresh = try stage.candidate()
        stage.machine.linkEnded(old, of: stage.peer.endpoint.uid, mayResume: false, at: stage.now)
        stage.machine.lost(fresh.id, .lost, at: stage.now)
        _ = stage.machine.takeActions()
        let happened = stage.wait(.seconds(60))
        #expect(!happened.map(\.action).dials.isEmpty)
        #expect(happened.map(\.action).failures.count == 1)
        #expect(happened.allSatisfy { $0.after <= .seconds(30) })
    }

    @Test("a peer that says goodbye during the probe is not dialled again, and its candidate is closed")
    func leavesWhileAsked() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let old = try stage.link()
        _ = stage.wait(.seconds(60))
        let fresh = try stage.candidate()
        stage.machine.linkEnded(
            old, of: stage.peer.endpoint.uid, mayResume: false, hasDeparted: true, at: stage.now)
        #expect(stage.machine.takeActions() == [.close(fresh.id, .duplicate)])
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    /// A linked peer that comes again under another instance, with a candidate.
    private func restarted(_ weAreLower: Bool) throws -> (
        old: Stage, link: ConnectionID, stage: Stage, id: ConnectionID
    ) {
        var old = try Stage(weAreLower: weAreLower)
        try old.connect()
        let link = try old.link()
        var fresh = try Stage(weAreLower: weAreLower, peerInstance: 10)
        _ = old.wait(.seconds(5))
        fresh.now = old.now
        fresh.machine = old.machine
        // What we issued for this uid stays the same for every instance of it.
        #expect(fresh.ours == old.ours)
        try fresh.connect()
        let candidate = try fresh.candidate()
        #expect(candidate.actions.contains(.probe(link)), "\(candidate.actions)")
        return (old, link, fresh, candidate.id)
    }

    @Test(
        "another instance of the same uid is BUSY while the old one answers [stale.busy]",
        arguments: [true, false])
    func busy(_ weAreLower: Bool) throws {
        var (_, _, stage, id) = try restarted(weAreLower)
        if !weAreLower { #expect(stage.give(id, .select).isEmpty) }
        stage.machine.probeAnswered(by: stage.peer.endpoint.uid, at: stage.now)
        let actions = stage.machine.takeActions()
        #expect(actions.code(of: id) == .busy && actions.links.isEmpty)
    }

    @Test(
        "another instance replaces one that does not answer [stale.busy]", arguments: [true, false])
    func replaced(_ weAreLower: Bool) throws {
        var (_, old, stage, id) = try restarted(weAreLower)
        if !weAreLower { #expect(stage.give(id, .select).isEmpty) }
        var actions = stage.wait(.seconds(1)).map(\.action)
        #expect(actions.contains(.unanswered(old)))
        if weAreLower {
            #expect(actions.sent(on: id) == [Stage.bytes(.select)])
            actions = stage.give(id, .selected)
        }
        #expect(actions.links == [id])
    }

    @Test("a failed attempt to the new instance leaves the link to the old one [stale.busy]")
    func withdrawn() throws {
        var (old, _, stage, id) = try restarted(false)
        stage.machine.probeAnswered(by: stage.peer.endpoint.uid, at: stage.now)
        #expect(stage.machine.takeActions().code(of: id) == .busy)
        let later = stage.wait(.seconds(40)).map(\.action)
        #expect(later.failures.count == 1)
        #expect(!later.contains { if case .unanswered = $0 { true } else { false } })
        #expect(!later.contains { if case .connect = $0 { true } else { false } })
        #expect(try !stage.machine.connect(with: old.theirs, zones: [], at: stage.now))
    }
}
