import Distributed
import Multipeer
import MultipeerActors
import TestSupport
import Testing

@Suite("The receptionist", .inTurns)
struct ReceptionistTests {
    @Test("a checked-in actor is found at all peers, before and after they link, until it is released")
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

    @Test("when a peer leaves, the actors that it checked in are gone")
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

    @Test("an actor that is registered for a protocol is also found as that protocol")
    func asProtocol() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        try pair.bob.receptionist.checkIn(local, of: $Greeter.self, as: "hosts")
        for await greeter in pair.ann.receptionist.checkIns(of: $Greeter.self, as: "hosts") {
            #expect(try await greeter.greet("you") == "hello you, 0")
            break
        }
        var changes = pair.ann.receptionist.changes(of: $Greeter.self, as: "hosts").makeAsyncIterator()
        guard case .arrived? = await changes.next() else { throw Overdue() }
        try pair.bob.receptionist.checkOut(local, of: $Greeter.self, as: "hosts")
        guard case .left(local.id)? = await changes.next() else { throw Overdue() }
        #expect(throws: ActorCallError.self) { try pair.bob.receptionist.checkIn(local, as: "") }
        await pair.end()
    }

    @Test("after check-ins and check-outs on many threads a peer sees the final state")
    func order() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        var ends = pair.ann.receptionist.checkIns(of: Counter.self, as: "ends").makeAsyncIterator()
        for _ in 0..<Sanitizer.fewer(300) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<10 {
                            try pair.bob.receptionist.checkIn(local, as: "tills")
                            try pair.bob.receptionist.checkOut(local, as: "tills")
                        }
                    }
                }
                try await group.waitForAll()
            }
            // An actor that is reported now was checked in after all of that.
            let bell = Counter(actorSystem: pair.bob)
            try pair.bob.receptionist.checkIn(bell, as: "ends")
            let end = await ends.next()
            #expect(end?.id == bell.id)
            #expect(pair.ann.receptionist.find(Counter.self, as: "tills").isEmpty)
        }
        await pair.end()
    }

    @Test("an actor whose peer was away is reported as left and arrived again, however late that is read")
    func again() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        try pair.bob.receptionist.checkIn(local, as: "tills")
        var changes = pair.ann.receptionist.changes(of: Counter.self, as: "tills").makeAsyncIterator()
        guard case .arrived? = await changes.next() else { throw Overdue() }
        await pair.ann.session.disconnect(within: .zero)
        try await ending { pair.ann.receptionist.find(Counter.self, as: "tills").isEmpty }
        try await pair.ann.link(to: pair.bob)
        try await ending { !pair.ann.receptionist.find(Counter.self, as: "tills").isEmpty }
        guard case .left(local.id)? = await changes.next() else { throw Overdue() }
        guard case .arrived(let remote)? = await changes.next() else { throw Overdue() }
        #expect(try await remote.add(1) == 1)
        await pair.end()
    }

    @Test("an actor that came and went is not reported, and the others are, in their order")
    func unread() async throws {
        let ann = try await PeerActorSystem.alone("ann") { $0.limits.checkIns = 0 }
        var changes = ann.receptionist.changes(of: Counter.self, as: "tills").makeAsyncIterator()
        let counters = (0..<200).map { _ in Counter(actorSystem: ann) }
        for counter in counters { try ann.receptionist.checkIn(counter, as: "tills") }
        for (index, counter) in counters.enumerated() where index % 50 != 0 {
            try ann.receptionist.checkOut(counter, as: "tills")
        }
        let staying = [counters[0].id, counters[50].id, counters[100].id, counters[150].id]
        #expect(ann.receptionist.find(Counter.self, as: "tills").map(\.id) == staying)
        for id in staying {
            guard case .arrived(let counter)? = await changes.next() else { throw Overdue() }
            #expect(counter.id == id)
        }
        try ann.receptionist.checkOut(counters[50], as: "tills")
        guard case .left(staying[1])? = await changes.next() else { throw Overdue() }
        await ann.session.disconnect()
    }

    @Test("a peer's actor can be checked in at its own system only")
    func foreign() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let error = #expect(throws: ActorCallError.self) {
            try pair.ann.receptionist.checkIn(remote, as: "tills")
        }
        #expect(error?.code == .invalidArgument)
        await pair.end()
    }
}
