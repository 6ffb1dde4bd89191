import Multipeer
import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Invitations", .inTurns)
struct InvitationTests {
    @Test(
        "an invitation can be accepted later, on the main actor, and both are linked",
        arguments: Ground.allCases)
    func later(_ ground: Ground) async throws {
        let callers = try await Caller.several(["ann", "bob"], ground)
        let (ann, bob) = (callers[0], callers[1])
        let beginning = ContinuousClock.now
        async let asked = ann.inviting(bob, context: Array("chess?".utf8), timeout: .seconds(40))
        let invitation = try await bob.invited()
        #expect(invitation.inviter == ann.peer)
        #expect(invitation.inviter.displayName == "ann")
        #expect(invitation.context == Array("chess?".utf8))
        // What is left of the 40 s when bob is reached, in whole seconds.
        #expect(invitation.timeout <= .seconds(40))
        #expect(invitation.timeout >= .seconds(40) - (.now - beginning))
        try await Desk.answer(invitation, into: bob.session)
        try await asked.get()
        #expect(await ann.session.connectedPeers == [bob.peer])
        #expect(await bob.session.connectedPeers == [ann.peer])
        #expect(try await ann.states(of: bob) == [.connecting, .connected])
        #expect(try await bob.states(of: ann) == [.connecting, .connected])
        await callers.stop()
    }

    @MainActor private enum Desk {
        static func answer(_ invitation: Invitation, into session: Session) async throws {
            await Task.yield()
            try await invitation.accept(into: session)
        }
    }

    @Test(
        "a context may be missing, empty, or 32,768 bytes long [invite.context]", arguments: [nil, 0, 32_768])
    func context(_ count: Int?) async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let context = count.map { [UInt8](repeating: 7, count: $0) }
        async let asked = callers[0].inviting(callers[1], context: context)
        let invitation = try await callers[1].invited()
        #expect(invitation.context == context)
        try await invitation.decline()
        #expect(await asked.error?.code == .declined)
        await callers.stop()
    }

    @Test("after declining no link is made, and neither session has an event")
    func declined() async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        async let asked = ann.inviting(bob)
        try await bob.invited().decline()
        #expect(await asked.error?.code == .declined)
        #expect(try await ann.heardNothing(of: bob))
        #expect(try await bob.heardNothing(of: ann))
        await callers.stop()
    }

    @Test(
        "there is one answer, and each further one is an error [invite.once]", arguments: [true, false],
        [true, false])
    func once(firstAccepts: Bool, secondAccepts: Bool) async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        async let asked = ann.inviting(bob)
        let invitation = try await bob.invited()
        if firstAccepts {
            try await invitation.accept(into: bob.session)
        } else {
            try await invitation.decline()
        }
        let second =
            secondAccepts ? await bob.accepting(invitation) : await invitation.declining()
        #expect(second.error?.code == .alreadyAnswered)
        #expect(await asked.isLinked == firstAccepts)
        await callers.stop()
    }

    @Test("of many simultaneous answers one counts [invite.once]")
    func race() async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        async let asked = ann.inviting(bob)
        let invitation = try await bob.invited()
        let answers = await withTaskGroup(of: Result<Void, MultipeerError>.self) { group in
            for index in 0..<20 {
                group.addTask {
                    index.isMultiple(of: 2) ? await bob.accepting(invitation) : await invitation.declining()
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count(where: \.isLinked) == 1)
        #expect(answers.count { $0.error?.code == .alreadyAnswered } == 19)
        let outcome = await asked
        #expect(outcome.isLinked || outcome.error?.code == .declined)
        await callers.stop()
    }

    @Test("accepting does nothing when the two are already linked, and both calls return [invite.glare]")
    func linked() async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        try await ann.link(with: bob)
        try await bob.link(with: ann)
        try await ann.link(with: bob)
        #expect(try await ann.states(of: bob) == [.connecting, .connected])
        #expect(try await bob.states(of: ann) == [.connecting, .connected])
        await callers.stop()
    }

    @Test("three peers that are invited one by one are one mesh")
    func mesh() async throws {
        let callers = try await Caller.several(["ann", "bob", "carl"])
        try await callers[0].link(with: callers[1])
        try await callers[0].link(with: callers[2])
        try await callers.map(\.member).areAllLinked()
        for caller in callers {
            for other in callers where other.peer != caller.peer {
                #expect(try await caller.states(of: other) == [.connecting, .connected])
            }
        }
        await callers.stop()
    }

    @Test("in a star the invited peers are not linked with each other [mesh.star]")
    func star() async throws {
        let star = Session.Configuration.loopback().with { $0.topology = .star }
        let callers = try await Caller.several(["ann", "bob", "carl"], .memory, star)
        try await callers[0].link(with: callers[1])
        try await callers[0].link(with: callers[2])
        #expect(Set(await callers[0].session.connectedPeers) == [callers[1].peer, callers[2].peer])
        #expect(await callers[1].session.connectedPeers == [callers[0].peer])
        #expect(try await callers[1].heardNothing(of: callers[2]))
        await callers.stop()
    }

    @Test("everything works while the main thread is blocked")
    @MainActor func mainIsBusy() throws {
        try Blocking.main {
            let callers = try await Caller.several(["ann", "bob"])
            try await callers[0].link(with: callers[1])
            await callers.stop()
        }
    }
}
