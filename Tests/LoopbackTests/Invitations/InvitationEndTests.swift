import Multipeer
import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Invitations without a link", .inTurns)
struct InvitationEndTests {
    @Test("without an answer an invitation times out at both ends [invite.timeout]")
    func unanswered() async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        try await eventually { timeLimit in
            let timeout = max(timeLimit, .seconds(2))
            let began = ContinuousClock.now
            async let asked = ann.inviting(bob, timeout: timeout)
            // It is as late as any alarm is on this machine.
            async let alarm = InvitationEndTests.alarm(timeout)
            let invitation = try? await within(timeout) { try await bob.invited() }
            #expect(await asked.error?.code == .timedOut)
            let passed = ContinuousClock.now - began
            #expect(passed >= timeout)
            // On a busy machine the two may be late by different times.
            guard passed < (await alarm) + .seconds(1), let invitation else { return false }
            // An acceptance that crosses the end finds no waiting inviter.
            let late = await bob.accepting(invitation).error?.code
            #expect(late == .timedOut || late == .cancelled)
            #expect(await invitation.declining().error?.code == .alreadyAnswered)
            return true
        }
        #expect(try await ann.heardNothing(of: bob))
        await callers.stop()
    }

    /// Shorter only when the test itself is cancelled.
    private static func alarm(_ duration: Duration) async -> Duration {
        let began = ContinuousClock.now
        try? await Task.sleep(for: duration)
        return ContinuousClock.now - began
    }

    @Test("cancelling the task withdraws the question at the peer [invite.cancel]")
    func cancelled() async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        let asking = Task { await ann.inviting(bob) }
        let invitation = try await bob.invited()
        asking.cancel()
        #expect(await asking.value.error?.code == .cancelled)
        // A window that asks can close.
        try await within { await invitation.waitUntilEnded() }
        #expect(!invitation.isOpen)
        #expect(await bob.accepting(invitation).error?.code == .cancelled)
        #expect(try await bob.heardNothing(of: ann))
        await callers.stop()
    }

    @Test("leaving the session ends its invitations, and the peer is notified")
    func left() async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        async let asked = ann.inviting(bob)
        let invitation = try await bob.invited()
        await ann.session.disconnect()
        let error = await asked.error
        #expect(error?.code == .ended)
        #expect(error?.reason?.code == .left)
        #expect(await bob.accepting(invitation).error != nil)
        // And both can go on.
        try await ann.link(with: bob)
        await callers.stop()
    }

    @Test("requests to a full session that is leaving apply to the time after, and are reported as such")
    func afterLeaving() async throws {
        let two = Session.Configuration.loopback().with { $0.maximumPeers = 2 }
        let meeting = try Meeting(ann: two, bob: two)
        try await meeting.link()
        try await within { try await meeting.expectTalk() }
        let (driver, bob, carl) = (meeting.ann.driver, meeting.bob.peer, try PeerID(displayName: "carl"))
        // In the order of the queue of the session's own loop, while bob still has to answer the goodbye.
        let left = Task(executorPreference: meeting.ann.executor) {
            await driver.disconnect(within: .seconds(1))
        }
        let asked = Task(executorPreference: meeting.ann.executor) { await driver.hasRoom(for: carl.uid) }
        let pursued = Task(executorPreference: meeting.ann.executor) {
            await driver.invitation(of: bob, isMarked: true) { _ async throws(MultipeerError) in
                guard await driver.hasRoom(for: carl.uid) else { throw MultipeerError(.full, "no room") }
                throw MultipeerError(.declined, "no")
            }
        }
        await left.value
        #expect(await asked.value)
        let outcome = await pursued.value
        #expect(throws: MultipeerError.self) { try outcome.get() }
        // The goodbye was of the time before.
        let told = try await within { await driver.toldUntilFailure() }
        #expect(told.suffix(2) == ["not connected", "failed"])
        await meeting.end()
    }

    @Test("stopping an advertiser ends its questions")
    func stopped() async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        async let asked = ann.inviting(bob)
        let invitation = try await bob.invited()
        await bob.advertiser.stop()
        let error = await asked.error
        #expect(error?.code == .cancelled)
        #expect(error?.description.contains("it was cancelled there") == true, "\(String(describing: error))")
        #expect(await bob.accepting(invitation).error?.code == .cancelled)
        await callers.stop()
    }

    @Test(
        "stopping or releasing an advertiser right after accepting revokes nothing",
        arguments: [true, false])
    func stoppedAfterYes(_ isLetGo: Bool) async throws {
        let network = try Ground.memory.network()
        let (ann, bob) = (try Caller("ann", network), try Member("bob"))
        var advertiser: Advertiser? = Advertiser(
            peer: bob.peer, service: network.0, configuration: network.1)
        try await ann.start()
        try await advertiser?.start()
        try await ann.finds([bob.peer])
        let asked = Task {
            try await ann.browser.invite(bob.peer, to: ann.session)
        }
        var invitations = try #require(advertiser).invitations.makeAsyncIterator()
        let invitation = try #require(await invitations.next())
        try invitation.consent(to: bob.session)
        if isLetGo { advertiser = nil } else { await advertiser?.stop() }
        try await invitation.link(in: bob.session).get()
        try await asked.value
        #expect(await bob.session.connectedPeers == [ann.peer])
        await bob.session.disconnect()
        await ann.stop()
    }

    @Test("a full session refuses at once, on either side, and makes no connection [limit.links]")
    func full() async throws {
        let network = try Ground.memory.network()
        let two = Session.Configuration.loopback().with { $0.maximumPeers = 2 }
        let callers = [
            try Caller("ann", network), try Caller("bob", network, two), try Caller("carl", network),
        ]
        try await callers.start()
        let (ann, bob, carl) = (callers[0], callers[1], callers[2])
        try await bob.link(with: carl)
        async let asked = ann.inviting(bob)
        let invitation = try await bob.invited()
        #expect(await bob.accepting(invitation).error?.code == .full)
        #expect(await asked.error?.code == .full)
        #expect(await bob.inviting(ann).error?.code == .full)
        #expect(try await ann.heardNothing(of: bob))
        #expect(await bob.session.connectedPeers == [carl.peer])
        // A linked peer may still be asked.
        try await carl.link(with: bob)
        await callers.stop()
    }

    @Test("incompatible encryption preferences are detected at both ends, before there is a connection")
    func incompatible() async throws {
        let network = try Ground.memory.network()
        let callers = [
            try Caller("ann", network), try Caller("bob", network, .loopback(.none)),
        ]
        try await callers.start()
        for (ann, bob) in [(callers[0], callers[1]), (callers[1], callers[0])] {
            async let asked = ann.inviting(bob)
            let invitation = try await bob.invited()
            #expect(await bob.accepting(invitation).error?.code == .incompatible)
            #expect(await asked.error?.code == .incompatible)
        }
        #expect(try await callers[0].heardNothing(of: callers[1]))
        await callers.stop()
    }

    @Test("a session of another peer than the invited one is refused, and the question stays")
    func another() async throws {
        let callers = try await Caller.several(["ann", "bob", "carl"])
        let (ann, bob, carl) = (callers[0], callers[1], callers[2])
        async let asked = ann.inviting(bob)
        let invitation = try await bob.invited()
        await #expect(throws: MultipeerError(.invalidArgument, "")) {
            try await invitation.accept(into: carl.session)
        }
        try await invitation.accept(into: bob.session)
        try await asked.get()
        await callers.stop()
    }

    @Test("arguments are checked first, each with its own validation error [invite.timeout] [invite.context]")
    func arguments() async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        func fault(
            _ peer: PeerID, _ session: Session, context: [UInt8]? = nil, timeout: Duration = .seconds(30)
        ) async -> MultipeerError.Code? {
            do throws(MultipeerError) {
                try await ann.browser.invite(peer, to: session, context: context, timeout: timeout)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await fault(bob.peer, ann.session, timeout: .milliseconds(999)) == .invalidArgument)
        #expect(await fault(bob.peer, ann.session, timeout: .milliseconds(600_001)) == .invalidArgument)
        #expect(
            await fault(bob.peer, ann.session, context: Array(repeating: 0, count: 32_769))
                == .invalidArgument)
        #expect(await fault(ann.peer, ann.session) == .invalidArgument)
        #expect(await fault(bob.peer, bob.session) == .invalidArgument)
        #expect(await fault(try PeerID(displayName: "nobody"), ann.session) == .notFound)
        await ann.browser.stop()
        #expect(await fault(bob.peer, ann.session) == .notFound)
        await callers.stop()
    }
}
