import Multipeer
import MultipeerSimulation
import TestSupport
import Testing

@Suite("A run on a simulated network", .computing)
struct RunTests {
    @Test("a sleep takes virtual time, and sleeps until the same moment end in the order of their beginning")
    func sleeping() async throws {
        let network = SimulatedNetwork(seed: 1)
        let order = try await network.run { network in
            await withTaskGroup(of: Int.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        try? await network.clock.sleep(for: .seconds(number < 2 ? 3_000 : 2_000))
                        return number
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(order == [2, 3, 0, 1])
        #expect(network.elapsed == .seconds(3_000))
    }

    @Test("a sleep that is cancelled ends at once")
    func cancelledSleep() async throws {
        let network = SimulatedNetwork(seed: 1)
        try await network.run { network in
            let sleeper = network.task { try await network.clock.sleep(for: .seconds(100)) }
            try await network.clock.sleep(for: .seconds(1))
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
        #expect(network.elapsed == .seconds(1))
    }

    @Test(
        "tasks of the network are cancelled and waited for when the body has returned, as are those of a machine"
    )
    func tasks() async throws {
        let network = SimulatedNetwork(seed: 1)
        try await network.run { network in
            let host = try network.host("ann")
            @Sendable func rest(_ place: String) async {
                try? await network.clock.sleep(for: .seconds(1_000))
                network.note("\(place) \(Task.isCancelled)")
            }
            host.task { await rest("here") }
            network.task { await rest("there") }
            try await network.clock.sleep(for: .seconds(1))
            network.kill(host)
            try await network.clock.sleep(for: .seconds(1))
        }
        #expect(network.history == ["1.000000 ann dies", "1.000000 here true", "2.000000 there true"])
    }

    @Test("errors of the body are rethrown, and its value is returned")
    func outcome() async throws {
        struct Trouble: Error {}
        await #expect(throws: Trouble.self) {
            try await SimulatedNetwork(seed: 1).run { _ in throw Trouble() }
        }
        #expect(try await SimulatedNetwork(seed: 1).run { _ in 7 } == 7)
    }

    @Test("ids and random numbers follow from the seed alone")
    func chance() async throws {
        func draw(_ seed: UInt64) async throws -> [UInt64] {
            try await SimulatedNetwork(seed: seed).run { network in
                var randomness = network.randomness
                let peer = try PeerID(displayName: "bob")
                return [try network.host("ann").peer.uid, peer.uid].map(\.high) + [randomness.next()]
            }
        }
        let (one, again, other) = (try await draw(1), try await draw(1), try await draw(2))
        #expect(one == again)
        #expect(Set(one + other).count == 6)
    }
}

@Suite("A run that fails", .computing)
struct FailureTests {
    @Test("when nothing can run and nothing is scheduled, the run stops and lists what waits")
    func stuck() async throws {
        let failure = await failure { network in
            network.task(file: "Room", line: 1) { await forever() }
            await forever()
        }
        #expect(failure?.reason == .stuck)
        #expect(failure?.waiting == ["the body of the run", "Room:1"])
        #expect(
            "\(try #require(failure))".contains("seed 1, after 0.0 seconds of virtual time: nothing can run"))
    }

    @Test("a wakeup by another thread is detected, even when it would do no harm")
    func woken() async throws {
        let failure = await failure(within: .init(duration: .seconds(100_000_000))) { network in
            let ticking = network.task {
                while !Task.isCancelled { try await network.clock.sleep(for: .seconds(1)) }
            }
            // A task of another executor, which the body waits for, and which goes on when the body does.
            await Task.detached {
                while network.elapsed == .zero { await Task.yield() }
            }.value
            ticking.cancel()
        }
        expectWokenFromOutside(failure)
    }

    @Test("a task outside the network that uses its objects is detected")
    func strange() async throws {
        let failure = await failure(within: .init(duration: .seconds(100_000_000))) { network in
            let host = try network.host("ann")
            let session = try Session(peer: host.peer, configuration: host.session())
            let strange = Task {
                while network.elapsed == .zero { await Task.yield() }
                return await session.connectedPeers
            }
            while !Task.isCancelled { try await network.clock.sleep(for: .seconds(1)) }
            strange.cancel()
        }
        expectWokenFromOutside(failure)
    }

    private func expectWokenFromOutside(_ failure: SimulatedNetwork.Failure?) {
        guard case .wokenFromOutside = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("an endless run is stopped at the limit of virtual time")
    func endless() async throws {
        let failure = await failure(within: .init(duration: .seconds(60))) { network in
            while true { try await network.clock.sleep(for: .seconds(1)) }
        }
        #expect(failure?.reason == .outOfTime)
        #expect(failure?.elapsed == .seconds(60))
    }

    @Test("a run without progress in time is stopped at the limit of steps")
    func busy() async throws {
        let failure = await failure(within: .init(steps: 1_000)) { _ in
            while !Task.isCancelled { await Task.yield() }
        }
        #expect(failure?.reason == .outOfSteps)
    }

    @Test("a body that ignores its cancellation is abandoned")
    func heedless() async throws {
        let failure = await failure(within: .init(steps: 1_000)) { _ in while true { await Task.yield() } }
        #expect(failure?.reason == .outOfSteps)
    }

    @Test("cancelling the task that waits for a run stops it, and a network runs only once")
    func cancelled() async throws {
        let network = SimulatedNetwork(seed: 1)
        let running = Task {
            try await network.run(within: .init(duration: .seconds(100_000_000))) { network in
                while true { try await network.clock.sleep(for: .seconds(1)) }
            }
        }
        running.cancel()
        let failure = await #expect(throws: SimulatedNetwork.Failure.self) { try await running.value }
        #expect(failure?.reason == .cancelled)
        let second = await #expect(throws: SimulatedNetwork.Failure.self) { try await network.run { _ in } }
        #expect(second?.reason == .ranBefore)
    }

    private func failure(
        within limits: SimulatedNetwork.Limits = .init(),
        _ body: @escaping @Sendable (SimulatedNetwork) async throws -> Void
    ) async -> SimulatedNetwork.Failure? {
        await #expect(throws: SimulatedNetwork.Failure.self) {
            try await SimulatedNetwork(seed: 1).run(within: limits, body)
        }
    }
}

/// Until the task is cancelled.
private func forever() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
}
