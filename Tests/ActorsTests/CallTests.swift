import Distributed
import Multipeer
import MultipeerActors
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@Suite("Calls between two sessions", .inTurns)
struct CallTests {
    static func pair(
        _ change: (inout PeerActorSystem.Configuration) -> Void = { _ in }
    ) async throws -> Pair {
        var configuration = PeerActorSystem.Configuration()
        change(&configuration)
        return try await Pair(ann: configuration, bob: configuration) { system in
            try system.register(Counter.self, as: [$Greeter.self], generics: [Int.self, [String].self])
            try system.register(Sleeper.self)
            try system.register(error: Mishap.self)
        }
    }

    /// An actor of bob's, and what ann calls it by.
    private static func counter(_ pair: Pair) throws -> (Counter, Counter) {
        let local = Counter(actorSystem: pair.bob)
        return (local, try Counter.resolve(id: local.id, using: pair.ann))
    }

    @Test(
        "arguments and results of every kind arrive as they were sent",
        arguments: [PeerActorSystem.Format.binary, .json])
    func values(_ format: PeerActorSystem.Format) async throws {
        let pair = try await Self.pair { $0.format = format }
        let (local, remote) = try Self.counter(pair)
        #expect(try await remote.add(3) == 3)
        #expect(try await remote.add(-5) == -2)
        #expect(try await remote.current == -2)
        try await remote.reset()
        #expect(try await remote.current == 0)
        let tile = Tile(name: "ä", pixels: [0, 255, 3], marks: ["x": 0.1, "y": -1e300])
        #expect(try await remote.mirror(tile) == tile)
        #expect(try await remote.describe(7) == "7")
        #expect(try await remote.describe(["a", "b"]) == "[\"a\", \"b\"]")
        #expect(try await remote.caller() == "ann")
        #expect(try await local.caller() == "nobody")
        await pair.end()
    }

    @Test("an actor passed as an argument can be called by the peer, in both directions and nested")
    func reentrant() async throws {
        let pair = try await Self.pair()
        let (local, remote) = try Self.counter(pair)
        let own = Counter(actorSystem: pair.ann)
        #expect(try await remote.descend(21, with: own) == 21)
        _ = local
        await pair.end()
    }

    @Test("as many calls as the limit allows, each with nested ones, all end with their results")
    func nested() async throws {
        let pair = try await Self.pair { configuration in
            (configuration.limits.calls, configuration.limits.nestedCalls) = (2, 1)
            // Waiting for each other, they would not end by themselves.
            configuration.timeout = nil
        }
        let (local, remote) = try Self.counter(pair)
        let own = Counter(actorSystem: pair.ann)
        try await within {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<12 { group.addTask { try await remote.descend(5, with: own) } }
                for try await depth in group { #expect(depth == 5) }
            }
        }
        #expect(pair.ann.underway.own == 0)
        _ = local
        await pair.end()
    }

    @Test("registered errors arrive with their type, others as a description")
    func errors() async throws {
        let pair = try await Self.pair()
        let (local, remote) = try Self.counter(pair)
        await #expect(throws: Mishap(depth: 4)) { try await remote.fail(4) }
        let strange = await #expect(throws: RemoteError.self) { try await remote.failStrangely() }
        #expect(strange?.description == "the drawer is stuck")
        #expect(strange?.type.hasSuffix("Secret") == true)
        #expect(strange?.peer == pair.bob.peer)
        let cancelled = await #expect(throws: ActorCallError.self) { try await remote.failByCancelling() }
        #expect(cancelled?.code == .cancelled)
        _ = local
        await pair.end()
    }

    @Test("an error that is registered only at the called peer arrives as its type's name")
    func unknownError() async throws {
        let pair = try await Pair { try $0.register(Counter.self) }
        try pair.bob.register(error: Mishap.self, named: "mishap")
        let (local, remote) = try Self.counter(pair)
        let error = await #expect(throws: RemoteError.self) { try await remote.fail(1) }
        #expect(error?.type == "mishap")
        _ = local
        await pair.end()
    }

    @Test("a call that times out fails, and its method is cancelled")
    func timeout() async throws {
        let pair = try await Self.pair()
        let watch = try await Self.soon { timeLimit in
            let watch = Watch()
            let local = Sleeper(watch, actorSystem: pair.bob)
            let remote = try Sleeper.resolve(id: local.id, using: pair.ann)
            let error = await #expect(throws: ActorCallError.self) {
                try await PeerActorSystem.withTimeout(timeLimit) { try await remote.sleep() }
            }
            #expect(error?.code == .timedOut)
            return [watch]
        }
        try await within(.seconds(30)) { await watch[0].cancelled.value() }
        await pair.end()
    }

    @Test("a call's timeout also applies to the calls that are made for it")
    func inheritedTimeout() async throws {
        let pair = try await Self.pair { $0.timeout = nil }
        let watches = try await Self.soon { timeLimit in
            let watches = [Watch(), Watch()]
            let own = Sleeper(watches[0], actorSystem: pair.ann)
            let other = Sleeper(watches[1], actorSystem: pair.bob)
            let remote = try Sleeper.resolve(id: other.id, using: pair.ann)
            await #expect(throws: ActorCallError.self) {
                try await PeerActorSystem.withTimeout(timeLimit) { try await remote.relay(to: own) }
            }
            return [watches[0]]
        }
        try await within(.seconds(30)) { await watches[0].cancelled.value() }
        await pair.end()
    }

    @Test("a nested call has its own timeout, even when the outer call has more time")
    func ownTimeout() async throws {
        let watches = try await Self.soon { timeLimit in
            var brief = PeerActorSystem.Configuration()
            brief.timeout = timeLimit
            let pair = try await Pair(bob: brief) { try $0.register(Sleeper.self) }
            let watch = Watch()
            let own = Sleeper(watch, actorSystem: pair.ann)
            let other = Sleeper(Watch(), actorSystem: pair.bob)
            let remote = try Sleeper.resolve(id: other.id, using: pair.ann)
            let error = await #expect(throws: RemoteError.self) {
                try await PeerActorSystem.withTimeout(.seconds(600)) { try await remote.relay(to: own) }
            }
            #expect(error?.description.contains("timed out") == true)
            await pair.end()
            return [watch]
        }
        try await within(.seconds(30)) { await watches[0].cancelled.value() }
    }

    /// Repeats the body with a longer timeout: a call that times out may not have begun.
    private static func soon(_ body: (Duration) async throws -> [Watch]) async throws -> [Watch] {
        for timeLimit in [Duration.milliseconds(100), .seconds(1), .seconds(10)] {
            let watches = try await body(timeLimit)
            if watches.allSatisfy(\.began.isSent) { return watches }
        }
        throw Overdue()
    }

    @Test("cancelling the caller ends its wait at once, and cancels the method at the peer")
    func cancellation() async throws {
        let pair = try await Self.pair()
        let watch = Watch()
        let local = Sleeper(watch, actorSystem: pair.bob)
        let remote = try Sleeper.resolve(id: local.id, using: pair.ann)
        let call = Task { try await remote.sleep() }
        try await within(.seconds(30)) { await watch.began.value() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await within(.seconds(30)) { await watch.cancelled.value() }
        await pair.end()
    }

    @Test("when the link ends, its calls fail with the reason, and the methods they started are cancelled")
    func loss() async throws {
        let pair = try await Self.pair()
        let (annsWatch, bobsWatch) = (Watch(), Watch())
        let own = Sleeper(annsWatch, actorSystem: pair.ann)
        let other = Sleeper(bobsWatch, actorSystem: pair.bob)
        let forward = try Sleeper.resolve(id: other.id, using: pair.ann)
        let back = try Sleeper.resolve(id: own.id, using: pair.bob)
        let calls = [Task { try await forward.sleep() }, Task { try await back.sleep() }]
        try await within(.seconds(30)) {
            await bobsWatch.began.value()
            await annsWatch.began.value()
        }
        await pair.bob.session.disconnect(within: .zero)
        let errors = await calls.asyncErrors()
        #expect(errors.map { ($0 as? ActorCallError)?.code } == [.ended, .ended])
        #expect((errors.first as? ActorCallError)?.reason?.code == .goodbye)
        #expect((errors.last as? ActorCallError)?.reason?.code == .left)
        try await within(.seconds(30)) {
            await annsWatch.cancelled.value()
            await bobsWatch.cancelled.value()
        }
        let late = await #expect(throws: ActorCallError.self) { try await forward.pass() }
        #expect(late?.code == .notConnected)
        await pair.end()
    }

    @Test("an actor that was released is no longer found")
    func gone() async throws {
        let pair = try await Self.pair()
        var local: Counter? = Counter(actorSystem: pair.bob)
        weak let last = local
        let id = try #require(local?.id)
        let remote = try Counter.resolve(id: id, using: pair.ann)
        #expect(try await remote.add(1) == 1)
        local = nil
        // The task that has just answered may hold on to it for a moment.
        try await ending { last == nil }
        let error = await #expect(throws: ActorCallError.self) { try await remote.add(1) }
        #expect(error?.code == .noSuchActor)
        #expect(throws: ActorCallError.self) { try Counter.resolve(id: id, using: pair.bob) }
        await pair.end()
    }

    @Test("an actor is found by its name, which no other actor can take meanwhile")
    func names() async throws {
        let pair = try await Self.pair()
        let local = try pair.bob.named("till") { Counter(actorSystem: pair.bob) }
        let remote = try Counter.resolve(id: ActorID("till", at: pair.bob.peer), using: pair.ann)
        #expect(try await remote.add(2) == 2)
        #expect(throws: ActorCallError.self) { try pair.bob.named("till") { Counter(actorSystem: pair.bob) } }
        #expect(local.id.description == "till@bob")
        await pair.end()
    }

    @Test("arguments and results that are too long are refused with an error")
    func sizes() async throws {
        let pair = try await Self.pair { $0.limits.envelope = 4_096 }
        let (local, remote) = try Self.counter(pair)
        #expect(try await remote.repeated(3_000).count == 3_000)
        let result = await #expect(throws: ActorCallError.self) { try await remote.repeated(5_000) }
        #expect(result?.code == .tooLarge)
        let tile = Tile(name: "", pixels: [UInt8](repeating: 0, count: 5_000))
        let argument = await #expect(throws: ActorCallError.self) { try await remote.mirror(tile) }
        #expect(argument?.code == .tooLarge)
        _ = local
        await pair.end()
    }

    @Test("an error description longer than the caller accepts is truncated")
    func longDescription() async throws {
        let pair = try await Self.pair { $0.limits.envelope = 1_024 }
        let (local, remote) = try Self.counter(pair)
        let error = await #expect(throws: RemoteError.self) { try await remote.failAtLength() }
        #expect(error?.description.hasPrefix("ääää") == true)
        #expect((900...1_000).contains(error?.description.utf8.count ?? 0))
        _ = local
        await pair.end()
    }

    @Test("a result longer than a message of the caller's session is refused with an error")
    func sessionLimit() async throws {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        configuration.maximumMessageSize = 65_536
        let ann = try await PeerActorSystem(
            Session(peer: PeerID(displayName: "ann"), configuration: configuration))
        let bob = try await PeerActorSystem.alone("bob")
        try bob.register(Counter.self)
        try await ann.link(to: bob)
        let local = Counter(actorSystem: bob)
        let remote = try Counter.resolve(id: local.id, using: ann)
        #expect(try await remote.repeated(60_000).count == 60_000)
        let error = await #expect(throws: ActorCallError.self) { try await remote.repeated(100_000) }
        #expect(error?.code == .tooLarge)
        await ann.session.disconnect()
        await bob.session.disconnect()
    }

    @Test("a peer's call does not inherit task-local values of this side's application")
    func taskLocals() async throws {
        let pair = try await Self.pair()
        let (local, remote) = try Self.counter(pair)
        let busy = Task(priority: .background) {
            try await Counter.$mark.withValue("private") {
                while !Task.isCancelled {
                    try pair.bob.receptionist.checkIn(local, as: "tills")
                    try pair.bob.receptionist.checkOut(local, as: "tills")
                    await Task.yield()
                }
            }
        }
        for _ in 0..<Sanitizer.fewer(500) { #expect(try await remote.marked() == "none") }
        busy.cancel()
        _ = await busy.result
        await pair.end()
    }

    @Test("cancellation handlers of a peer's method do not run on the session's thread")
    func cancellationHandler() async throws {
        let pair = try await Self.pair()
        let watch = Watch()
        let local = Sleeper(watch, actorSystem: pair.bob)
        let remote = try Sleeper.resolve(id: local.id, using: pair.ann)
        let call = Task { try await remote.handleCancellation() }
        try await within(.seconds(30)) { await watch.began.value() }
        call.cancel()
        let thread = try await within(.seconds(30)) { await watch.thread.value() }
        #expect(!thread.hasPrefix("multipeer"), "\(thread)")
        _ = await call.result
        await pair.end()
    }

    @Test("an actor that was checked in before a call is found by the called method")
    func checkedInBefore() async throws {
        let pair = try await Self.pair()
        let (local, remote) = try Self.counter(pair)
        for round in 0..<Sanitizer.fewer(100) {
            let own = Counter(actorSystem: pair.ann)
            try pair.ann.receptionist.checkIn(own, as: "round \(round)")
            #expect(try await remote.found(as: "round \(round)") == 1)
        }
        _ = local
        await pair.end()
    }

    @Test("at most as many calls run at once as the called peer allows, and the others wait")
    func window() async throws {
        let pair = try await Self.pair { $0.limits.calls = 3 }
        let watch = Watch()
        let local = Sleeper(watch, actorSystem: pair.bob)
        let remote = try Sleeper.resolve(id: local.id, using: pair.ann)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await remote.pass() } }
            var sum = 0
            for try await one in group { sum += one }
            return sum
        }
        #expect(sum == 100)
        // One whose answer is read already may not have left yet.
        #expect(watch.most.withLock { $0 } <= 6)
        await pair.end()
    }

    @Test("the application receives its own messages, and nothing of calls")
    func coexistence() async throws {
        let pair = try await Self.pair()
        let (local, remote) = try Self.counter(pair)
        #expect(try await remote.add(1) == 1)
        try await pair.ann.session.send([0, 1, 2], to: pair.bob.peer)
        let first = try await within(.seconds(30)) {
            for await event in pair.bob.session.events {
                if case .message(let message) = event { return message.bytes }
            }
            return []
        }
        #expect(first == [0, 1, 2])
        _ = local
        await pair.end()
    }

    @Test(
        "the application cannot send a message that its peer's system would take: every way of sending throws"
    )
    func reserved() async throws {
        let pair = try await Self.pair()
        let (session, bob) = (pair.ann.session, pair.bob.peer)
        for message: [UInt8] in [[0, 0x41, 0x43, 0x54], [0, 0x41, 0x43, 0x54, 1, 2]] {
            await Self.refuses { () throws(MultipeerError) in try await session.send(message, to: bob) }
            await Self.refuses { () throws(MultipeerError) in
                try await session.send(contentsOf: [[5], message], to: bob)
            }
            await Self.refuses { () throws(MultipeerError) in try await session.send(message, to: [bob]) }
            await Self.refuses { () throws(MultipeerError) in _ = try await session.sendToAll(message) }
            await Self.refuses { () throws(MultipeerError) in
                try await session.send(message, to: bob, delivery: .unreliable)
            }
            await Self.refuses { () throws(MultipeerError) in
                try session.post(message, to: bob, delivery: .reliable)
            }
            await Self.refuses { () throws(MultipeerError) in
                try session.post(message, to: [bob, bob], delivery: .unreliable)
            }
        }
        // Nothing of all that has arrived, and what is nearly the mark does.
        try await session.send([0, 0x41, 0x43], to: bob)
        try await session.send([0, 0x41, 0x43, 0x55], to: bob)
        let received = try await within(.seconds(30)) {
            var received: [[UInt8]] = []
            for await event in pair.bob.session.events {
                if case .message(let message) = event { received.append(message.bytes) }
                if received.count == 2 { break }
            }
            return received
        }
        #expect(received == [[0, 0x41, 0x43], [0, 0x41, 0x43, 0x55]])
        await pair.end()
    }

    private static func refuses(_ send: () async throws(MultipeerError) -> Void) async {
        do throws(MultipeerError) {
            try await send()
            Issue.record("it was accepted")
        } catch {
            #expect(error.code == .invalidArgument)
            #expect("\(error)".contains("actor system"))
        }
    }

    @Test("calls through a protocol reach the actors registered for it, here and at a peer")
    func resolvable() async throws {
        let pair = try await Self.pair()
        let (local, _) = try Self.counter(pair)
        let remote = try $Greeter.resolve(id: local.id, using: pair.ann)
        #expect(try await remote.greet("ann") == "hello ann, 0")
        let near = try $Greeter.resolve(id: local.id, using: pair.bob)
        #expect(try await near.greet("bob") == "hello bob, 0")
        await pair.end()
    }

    @Test("a protocol and its module can have a word in common")
    func resolvableNames() async throws {
        let pair = try await Pair { try $0.register(Innkeeper.self, as: [$ActorsHost.self]) }
        let local = Innkeeper(actorSystem: pair.bob)
        let remote = try $ActorsHost.resolve(id: local.id, using: pair.ann)
        #expect(try await remote.welcome("ann") == "come in, ann")
        await pair.end()
    }

    @Test("when systems follow each other quickly on one session, the last one is called")
    func followers() async throws {
        let session = try Session.onLoopback("bob")
        let ann = try await PeerActorSystem.alone("ann")
        try await ann.session.link(to: session)
        var changes = ann.receptionist.checkIns(of: Counter.self, as: "tills").makeAsyncIterator()
        for round in 0..<20 {
            let system = try await Self.follower(on: session)
            try system.register(Counter.self)
            let local = Counter(actorSystem: system)
            _ = try await local.add(round)
            try system.receptionist.checkIn(local, as: "tills")
            // An actor that was reported a moment ago may be gone.
            while let remote = await changes.next(), remote.id != local.id {}
            #expect(try await Counter.resolve(id: local.id, using: ann).current == round)
        }
        await ann.session.disconnect()
        await session.disconnect()
    }

    /// Returns a new system; the previous one is released by a task of its own, which may not have run yet.
    private static func follower(on session: Session) async throws -> PeerActorSystem {
        try await within {
            while true {
                do throws(ActorCallError) { return try await PeerActorSystem(session) } catch {
                    guard error.code == .invalidArgument else { throw error }
                    await Task.yield()
                }
            }
        }
    }

    @Test("a session has one system at a time, and the actors of the previous one are gone")
    func replaced() async throws {
        let session = try Session.onLoopback("bob")
        let ann = try await PeerActorSystem.alone("ann")
        var system: PeerActorSystem? = try await PeerActorSystem(session)
        let old = try #require(system.map { Counter(actorSystem: $0).id })
        await #expect(throws: ActorCallError.self) { try await PeerActorSystem(session) }
        try await ann.session.link(to: session)
        system = nil
        let next = try await PeerActorSystem(session)
        try next.register(Counter.self)
        let local = Counter(actorSystem: next)
        #expect(local.id != old)
        // A peer that is found has sent hello before.
        try next.receptionist.checkIn(local, as: "tills")
        for await remote in ann.receptionist.checkIns(of: Counter.self, as: "tills") {
            #expect(try await remote.add(1) == 1)
            break
        }
        let error = await #expect(throws: ActorCallError.self) {
            try await Counter.resolve(id: old, using: ann).add(1)
        }
        #expect(error?.code == .noSuchActor)
        await ann.session.disconnect()
        await session.disconnect()
    }
}

extension [Task<Int, any Error>] {
    /// Why each of them failed.
    fileprivate func asyncErrors() async -> [(any Error)?] {
        var errors: [(any Error)?] = []
        for task in self {
            switch await task.result {
            case .success: errors.append(nil)
            case .failure(let error): errors.append(error)
            }
        }
        return errors
    }
}
