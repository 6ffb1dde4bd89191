import Multipeer

/// What sessions cost that do nothing: the time to make one, and the memory of those that are linked.
package struct SessionWork: Sendable {
    private let assignment: Assignment
    private let clock = SuspendingClock()

    package init(_ assignment: Assignment) { self.assignment = assignment }

    package func run() async throws -> Report {
        let before = Resources.cpuSeconds
        var report =
            switch assignment.mode {
            case .session: try make()
            case .memory: try await link()
            default:
                Report(
                    sent: assignment.count,
                    further: ["idle_ms_per_minute": try await Resources.idle(for: assignment.size)])
            }
        report.cpuSeconds = Resources.cpuSeconds - before
        report.received = assignment.count
        return report
    }

    /// Makes sessions one after the other, and keeps them. The first one also pays for what the process needs once.
    private func make() throws -> Report {
        var sessions: [Session] = []
        var report = Report(sent: assignment.count)
        for _ in 0..<assignment.count {
            let peer = try Party.peer(.client)
            let start = clock.now
            sessions.append(try Session(peer: peer, configuration: Party.configuration))
            report.latencies.append(clock.seconds(since: start))
        }
        let later = report.latencies.dropFirst().sorted()
        report.further["first_ms"] = report.latencies[0] * 1e3
        report.further["later_ms"] = later.isEmpty ? nil : later[later.count / 2] * 1e3
        return report
    }

    /// Links sessions with as many of the other process, one pair after the other; each has carried a message.
    private func link() async throws -> Report {
        var parties: [Party] = []
        for _ in 0..<assignment.count {
            let party = try await Party(assignment.side)
            try await party.link()
            try await party.session.send([0x5A], to: party.other.peer)
            try await message(party)
            parties.append(party)
        }
        try await Task.sleep(for: .milliseconds(200))
        let (resident, own) = (Double(Resources.residentKiB), Double(Resources.ownKiB))
        // Both have read their figure before either leaves.
        try await parties[0].session.send([0x5A], to: parties[0].other.peer)
        try await message(parties[0])
        for party in parties { await party.session.disconnect() }
        return Report(sent: assignment.count, further: ["resident_kib": resident, "own_kib": own])
    }

    private func message(_ party: Party) async throws {
        for await event in party.session.events {
            if case .message = event { return }
        }
        throw BenchFault.endedEarly
    }
}
