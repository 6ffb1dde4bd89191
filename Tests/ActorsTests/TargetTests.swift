import Distributed
import Multipeer
import MultipeerActors
import MultipeerTransport
import TestSupport
import Testing

@Suite("What peers may call", .inTurns, .timeLimit(.minutes(3)))
struct TargetTests {
    /// A CALL as a peer would say it that is up to something.
    static func call(_ place: ActorID.Place, _ target: String, generics: [String] = []) -> [UInt8] {
        Envelope.call(Envelope.Call(number: 1, place: place, target: target, generics: generics)).bytes
    }

    static func name(_ type: any Any.Type) throws -> String { try #require(_mangledTypeName(type)) }

    /// What the vault's own method is called: `open()`, without arguments, with a text as result.
    static func openVault() throws -> String { "$s\(try name(Vault.self))4openSSyYaKFTE" }

    @Test("a method of another type, of a nested one or of none is refused before it is executed")
    func strangers() async throws {
        let pair = try await CallTests.pair()
        try pair.bob.register(Vault.self)
        let (counter, drawer) = (Counter(actorSystem: pair.bob), Vault.Drawer(actorSystem: pair.bob))
        let targets = [
            try Self.openVault(), "$s\(try Self.name(Vault.Drawer.self))4pullSiyYaKFTE", "nonsense",
            "$s", "$s\(try Self.name(Counter.self))", "$s\(try Self.name(Counter.self))TE",
            "$s\(try Self.name(Counter.self))5resetyyYaKF",
            // Names of nothing that is there: the runtime would read one of the first kind through a null pointer, and make
            // types of the second for ever.
            "$s\(try Self.name(Counter.self))3fooSivp3baryyYaKFTE",
            "$s\(try Self.name(Counter.self))3zzzyySiSg_AEtSg_AFtSg_AGtSg_AHtSg_AItSg_AJtSg_AKtYaKFTE",
        ]
        for target in targets {
            let answer = try await Self.answer(
                to: Self.call(counter.id.place, target), from: pair.ann, at: pair.bob)
            guard case .failure(.refused, _, _) = answer else {
                Issue.record("\(target) was not refused: \(answer)")
                continue
            }
        }
        // A type that is nested in a registered one has not been registered.
        let nested = try await Self.answer(
            to: Self.call(drawer.id.place, "$s\(try Self.name(Vault.Drawer.self))4pullSiyYaKFTE"),
            from: pair.ann,
            at: pair.bob)
        guard case .failure(.refused, _, _) = nested else {
            Issue.record("\(nested)")
            return
        }
        #expect(try await counter.current == 0)
        await pair.end()
    }

    @Test("a method of a private type that is nested is not one of the type around it, a private method is")
    func privacy() {
        let (worker, mark) = (Array("4Main6WorkerC".utf8), "33_0123456789ABCDEF0123456789ABCDEFLL")
        #expect(!TargetName("$s4Main6WorkerC5Inner\(mark)C2hiyyYaKFTE").isMember(of: worker))
        #expect(!TargetName("$s4Main6WorkerC5OtherE5Inner\(mark)C2hiyyYaKFTE").isMember(of: worker))
        #expect(TargetName("$s4Main6WorkerC2hi\(mark)yyYaKFTE").isMember(of: worker))
        #expect(TargetName("$s4Main3BoxC5OtherSiRszlE5InnerC2hiyyYaKFTE").mayBeInExtension)
    }

    /// Sends bytes as they are, from a session without an actor system, and answers what the other side's says.
    static func answer(
        to call: [UInt8], from ann: PeerActorSystem, at bob: PeerActorSystem
    ) async throws -> Envelope.Answer {
        let mallory = try Session.onLoopback("mallory")
        try await mallory.link(to: bob.session)
        try await mallory.send(call, to: bob.peer)
        let answer = try await within {
            for await event in mallory.events {
                guard case .message(let message) = event else { continue }
                let envelope = try message.withBytes { bytes throws(EnvelopeFault) in try Envelope(bytes) }
                if case .answer(_, let answer) = envelope { return answer }
            }
            throw Overdue()
        }
        await mallory.disconnect()
        return answer
    }

    @Test(
        "without the check, a method of another type reads memory that is not its own, and the process ends")
    func crash() async throws {
        await #expect(processExitsWith: .failure) {
            var open = PeerActorSystem.Configuration()
            open.checksTargets = false
            let pair = try await Pair(bob: open) { try $0.register(Counter.self) }
            let counter = Counter(actorSystem: pair.bob)
            // Of the vault's two values the counter has none.
            for _ in 0..<50 {
                _ = try? await TargetTests.answer(
                    to: TargetTests.call(counter.id.place, TargetTests.openVault()), from: pair.ann,
                    at: pair.bob)
            }
        }
    }

    @Test("with it, the same process lives")
    func noCrash() async throws {
        await #expect(processExitsWith: .success) {
            let pair = try await Pair { try $0.register(Counter.self) }
            let counter = Counter(actorSystem: pair.bob)
            let answer = try await TargetTests.answer(
                to: TargetTests.call(counter.id.place, TargetTests.openVault()), from: pair.ann, at: pair.bob)
            guard case .failure(.refused, _, _) = answer else { throw Overdue() }
        }
    }

    @Test("actors of a type that was not registered are not called by peers")
    func unregistered() async throws {
        let pair = try await CallTests.pair()
        let local = Vault(actorSystem: pair.bob)
        let remote = try Vault.resolve(id: local.id, using: pair.ann)
        let error = await #expect(throws: ActorCallError.self) { try await remote.open() }
        #expect(error?.code == .refused)
        await pair.end()
    }

    @Test("a generic argument is one of those that were registered")
    func generics() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        #expect(try await remote.describe(3) == "3")
        let error = await #expect(throws: ActorCallError.self) { try await remote.describe(3.5) }
        #expect(error?.code == .refused)
        await pair.end()
    }

    @Test("an actor that is generic is called with its own arguments, and with no others")
    func genericActor() async throws {
        let pair = try await Pair { system in
            try system.register(Box<Int>.self, generics: [String.self], arguments: [Int.self])
            try system.register(Couple<Int, String>.self, arguments: [Int.self, String.self])
        }
        let local = Box(3, actorSystem: pair.bob)
        let remote = try Box<Int>.resolve(id: local.id, using: pair.ann)
        #expect(try await remote.get() == 3)
        try await remote.put(4)
        #expect(try await remote.get() == 4)
        let couple = Couple(1, "b", actorSystem: pair.bob)
        let other = try Couple<Int, String>.resolve(id: couple.id, using: pair.ann)
        #expect(try await other.swapped("c", 2) == "c2")
        #expect(try await other.second() == "b")
        let wrong = try Box<String>.resolve(id: local.id, using: pair.ann)
        let error = await #expect(throws: ActorCallError.self) { try await wrong.get() }
        #expect(error?.code == .refused)
        #expect(throws: ActorCallError.self) { try pair.bob.register(Box<Int>.self) }
        #expect(throws: ActorCallError.self) {
            try pair.bob.register(Box<Int>.self, arguments: [String.self])
        }
        await pair.end()
    }

    @Test("a generic method is not called where the runtime would take its types for the actor's")
    func confusion() async throws {
        let pair = try await Pair { system in
            try system.register(Box<Int>.self, generics: [String.self], arguments: [Int.self])
            try system.register(Counter.self, as: [$Greeter.self], generics: [String.self])
        }
        let (box, counter) = (Box(3, actorSystem: pair.bob), Counter(actorSystem: pair.bob))
        let remoteBox = try Box<Int>.resolve(id: box.id, using: pair.ann)
        let first = await #expect(throws: ActorCallError.self) { try await remoteBox.put(4, as: "four") }
        #expect(first?.code == .refused)
        let remote = try $Greeter.resolve(id: counter.id, using: pair.ann)
        let second = await #expect(throws: ActorCallError.self) { try await remote.echo("four") }
        #expect(second?.code == .refused)
        await pair.end()
    }

    @Test("where methods were named, only these are called")
    func methods() async throws {
        let pair = try await Pair { try $0.register(Counter.self, methods: ["add(_:)", "current()"]) }
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        #expect(try await remote.add(1) == 1)
        #expect(try await remote.current == 1)
        let error = await #expect(throws: ActorCallError.self) { try await remote.reset() }
        #expect(error?.code == .refused)
        await pair.end()
    }

    @Test("a protocol that was not registered for the type is not one to call it through")
    func unregisteredProtocol() async throws {
        let pair = try await Pair { try $0.register(Counter.self) }
        let local = Counter(actorSystem: pair.bob)
        let remote = try $Greeter.resolve(id: local.id, using: pair.ann)
        let error = await #expect(throws: ActorCallError.self) { try await remote.greet("ann") }
        #expect(error?.code == .refused)
        await pair.end()
    }
}
