import Multipeer
import MultipeerBenchCommon

/// Bytes one way through one stream, or through eight at once: COUNT pieces of SIZE bytes in all.
struct StreamWork: Sendable {
    let assignment: Assignment
    private let clock = SuspendingClock()
    private var streams: Int { assignment.mode == .streams ? 8 : 1 }

    init(_ assignment: Assignment) { self.assignment = assignment }

    func run() async throws -> Report {
        let party = try await Party(assignment.side)
        try await party.link()
        let before = Resources.cpuSeconds
        var report = assignment.side == .client ? try await write(party) : try await read(party)
        report.cpuSeconds = Resources.cpuSeconds - before
        await party.session.disconnect()
        return report
    }

    private func write(_ party: Party) async throws -> Report {
        let start = clock.now
        let (each, rest) = assignment.count.quotientAndRemainder(dividingBy: streams)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<streams {
                group.addTask {
                    let piece = [UInt8](repeating: 0x5A, count: assignment.size)
                    let stream = try await party.session.openStream(to: party.other.peer, name: "\(number)")
                    for _ in 0..<(number < rest ? each + 1 : each) { try await stream.write(piece) }
                    try await stream.finish()
                }
            }
            try await group.waitForAll()
        }
        for await event in party.session.events {
            guard case .message = event else { continue }
            return Report(sent: assignment.count, seconds: clock.seconds(since: start))
        }
        throw BenchFault.endedEarly
    }

    /// Counts the bytes of all streams, and answers once when each has ended.
    private func read(_ party: Party) async throws -> Report {
        let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            var opened = 0
            for await event in party.session.events {
                guard case .stream(let stream) = event else { continue }
                group.addTask {
                    var count = 0
                    for try await piece in stream { count += piece.count }
                    return count
                }
                opened += 1
                if opened == streams { break }
            }
            return try await group.reduce(0, +)
        }
        guard bytes == assignment.size * assignment.count else { throw BenchFault.wrongLength(bytes) }
        try await party.session.send([0x5A], to: party.other.peer)
        for await event in party.session.events {
            if case .peer(_, .notConnected) = event { return Report(received: assignment.count) }
        }
        throw BenchFault.endedEarly
    }
}
