import Multipeer
import MultipeerBenchCommon

/// One session that sends the same to seven others, each in a process of its own: the client's side. The servers drain.
struct FanOut: Sendable {
    let assignment: Assignment
    private let clock = SuspendingClock()

    init(_ assignment: Assignment) { self.assignment = assignment }

    func run() async throws -> Report {
        let session = try Session(peer: try Party.peer(.client), configuration: Party.configuration)
        Introduction.print(try await session.connectionData())
        let others = try (0..<assignment.others).map { _ in try Introduction.read() }
        for other in others { try await session.connect(with: other) }
        let before = Resources.cpuSeconds
        var report = try await flood(session, others.map(\.peer))
        report.cpuSeconds = Resources.cpuSeconds - before
        await session.disconnect()
        return report
    }

    private func flood(_ session: Session, _ peers: [PeerID]) async throws -> Report {
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for peer in peers { group.addTask { try await flood(session, peer) } }
            try await group.waitForAll()
        }
        var answers = 0
        for await event in session.events {
            guard case .message = event else { continue }
            answers += 1
            if answers == peers.count {
                return Report(sent: assignment.count * peers.count, seconds: clock.seconds(since: start))
            }
        }
        throw BenchFault.endedEarly
    }

    private func flood(_ session: Session, _ peer: PeerID) async throws {
        let message = [UInt8](repeating: 0x5A, count: assignment.size)
        let batch = [[UInt8]](repeating: message, count: 4)
        for _ in 0..<(assignment.count / batch.count) { try await session.send(contentsOf: batch, to: peer) }
        for _ in 0..<(assignment.count % batch.count) { try await session.send(message, to: peer) }
    }
}
