import Distributed
import Multipeer
import MultipeerActors
import MultipeerIntroduction
import TestSupport
import Testing

@Suite("The receptionist", .inTurns, .timeLimit(.minutes(3)))
struct ReceptionistTests {
    @Test("who checks in is found at all peers, before and after they link, until they let go of it")
    func comesAndGoes() async throws {
        let ann = try await PeerActorSystem.alone("ann")
        let bob = try await PeerActorSystem.alone("bob")
        for system in [ann, bob] { try system.register(Counter.self) }
        let early = Counter(actorSystem: bob)
        try bob.receptionist.checkIn(early, as: "tills")
        try bob.receptionist.checkIn(early, as: "tills")
        #expect(bob.receptionist.find(Counter.self, as: "tills").map(\.id) == [early.id])
        try await ann.link(to: bob)
        var changes = ann.receptionist.changes(of: Counter.self, as: "tills").makeAsyncIterator()
        guard case .arrived(let first)? = await changes.next() else { throw Overdue() }
        #expect(first.id == early.id)
        #expect(try await first.add(1) == 1)
        #expect(ann.receptionist.find(Vault.self, as: "tills").isEmpty)

        var late: Counter? = Counter(actorSystem: bob)
        if let late { try bob.receptionist.checkIn(late, as: "tills") }
        guard case .arrived(let second)? = await changes.next() else { throw Overdue() }
        #expect(second.id == late?.id)
        late = nil
        guard case .left(let gone)? = await changes.next() else { throw Overdue() }
        #expect(gone == second.id)
        try bob.receptionist.checkOut(early, as: "tills")
        guard case .left(early.id)? = await changes.next() else { throw Overdue() }
        await bob.session.disconnect()
        await ann.session.disconnect()
    }

    @Test("a peer that leaves takes along who had checked in there")
    func peerLeaves() async throws {
        let pair = try await CallTests.pair()
        let (own, other) = (Counter(actorSystem: pair.ann), Counter(actorSystem: pair.bob))
        try pair.ann.receptionist.checkIn(own, as: "tills")
        try pair.bob.receptionist.checkIn(other, as: "tills")
        var changes = pair.ann.receptionist.changes(of: Counter.self, as: "tills").makeAsyncIterator()
        var found: Set<ActorID> = []
        while found.count < 2 {
            guard case .arrived(let actor)? = await changes.next() else { throw Overdue() }
            found.insert(actor.id)
        }
        #expect(found == [own.id, other.id])
        await pair.bob.session.disconnect()
        guard case .left(other.id)? = await changes.next() else { throw Overdue() }
        #expect(pair.ann.receptionist.find(Counter.self, as: "tills").map(\.id) == [own.id])
        await pair.end()
    }

    @Test("an actor is found as a protocol, too, if it was registered for it")
    func asProtocol() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        try pair.bob.receptionist.checkIn(local, of: $Greeter.self, as: "hosts")
        for await greeter in pair.ann.receptionist.checkIns(of: $Greeter.self, as: "hosts") {
            #expect(try await greeter.greet("you") == "hello you, 0")
            break
        }
        #expect(throws: ActorCallError.self) { try pair.bob.receptionist.checkIn(local, as: "") }
        await pair.end()
    }
}
