import Multipeer
import MultipeerTransport
import TestSupport
import Testing

/// The acceptance run has 1,000 of these, `mutual-invitations`.
@Suite("12 Mutual invitations", .inTurns)
struct MutualInvitationTests {
    /// What ann does about it; bob accepts.
    enum Way: String, CaseIterable, Sendable { case accepts, declines, isSlow, cancels }

    @Test(
        "mutual invitations lead to one link, whatever ann does meanwhile [invite.glare]",
        arguments: Way.allCases)
    func rounds(_ way: Way) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 0..<UInt64(5) { group.addTask { try await Self.round(way, seed) } }
            try await group.waitForAll()
        }
    }

    @Test("mutual invitations lead to no link when both decline", arguments: 0..<UInt64(3))
    func bothDecline(_ seed: UInt64) async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        var dice = Seeded(seed)
        let skew = Duration.milliseconds(Int.random(in: 0...50, using: &dice))
        async let annsAnswer = ann.invited().declining()
        async let bobsAnswer = bob.invited().declining()
        async let bobs = bob.inviting(ann, after: skew)
        let anns = await ann.inviting(bob)
        #expect(anns.error?.code == .declined)
        #expect(await bobs.error?.code == .declined)
        #expect(try await annsAnswer.error == nil)
        #expect(try await bobsAnswer.error == nil)
        #expect(try await ann.heardNothing(of: bob))
        #expect(try await bob.heardNothing(of: ann))
        await callers.stop()
    }

    private static func round(_ way: Way, _ seed: UInt64) async throws {
        let callers = try await Caller.several(["ann", "bob"])
        let (ann, bob) = (callers[0], callers[1])
        var dice = Seeded(seed)
        let skew = Duration.milliseconds(Int.random(in: 0...50, using: &dice))
        let regret = Duration.milliseconds(Int.random(in: 0...60, using: &dice))
        let bobsAnswers = Task { await bob.answering(.accepts) }
        let annsAnswers = Task { await ann.answering(way) }
        let anns = Task { await ann.inviting(bob) }
        let bobs = Task { await bob.inviting(ann, after: skew) }
        if way == .cancels {
            try await Task.sleep(for: regret)
            anns.cancel()
        }
        let (first, second) = try await within { (await anns.value, await bobs.value) }
        #expect(second.error?.code == (way == .declines ? .declined : nil), "seed \(seed)")
        if way != .cancels { #expect(first.error == nil, "seed \(seed)") }
        // Both answers are given: the peer that was linked by the other's may still be answering.
        try await within {
            await ann.member.until { $0.heard[bob.peer]?.last == .connected }
            await bob.member.until { $0.heard[ann.peer]?.last == .connected }
            try await Meeting(ann.session, bob.session).expectTalk()
        }
        let heard = (await ann.member.heard[bob.peer], await bob.member.heard[ann.peer])
        if way != .cancels {
            #expect(heard.0 == [.connecting, .connected], "seed \(seed)")
            #expect(heard.1 == [.connecting, .connected], "seed \(seed)")
        }
        #expect(await ann.session.connectedPeers == [bob.peer])
        #expect(await bob.session.connectedPeers == [ann.peer])
        annsAnswers.cancel()
        bobsAnswers.cancel()
        let answers = (await annsAnswers.value, await bobsAnswers.value)
        #expect(answers.0.allSatisfy { $0.error == nil }, "seed \(seed): \(answers.0)")
        if way != .cancels { #expect(answers.1.allSatisfy { $0.error == nil }, "seed \(seed): \(answers.1)") }
        await callers.stop()
    }
}

extension Caller {
    fileprivate func inviting(_ other: Caller, after delay: Duration) async -> Result<Void, MultipeerError> {
        guard (try? await Task.sleep(for: delay)) != nil else {
            return .failure(MultipeerError(.cancelled, ""))
        }
        return await inviting(other)
    }

    /// Answers each invitation in that way, until it is cancelled.
    fileprivate func answering(
        _ way: MutualInvitationTests.Way
    ) async -> [Result<Void, MultipeerError>] {
        var answers: [Result<Void, MultipeerError>] = []
        for await invitation in advertiser.invitations {
            if way == .isSlow { try? await Task.sleep(for: .milliseconds(200)) }
            // An answer that was begun is not given up with the task.
            let answer = Task {
                way == .declines ? await invitation.declining() : await accepting(invitation)
            }
            answers.append(await answer.value)
        }
        return answers
    }
}

extension Meeting {
    fileprivate init(_ ann: Session, _ bob: Session) {
        self.ann = ann
        self.bob = bob
    }
}
