import Multipeer
import MultipeerSimulation
import TestSupport
import Testing

@Suite("The main actor on a simulated network", .computing)
struct MainActorTests {
    /// A model as an application has it: it belongs to the main actor, with what it needs of the library.
    @MainActor private final class Model {
        private(set) var lines: [String] = []
        let session: Session
        let requests: AsyncStream<Int>.Continuation
        let stream: AsyncStream<Int>

        init(_ host: SimulatedNetwork.Host) throws(MultipeerError) {
            session = try Session(peer: host.peer, configuration: host.session())
            (stream, requests) = AsyncStream.makeStream()
        }

        func note(_ line: String) { lines.append(line) }
    }

    @Test(
        "what a call on the main actor sets in motion runs on the network, after the call, at the same moment"
    )
    func order() async throws {
        let network = SimulatedNetwork(seed: 1)
        let lines = try await network.run { network in
            let host = try network.host("ann")
            let model = try await network.onMainActor { () throws(MultipeerError) in try Model(host) }
            let stream = await network.onMainActor { model.stream }
            let reader = network.task {
                for await number in stream {
                    await network.onMainActor { model.note("\(number) at \(network.elapsed)") }
                }
            }
            try await network.clock.sleep(for: .seconds(7))
            await network.onMainActor {
                for number in 0..<3 { model.requests.yield(number) }
                model.requests.finish()
                model.note("asked")
            }
            try await reader.value
            return await network.onMainActor { model.lines }
        }
        #expect(lines == ["asked"] + (0..<3).map { "\($0) at \(Duration.seconds(7))" })
    }

    @Test("calls of many tasks, while other tests use the main actor, happen in the same order each time")
    func repeated() async throws {
        let busy = Task { @MainActor in
            while !Task.isCancelled { await Task.yield() }
        }
        let first = try await numbers()
        let second = try await numbers()
        busy.cancel()
        #expect(first == second && first.count == 200)
    }

    private func numbers() async throws -> [Int] {
        let network = SimulatedNetwork(seed: 3)
        return try await network.run { network in
            let host = try network.host("ann")
            let model = try await network.onMainActor { () throws(MultipeerError) in try Model(host) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<20 {
                    group.addTask {
                        var randomness = network.randomness
                        for step in 0..<10 {
                            let pause = Int.random(in: 1...50, using: &randomness)
                            try await network.clock.sleep(for: .milliseconds(pause))
                            await network.onMainActor { model.note("\(100 * task + step)") }
                        }
                    }
                }
                try await group.waitForAll()
            }
            return await network.onMainActor { model.lines.compactMap { Int($0) } }
        }
    }

    @Test("an error of a call on the main actor is thrown to the run")
    func throwing() async throws {
        let network = SimulatedNetwork(seed: 1)
        await #expect {
            try await network.run { network in
                try await network.onMainActor { () throws(MultipeerError) in
                    _ = try PeerID(displayName: "")
                }
            }
        } throws: {
            ($0 as? MultipeerError)?.code == .invalidArgument
        }
    }

    @Test("outside of a run it is an ordinary call on the main actor")
    func outside() async {
        let isMain = await SimulatedNetwork(seed: 1).onMainActor { () -> Bool in
            MainActor.preconditionIsolated()
            return true
        }
        #expect(isMain)
    }

    @Test("a task that hops to the main actor by itself makes the run fail")
    func hopping() async throws {
        await #expect(throws: SimulatedNetwork.Failure.self) {
            try await SimulatedNetwork(seed: 1).run { _ in await MainActor.run {} }
        }
    }
}
