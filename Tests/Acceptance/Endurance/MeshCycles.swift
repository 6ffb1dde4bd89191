import Multipeer
import MultipeerCore
import MultipeerFigures

/// The same eight sessions become a full mesh and leave it, many times over: no thread, descriptor or memory may leak.
struct MeshCycles {
    private static let members = 8
    private static let warmUp = 3
    private static let allowedGrowth = 8
    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() async throws {
        let sessions = try (1...MeshCycles.members).map {
            try Session(peer: PeerID(displayName: "\($0)"), configuration: Endurance.loopback)
        }
        // Events have to be taken.
        let ears = sessions.map { session in
            let events = session.events
            return Task {
                var states = 0
                // They end with each `disconnect`.
                while !Task.isCancelled {
                    for await event in events { if case .peer = event { states += 1 } }
                }
                return states
            }
        }
        for _ in 0..<MeshCycles.warmUp { _ = try await cycle(sessions) }
        let before = try Figures()
        var times: [Duration] = []
        for _ in 0..<count { times.append(try await cycle(sessions)) }
        let after = try Figures()
        for ear in ears { ear.cancel() }
        print("\(count) cycles, full after \(Distribution(times)); \(before) before, \(after) after")
        try Endurance.expect(after.threads <= before.threads + 2, "threads leaked")
        try Endurance.expect(after.descriptors <= before.descriptors, "descriptors leaked")
        try Endurance.expect(
            after.memory <= before.memory + MeshCycles.allowedGrowth, "memory leaked")
        // Connecting, connected and not connected, once each for every cycle and other peer.
        let expected = 3 * (count + MeshCycles.warmUp) * (MeshCycles.members - 1)
        for ear in ears {
            let states = await ear.value
            try Endurance.expect(states == expected, "\(states) states were reported, not \(expected)")
        }
    }

    /// Does one cycle. Returns how long it took until all sessions were linked with each other.
    private func cycle(_ sessions: [Session]) async throws -> Duration {
        var data: [ConnectionData] = []
        for session in sessions { data.append(try await session.connectionData(mesh: true)) }
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { [data] group in
            for index in sessions.indices.dropLast() {
                group.addTask { try await sessions[index].connect(with: data[index + 1]) }
                group.addTask { try await sessions[index + 1].connect(with: data[index]) }
            }
            try await group.waitForAll()
        }
        for session in sessions {
            while await session.connectedPeers.count < MeshCycles.members - 1 {
                try Endurance.expect(ContinuousClock.now - start < .seconds(30), "the mesh is not full")
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        let passed = ContinuousClock.now - start
        await withTaskGroup(of: Void.self) { group in
            for session in sessions { group.addTask { await session.disconnect() } }
        }
        return passed
    }
}
