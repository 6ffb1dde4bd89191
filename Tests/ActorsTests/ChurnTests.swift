import Distributed
import Multipeer
import MultipeerActors
import MultipeerTransport
import TestSupport
import Testing

/// Squares numbers, late or never.
distributed actor Abacus {
    typealias ActorSystem = PeerActorSystem

    distributed func square(_ number: Int, after milliseconds: Int) async throws -> Int {
        try await Task.sleep(for: .milliseconds(milliseconds))
        if number % 7 == 0 { throw Mishap(depth: number) }
        return number * number
    }
}

/// One place that a peer leaves and takes again.
private struct Seat: Sendable {
    let system: PeerActorSystem
    let abacus: Abacus

    init(_ name: String) async throws {
        system = try await .alone(name)
        try system.register(Abacus.self)
        try system.register(error: Mishap.self)
        abacus = Abacus(actorSystem: system)
        try system.receptionist.checkIn(abacus, as: "abacuses")
    }
}

@Suite("Calls while peers come and go", .inTurns)
struct ChurnTests {
    @Test("every call ends exactly once, and nothing leaks")
    func churn() async throws {
        let caller = try await Seat("caller")
        var others = [try await Seat("one"), try await Seat("two"), try await Seat("three")]
        for other in others { try await caller.system.link(to: other.system) }
        let count = Sanitizer.fewer(2_000)
        let calls = Task { await Self.call(count, caller.system) }
        for round in 0..<6 {
            let index = round % others.count
            await others[index].system.session.disconnect(within: .zero)
            others[index] = try await Seat("another")
            try await caller.system.link(to: others[index].system)
        }
        let ended = try await within(.seconds(120)) { await calls.value }
        #expect(ended.results + ended.mishaps + ended.lost == count)
        #expect(ended.wrong.isEmpty)
        #expect(ended.results > 0 && ended.mishaps > 0)
        #expect(caller.system.underway.own == 0)
        for other in others { await other.system.session.disconnect() }
        await caller.system.session.disconnect()
    }

    private struct Ended: Sendable {
        var results = 0
        var mishaps = 0
        var lost = 0
        var wrong: [String] = []
    }

    private static func call(_ count: Int, _ system: PeerActorSystem) async -> Ended {
        await withTaskGroup(of: Ended.self) { group in
            for caller in 0..<16 {
                group.addTask {
                    var ended = Ended()
                    for number in stride(from: caller, to: count, by: 16) {
                        await call(number, system, &ended)
                    }
                    return ended
                }
            }
            var sum = Ended()
            for await part in group {
                sum.results += part.results
                sum.mishaps += part.mishaps
                sum.lost += part.lost
                sum.wrong += part.wrong
            }
            return sum
        }
    }

    private static func call(_ number: Int, _ system: PeerActorSystem, _ ended: inout Ended) async {
        let found = system.receptionist.find(Abacus.self, as: "abacuses").filter { $0.id.peer != system.peer }
        guard let other = found.randomElement() else {
            await Task.yield()
            return await call(number, system, &ended)
        }
        do {
            let square = try await other.square(number, after: number % 10)
            if square == number * number {
                ended.results += 1
            } else {
                ended.wrong.append("\(number): \(square)")
            }
        } catch let error as Mishap where error.depth == number {
            ended.mishaps += 1
        } catch let error as ActorCallError where [.ended, .notConnected, .noSuchActor].contains(error.code) {
            ended.lost += 1
        } catch {
            ended.wrong.append("\(number): \(error)")
        }
    }

    @Test("a call whose link has ended counts until its method ends, even when a new link is made")
    func leftover() async throws {
        let pair = try await CallTests.pair { $0.limits.calls = 1 }
        let watch = Watch()
        let local = Sleeper(watch, actorSystem: pair.bob)
        let remote = try Sleeper.resolve(id: local.id, using: pair.ann)
        for round in 1...2 {
            let call = Task { try await remote.insist() }
            try await ending { watch.gate.withLock { $0.count } == round }
            await pair.ann.session.disconnect(within: .zero)
            let error = await #expect(throws: ActorCallError.self) { try await call.value }
            #expect(error?.code == .ended)
            try await pair.ann.link(to: pair.bob)
            #expect(pair.bob.underway.others == round)
        }
        let error = await #expect(throws: ActorCallError.self) { try await remote.pass() }
        #expect(error?.code == .busy)
        watch.open()
        try await ending { pair.bob.underway.others == 0 }
        #expect(try await remote.pass() == 1)
        await pair.end()
    }

    @Test("a system that was used is released with its session, and so are its actors")
    func leaks() async throws {
        weak var ann: PeerActorSystem?
        weak var counter: Counter?
        do {
            let pair = try await CallTests.pair()
            let local = Counter(actorSystem: pair.bob)
            let remote = try Counter.resolve(id: local.id, using: pair.ann)
            try pair.bob.receptionist.checkIn(local, as: "tills")
            _ = try await remote.add(1)
            (ann, counter) = (pair.ann, local)
            await pair.end()
        }
        // Tasks that have just ended may hold on to them for a moment.
        let end = ContinuousClock.now + .seconds(30)
        while ann != nil || counter != nil, .now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(ann == nil && counter == nil)
    }
}
