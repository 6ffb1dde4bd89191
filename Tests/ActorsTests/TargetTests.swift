import Distributed
import Multipeer
import MultipeerActors
import MultipeerTransport
import TestSupport
import Testing

struct Key: Codable, Sendable {}

/// An actor whose name has a letter with two encodings, and a method whose name is not sent as it is written.
distributed actor Wächter {
    typealias ActorSystem = PeerActorSystem
    distributed func grüß() -> String { "grüß" }
}

/// An error of another type than `Mishap`.
struct Slip: Error, Codable {}

@Suite("What peers may call", .inTurns)
struct TargetTests {
    /// Returns a CALL of a malicious peer.
    static func call(
        _ place: ActorID.Place, _ target: String, generics: [String] = [], arguments: [[UInt8]] = []
    ) -> [UInt8] {
        let call = Envelope.Call(
            number: 1, place: place, target: target, generics: generics, arguments: arguments)
        return Envelope.call(call).bytes
    }

    static func name(_ type: any Any.Type) throws -> String { try #require(_mangledTypeName(type)) }

    /// What the vault's own method is called: `open()`, without arguments, with a text as result.
    static func openVault() throws -> String { "$s\(try name(Vault.self))4openSSyYaKFTE" }

    @Test("a method of another type, of a nested type or of none is refused before it is executed")
    func strangers() async throws {
        let pair = try await CallTests.pair()
        try pair.bob.register(Vault.self)
        let (counter, drawer) = (Counter(actorSystem: pair.bob), Vault.Drawer(actorSystem: pair.bob))
        let targets = [
            try Self.openVault(), "$s\(try Self.name(Vault.Drawer.self))4pullSiyYaKFTE", "nonsense",
            "$s", "$s\(try Self.name(Counter.self))", "$s\(try Self.name(Counter.self))TE",
            "$s\(try Self.name(Counter.self))5resetyyYaKF",
            // Names of things that do not exist: the runtime would read one of the first kind through a null pointer, and
            // create types of the second forever.
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

    @Test("a method of a nested private type does not count as the outer type's, but a private method does")
    func privacy() {
        let (worker, mark) = (Array("4Main6WorkerC".utf8), "33_0123456789ABCDEF0123456789ABCDEFLL")
        #expect(!TargetName("$s4Main6WorkerC5Inner\(mark)C2hiyyYaKFTE").isMember(of: worker))
        #expect(!TargetName("$s4Main6WorkerC5OtherE5Inner\(mark)C2hiyyYaKFTE").isMember(of: worker))
        #expect(TargetName("$s4Main6WorkerC2hi\(mark)yyYaKFTE").isMember(of: worker))
        #expect(TargetName("$s4Main3BoxC5OtherSiRszlE5InnerC2hiyyYaKFTE").mayBeInExtension)
    }

    @Test("a name that equals a known one as a text but has other bytes is refused")
    func lookalikes() async throws {
        let pair = try await Pair { system in
            try system.register(Vault.self)
            try system.register(Counter.self, generics: [Key.self])
        }
        let (vault, counter) = (Vault(actorSystem: pair.bob), Counter(actorSystem: pair.bob))
        let target = try Self.openVault()
        let other = target.replacing("K", with: "\u{212A}")
        #expect(other == target && !other.utf8.elementsEqual(target.utf8))
        guard
            case .value = try await Self.answer(
                to: Self.call(vault.id.place, target), from: pair.ann, at: pair.bob)
        else { throw Overdue() }
        let describe = "$s\(try Self.name(Counter.self))8describeySSxYaKSeRzSERzlFTE"
        let key = try Self.name(Key.self)
        for (call, isTaken) in [
            (Self.call(vault.id.place, other), false),
            (Self.call(counter.id.place, describe, generics: [key]), true),
            (Self.call(counter.id.place, describe, generics: [key.replacing("K", with: "\u{212A}")]), false),
        ] {
            let answer = try await Self.answer(to: call, from: pair.ann, at: pair.bob)
            if case .failure(.refused, _, _) = answer {
                #expect(!isTaken)
            } else {
                #expect(isTaken, "\(answer)")
            }
        }
        await pair.end()
    }

    @Test("a method with a non-ASCII name can be called, and is allowed by its bytes when methods are listed")
    func otherLetters() async throws {
        let pair = try await Pair { try $0.register(Wächter.self, methods: ["gr\u{FC}\u{DF}()"]) }
        let local = Wächter(actorSystem: pair.bob)
        let remote = try Wächter.resolve(id: local.id, using: pair.ann)
        #expect(try Self.name(Wächter.self).utf8.allSatisfy { $0 < 0x80 })
        #expect(try await remote.grüß() == "grüß")
        // Another method, if there were one: a `u` and its dots.
        try pair.bob.register(Wächter.self, methods: ["gru\u{308}\u{DF}()"])
        let error = await #expect(throws: ActorCallError.self) { try await remote.grüß() }
        #expect(error?.code == .refused)
        await pair.end()
    }

    @Test("names of actors and errors, and keys, are equal only when their bytes are")
    func names() async throws {
        let (one, other) = ("caf\u{E9}", "cafe\u{301}")
        #expect(one == other)
        let pair = try await CallTests.pair()
        let first = try pair.bob.named(one) { Counter(actorSystem: pair.bob) }
        let second = try pair.bob.named(other) { Counter(actorSystem: pair.bob) }
        #expect(Set([first.id, second.id]).count == 2)
        for (name, number) in [(one, 1), (other, 2)] {
            let remote = try Counter.resolve(id: ActorID(name, at: pair.bob.peer), using: pair.ann)
            #expect(try await remote.add(number) == number)
        }
        try pair.bob.receptionist.checkIn(first, as: one)
        #expect(pair.bob.receptionist.find(Counter.self, as: one).map(\.id) == [first.id])
        #expect(pair.bob.receptionist.find(Counter.self, as: other).isEmpty)
        try pair.bob.register(error: Mishap.self, named: one)
        try pair.bob.register(error: Slip.self, named: other)
        #expect(throws: ActorCallError.self) { try pair.bob.register(error: Slip.self, named: one) }
        await pair.end()
    }

    /// Returns an array in an array, that many levels deep.
    static func nested<Element: Codable & Sendable>(
        _ type: Element.Type, _ levels: Int
    ) -> any (Codable & Sendable).Type {
        levels == 0 ? type : nested([Element].self, levels - 1)
    }

    @Test("the name of a generic argument has at most 512 bytes, whether registered or sent")
    func longGenerics() async throws {
        let type = Self.nested(Int.self, 80)
        #expect((256...512).contains(try Self.name(type).utf8.count))
        let pair = try await Pair { try $0.register(Counter.self, generics: [type]) }
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        func describeNone<Element: Codable & Sendable>(of type: Element.Type) async throws -> String {
            try await remote.describe([Element]())
        }
        // An array of what is one level less is of the type that was registered.
        #expect(try await describeNone(of: Self.nested(Int.self, 79)) == "[]")
        #expect(throws: ActorCallError.self) {
            try pair.bob.register(Counter.self, generics: [Self.nested(Int.self, 200)])
        }
        await pair.end()
    }

    /// Sends raw bytes from a session without an actor system, and returns the answer of the other side's system.
    static func answer(
        to call: [UInt8], from ann: PeerActorSystem, at bob: PeerActorSystem
    ) async throws -> Envelope.Answer {
        let mallory = try Session.onLoopback("mallory")
        try await mallory.link(to: bob.session)
        try await mallory.send(call, to: bob.peer)
        let answer = try await within(.seconds(30)) { try await mallory.firstAnswer() }
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

    @Test("with the check, the same process survives")
    func noCrash() async throws {
        await #expect(processExitsWith: .success) {
            let pair = try await Pair { try $0.register(Counter.self) }
            let counter = Counter(actorSystem: pair.bob)
            let answer = try await TargetTests.answer(
                to: TargetTests.call(counter.id.place, TargetTests.openVault()), from: pair.ann, at: pair.bob)
            guard case .failure(.refused, _, _) = answer else { throw Overdue() }
        }
    }

    @Test("peers cannot call actors of a type that was not registered")
    func unregistered() async throws {
        let pair = try await CallTests.pair()
        let local = Vault(actorSystem: pair.bob)
        let remote = try Vault.resolve(id: local.id, using: pair.ann)
        let error = await #expect(throws: ActorCallError.self) { try await remote.open() }
        #expect(error?.code == .refused)
        await pair.end()
    }

    @Test("a generic argument must be a registered type")
    func generics() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        #expect(try await remote.describe(3) == "3")
        let error = await #expect(throws: ActorCallError.self) { try await remote.describe(3.5) }
        #expect(error?.code == .refused)
        await pair.end()
    }

    /// Returns the answer to ann when she merges 3, four and five with that many generic arguments.
    private static func merge(
        _ method: String, generics count: Int, arguments: Int
    ) async throws -> Envelope.Answer {
        let pair = try await Pair { try $0.register(Merger.self, generics: [Int.self, String.self]) }
        let merger = Merger(actorSystem: pair.bob)
        let generics = try [Int.self, String.self, String.self, Int.self].map(name).prefix(count)
        let encoder = BinaryEncoder()
        let values = try [encoder.encode(3), encoder.encode("four"), encoder.encode("five")]
        let call = call(
            merger.id.place, "$s\(try name(Merger.self))\(method)", generics: Array(generics),
            arguments: Array(values.prefix(arguments)))
        let answer = try await answer(to: call, from: pair.ann, at: pair.bob)
        await pair.end()
        return answer
    }

    private static let mergeTwo = "5merge_4withSSx_q_tYaKSeRzSERzSeR_SER_r0_lFTE"
    private static let mergeThree = "5merge_4with3andSSx_q_q0_tYaKSeRzSERzSeR_SER_SeR0_SER0_r1_lFTE"

    /// With too few, the memory after them was read as addresses of types.
    @Test(
        "a method with several generic parameters is executed with all its generic arguments, never with fewer",
        arguments: 0...4)
    func tooFewGenerics(_ count: Int) async throws {
        for (method, needed, result) in [(Self.mergeTwo, 2, "3four"), (Self.mergeThree, 3, "3fourfive")] {
            switch try await Self.merge(method, generics: count, arguments: needed) {
            case .value(.binary, let bytes) where count >= needed:
                #expect(try BinaryDecoder().decode(String.self, from: bytes) == result)
            case .failure(.coding, _, _) where count < needed: break
            case let answer: Issue.record("\(answer)")
            }
        }
    }

    @Test("a generic actor is called with its own generic arguments, and with no others")
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

    @Test("a generic method is refused when the runtime would confuse its types with the actor's")
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

    @Test("such a method is also refused without its own generic arguments")
    func confusionWithout() async throws {
        let pair = try await Pair { system in
            try system.register(Box<Int>.self, generics: [String.self], arguments: [Int.self])
            try system.register(Counter.self, as: [$Greeter.self], generics: [String.self])
        }
        let (box, counter) = (Box(3, actorSystem: pair.bob), Counter(actorSystem: pair.bob))
        let (stub, four) = (try Self.name($Greeter.self), try BinaryEncoder().encode("four"))
        let calls = try [
            Self.call(
                box.id.place, "$s11ActorsTests3BoxC3put_2asSSx_qd__tYaKSeRd__SERd__lFTE",
                generics: [Self.name(Int.self)], arguments: [BinaryEncoder().encode(4), four]),
            Self.call(
                counter.id.place, "$s\(stub)4echoySSqd__YaKSeRd__SERd__lFTE", generics: [stub],
                arguments: [four]),
        ]
        for call in calls {
            let answer = try await Self.answer(to: call, from: pair.ann, at: pair.bob)
            guard case .failure(.refused, _, let text) = answer, text.contains("generic method") else {
                Issue.record("\(answer)")
                continue
            }
        }
        await pair.end()
    }

    @Test("when methods are listed, only these can be called")
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

    @Test("an actor cannot be called through a protocol that was not registered for its type")
    func unregisteredProtocol() async throws {
        let pair = try await Pair { try $0.register(Counter.self) }
        let local = Counter(actorSystem: pair.bob)
        let remote = try $Greeter.resolve(id: local.id, using: pair.ann)
        let error = await #expect(throws: ActorCallError.self) { try await remote.greet("ann") }
        #expect(error?.code == .refused)
        await pair.end()
    }
}
