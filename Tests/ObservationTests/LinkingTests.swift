import Multipeer
import MultipeerObservation
import MultipeerTransport
import TestSupport
import Testing

@Suite("1 A room links peers", .inTurns)
@MainActor struct LinkingTests {
    private let rooms = Rooms()

    @Test("a peer is found with its info, invited, asked, and a member at both ends once it has accepted")
    func accepting() async throws {
        let (ann, bob) = (try rooms.room("ann"), try rooms.room("bob", info: ["game": "chess"]))
        #expect(!ann.isRunning)
        ann.start()
        bob.start()
        #expect(ann.isRunning)
        try await until { !ann.nearby.isEmpty && !bob.nearby.isEmpty }
        #expect(ann.nearby[0].name == "bob" && ann.nearby[0].state == .nearby)
        #expect(ann.nearby[0].info == ["game": "chess"])

        ann.invite(bob.peer, context: [1, 2])
        #expect(ann.nearby[0].state == .invited)
        try await until { !bob.invitations.isEmpty }
        #expect(bob.invitations[0].inviter == ann.peer && bob.invitations[0].context == [1, 2])
        bob.accept(bob.invitations[0])
        #expect(bob.invitations.isEmpty)
        try await until { ann.has(bob.peer) && bob.has(ann.peer) }
        // A member is not nearby, and keeps its info.
        try await until { ann.nearby.isEmpty && bob.nearby.isEmpty }
        #expect(ann.members[0].info == ["game": "chess"])
        #expect(await ann.session.connectedPeers == [bob.peer])

        await bob.stop()
        #expect(!bob.isRunning && bob.members.isEmpty && bob.nearby.isEmpty)
        // It has said goodbye, and is no longer found.
        try await until { ann.members.isEmpty && ann.nearby.isEmpty }
        #expect(ann.failures.isEmpty && bob.failures.isEmpty)
        await ann.stop()
    }

    @Test("a peer that declines stays nearby, and the failure names it")
    func declining() async throws {
        let pair = try await rooms.running("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        ann.invite(bob.peer)
        try await until { !bob.invitations.isEmpty }
        bob.decline(bob.invitations[0])
        #expect(bob.invitations.isEmpty)
        try await until { !ann.failures.isEmpty }
        #expect(ann.codes == [.declined] && ann.failures[0].peer == bob.peer)
        #expect(ann.nearby.map(\.state) == [.nearby] && ann.members.isEmpty)
        ann.dismiss(ann.failures[0])
        #expect(ann.failures.isEmpty && bob.failures.isEmpty)
        await pair.stop()
    }

    @Test("an invitation disappears when the inviter gives up")
    func withdrawn() async throws {
        let pair = try await rooms.running("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        ann.invite(bob.peer)
        // It is invited once.
        ann.invite(bob.peer)
        try await until { bob.invitations.count == 1 }
        let invitation = bob.invitations[0]
        await ann.stop()
        try await until { bob.invitations.isEmpty }
        // An answer that comes too late is a failure.
        bob.accept(invitation)
        try await until { bob.codes == [.cancelled] }
        #expect(ann.failures.isEmpty)
        await bob.stop()
    }

    @Test("an invitation without an answer times out at both ends")
    func timedOut() async throws {
        let pair = try await rooms.running("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        ann.invite(bob.peer, timeout: .seconds(1))
        try await until { bob.invitations.count == 1 }
        try await until { ann.codes == [.timedOut] }
        try await until { bob.invitations.isEmpty }
        #expect(ann.nearby.map(\.state) == [.nearby])
        await pair.stop()
    }

    @Test("three rooms are one mesh: a member is introduced to the others, and a late one too")
    func mesh() async throws {
        let three = try await rooms.linked("ann", "bob", "cid")
        let dan = try rooms.room("dan")
        dan.start()
        try await until { dan.nearby.count == 3 }
        dan.invite(three[1].peer)
        try await until { !three[1].invitations.isEmpty }
        three[1].accept(three[1].invitations[0])
        try await until { dan.members.count { $0.state == .connected } == 3 }
        for room in three { try await until { room.has(dan.peer) } }
        #expect(dan.nearby.isEmpty)
        await dan.stop()
        for room in three {
            try await until { room.members.count == 2 }
            #expect(room.failures.isEmpty)
        }
        await three.stop()
    }

    @Test("two peers that invite each other are linked once, without a failure")
    func mutual() async throws {
        let pair = try await rooms.running("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        ann.invite(bob.peer)
        bob.invite(ann.peer)
        try await until { ann.has(bob.peer) && bob.has(ann.peer) }
        try await until { ann.invitations.isEmpty && bob.invitations.isEmpty }
        #expect(ann.failures.isEmpty && bob.failures.isEmpty)
        await pair.stop()
    }

    @Test("a member that asks to compare codes is marked, and shown as verified once both users confirm")
    func verification() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        async let anns = ann.session.verificationCode(for: bob.peer)
        try await until { bob.members.contains { $0.requestsVerification } }
        let bobs = try await bob.session.verificationCode(for: ann.peer)
        #expect(try await anns.match(bobs.own))
        #expect(ann.nearby.isEmpty && ann.members.map(\.verification) == [.unverified(.network)])
        async let annsWord: Void = ann.session.confirmVerification(of: bob.peer)
        async let bobsWord: Void = bob.session.confirmVerification(of: ann.peer)
        for room in pair {
            try await until { room.members.map(\.verification) == [.verified(by: .code)] }
        }
        _ = try await (annsWord, bobsWord)
        // The room knows nothing of a peer that is no longer linked.
        await ann.session.disconnect()
        try await until { bob.members.isEmpty && bob.nearby.allSatisfy { $0.verification == nil } }
        await pair.stop()
    }
}
