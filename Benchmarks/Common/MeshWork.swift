import Multipeer

/// Processes that join one mesh: when each is linked with all others, and what they cost while nothing happens.
///
/// The client is the one that the others connect with; the mesh introduces them to each other. In `idle` there are two.
package struct MeshWork: Sendable {
    private let assignment: Assignment

    /// The number of peers that each process has in the whole mesh.
    private var expected: Int { assignment.mode == .idle ? 1 : 7 }

    package init(_ assignment: Assignment) { self.assignment = assignment }

    package func run() async throws -> Report {
        let session = try Session(peer: try Party.peer(assignment.side), configuration: Party.configuration)
        let mine = try await session.connectionData(mesh: true)
        let before = Resources.cpuSeconds
        var report = Report()
        switch assignment.side {
        case .client:
            Introduction.print(mine)
            let others = try (0..<assignment.others).map { _ in try Introduction.read() }
            report.further["began"] = Resources.moment
            report.further["whole"] = try await join(session, others)
            report.sent = assignment.others
            // All have said that they are linked with all; now they begin to be idle together.
            for peer in others.map(\.peer) { try await session.send([0x5A], to: peer) }
        case .server:
            let other = try Introduction.read()
            let waiting = Task { try await session.connect(with: other) }
            try await Task.sleep(for: .milliseconds(2))
            Introduction.print(mine)
            try await waiting.value
            report.further["whole"] = try await join(session, [])
            report.received = assignment.count
            try await session.send([0x5A], to: other.peer)
            try await message(session)
        }
        if assignment.mode != .mesh {
            report.further["idle_ms_per_minute"] = try await Resources.idle(for: assignment.size)
        }
        report.cpuSeconds = Resources.cpuSeconds - before
        try await Task.sleep(for: .milliseconds(200))  // until all have read their figures
        await session.disconnect()
        return report
    }

    /// Connects, and returns the moment at which all peers were connected. The client also waits for a message of each.
    private func join(_ session: Session, _ others: [ConnectionData]) async throws -> Double {
        let connecting = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for other in others { group.addTask { try await session.connect(with: other) } }
                try await group.waitForAll()
            }
        }
        var connected: Set<PeerID> = []
        var messages = assignment.side == .client ? 0 : expected
        var moment: Double?
        for await event in session.events {
            switch event {
            case .peer(let peer, .connected): connected.insert(peer)
            case .peer(let peer, .notConnected): connected.remove(peer)
            case .message: messages += 1
            default: break
            }
            guard connected.count == expected else { continue }
            moment = moment ?? Resources.moment
            if messages < expected { continue }
            try await connecting.value
            return moment ?? .nan
        }
        throw BenchFault.endedEarly
    }

    private func message(_ session: Session) async throws {
        for await event in session.events {
            if case .message = event { return }
        }
        throw BenchFault.endedEarly
    }
}
