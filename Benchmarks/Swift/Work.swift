import Multipeer
import MultipeerBenchCommon

/// The measurements between two sessions with messages, on both sides.
struct Work: Sendable {
    let assignment: Assignment
    private var size: Int { assignment.size }
    private var count: Int { assignment.count }
    private let clock = SuspendingClock()

    init(_ assignment: Assignment) { self.assignment = assignment }

    func run() async throws -> Report {
        switch assignment.mode {
        case .connect: return try await connect()
        case .fanout where assignment.side == .client: return try await FanOut(assignment).run()
        case .datagrams: return try await DatagramWork(assignment).run()
        case .calls, .callsapart, .callsatonce: return try await CallWork(assignment).run()
        case .file, .undigested, .files, .laden: return try await FileWork(assignment).run()
        case .stream, .streams: return try await StreamWork(assignment).run()
        case .facademessages, .facadepingpong, .facadestream, .facaderesource:
            return try await FacadeWork.run(assignment)
        case .mesh, .idle, .meshidle: return try await MeshWork(assignment).run()
        case .memory, .session, .nothing: return try await SessionWork(assignment).run()
        default: break
        }
        let party = try await Party(assignment.side)
        try await party.link()
        let before = Resources.cpuSeconds
        var report =
            switch (assignment.side, assignment.mode) {
            case (.client, .pingapart): try await ping(party)
            case (.server, .pingapart): try await echo(party)
            case (.client, .pingpong): try await Work.onTheLoop(party) { try await ping(party) }
            case (.server, .pingpong): try await Work.onTheLoop(party) { try await echo(party) }
            case (.client, _): try await flood(party)
            case (.server, _): try await drain(party)
            }
        report.cpuSeconds = Resources.cpuSeconds - before
        await party.session.disconnect()
        return report
    }

    // MARK: One way

    private func flood(_ party: Party) async throws -> Report {
        let message = [UInt8](repeating: 0x5A, count: size)
        let start = clock.now
        if assignment.mode == .pipelined {
            let batch = [[UInt8]](repeating: message, count: max(1, min(count, 256 * 1024 / size)))
            for _ in 0..<(count / batch.count) {
                try await party.session.send(contentsOf: batch, to: party.other.peer)
            }
            let rest = [[UInt8]](batch.prefix(count % batch.count))
            if !rest.isEmpty { try await party.session.send(contentsOf: rest, to: party.other.peer) }
        } else {
            for _ in 0..<count { try await party.session.send(message, to: party.other.peer) }
        }
        for await event in party.session.events {
            guard case .message = event else { continue }
            return Report(sent: count, seconds: seconds(since: start))
        }
        throw BenchFault.endedEarly
    }

    /// Counts the received messages, answers once when all have arrived, and waits for the client to leave.
    private func drain(_ party: Party) async throws -> Report {
        var report = Report()
        var sum: UInt8 = 0  // so that every message is read
        for await batch in party.session.events.batches {
            for event in batch {
                if case .message(let message) = event {
                    guard message.count == size else { throw BenchFault.wrongLength(message.count) }
                    sum &+= message.withBytes { $0[0] }
                    report.received += 1
                    guard report.received == count else { continue }
                    try await party.session.send([sum], to: party.other.peer)
                } else if report.received >= count {
                    return report
                }
            }
        }
        throw BenchFault.endedEarly
    }

    // MARK: Round trips

    /// Code that must respond fast runs on the session's own thread, as its documentation recommends.
    static func onTheLoop(
        _ party: Party, _ body: @escaping @Sendable () async throws -> Report
    ) async throws -> Report {
        try await Task(executorPreference: party.session.executor) { try await body() }.value
    }

    func ping(_ party: Party) async throws -> Report {
        let message = [UInt8](repeating: 0x5A, count: size)
        var report = Report(sent: 1)
        report.latencies.reserveCapacity(count)
        var start = clock.now
        try await party.session.send(message, to: party.other.peer)
        for await event in party.session.events {
            guard case .message(let answer) = event else { continue }
            report.latencies.append(seconds(since: start))
            guard answer.bytes.count == size else { throw BenchFault.wrongLength(answer.bytes.count) }
            report.received += 1
            if report.received == count { return report }
            report.sent += 1
            start = clock.now
            try await party.session.send(message, to: party.other.peer)
        }
        throw BenchFault.endedEarly
    }

    private func echo(_ party: Party) async throws -> Report {
        var report = Report()
        for await event in party.session.events {
            if case .message(let message) = event {
                report.received += 1
                try await party.session.send(message.bytes, to: party.other.peer)
            } else if report.received >= count {
                return report
            }
        }
        throw BenchFault.endedEarly
    }

    // MARK: Connecting

    /// Connects with a new session each time, so that every connect begins from scratch.
    private func connect() async throws -> Report {
        var report = Report()
        let before = Resources.cpuSeconds
        for _ in 0..<count {
            let party = try await Party(assignment.side)
            let start = clock.now
            try await party.link()
            if assignment.side == .client {
                report.latencies.append(seconds(since: start))
                report.group = await party.session.connectionInfo(for: party.other.peer)?.keyExchange
            }
            report.sent += 1
            report.received += 1
            await leave(party)
        }
        report.cpuSeconds = Resources.cpuSeconds - before
        return report
    }

    /// Disconnects the client, and waits at the server until it has gone, so that neither cuts the other short.
    private func leave(_ party: Party) async {
        if assignment.side == .server {
            for await event in party.session.events {
                if case .peer(_, .notConnected) = event { break }
            }
        }
        await party.session.disconnect()
    }

    private func seconds(since start: SuspendingClock.Instant) -> Double { clock.seconds(since: start) }
}
