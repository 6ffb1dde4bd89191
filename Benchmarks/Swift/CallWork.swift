import Distributed
import Multipeer
import MultipeerActors
import MultipeerBenchCommon

/// Calls of a distributed actor at the other process, one at a time or many at once.
struct CallWork: Sendable {
    private let assignment: Assignment
    private let clock = SuspendingClock()
    /// The number of tasks that call at once when calls are not made one at a time.
    private static let callers = 1_024

    init(_ assignment: Assignment) { self.assignment = assignment }

    func run() async throws -> Report {
        let party = try await Party(assignment.side)
        var configuration = PeerActorSystem.Configuration()
        if assignment.mode != .callsapart { configuration.executor = party.session.executor }
        let system = try await PeerActorSystem(party.session, configuration: configuration)
        try system.register(Mirror.self)
        let mirror = try system.named("mirror") { Mirror(actorSystem: system) }
        try await party.link()
        let before = Resources.cpuSeconds
        var report =
            switch assignment.side {
            case .server: await serve(party, mirror)
            case .client:
                try await call(
                    party, try Mirror.resolve(id: ActorID("mirror", at: party.other.peer), using: system))
            }
        report.cpuSeconds = Resources.cpuSeconds - before
        if assignment.side == .server { report.received = try await mirror.seen }
        await party.session.disconnect()
        return report
    }

    /// Serves until the client leaves.
    private func serve(_ party: Party, _ mirror: Mirror) async -> Report {
        for await event in party.session.events {
            if case .peer(_, .notConnected) = event { break }
        }
        return Report()
    }

    private func call(_ party: Party, _ mirror: Mirror) async throws -> Report {
        switch assignment.mode {
        case .calls: return try await Work.onTheLoop(party) { try await inTurn(mirror) }
        case .callsapart: return try await inTurn(mirror)
        default: return try await Work.onTheLoop(party) { try await atOnce(mirror) }
        }
    }

    private func inTurn(_ mirror: Mirror) async throws -> Report {
        let bytes = [UInt8](repeating: 0x5A, count: assignment.size)
        var report = Report()
        report.latencies.reserveCapacity(assignment.count)
        for _ in 0..<assignment.count {
            let start = clock.now
            let answer = try await mirror.show(bytes)
            report.latencies.append(clock.seconds(since: start))
            guard answer.count == bytes.count else { throw BenchFault.wrongLength(answer.count) }
            report.sent += 1
        }
        return report
    }

    private func atOnce(_ mirror: Mirror) async throws -> Report {
        let start = clock.now
        let (each, rest) = assignment.count.quotientAndRemainder(dividingBy: CallWork.callers)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<CallWork.callers {
                group.addTask {
                    for _ in 0..<(caller < rest ? each + 1 : each) {
                        guard try await mirror.show(caller) == caller else {
                            throw BenchFault.endedEarly
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return Report(sent: assignment.count, seconds: clock.seconds(since: start))
    }
}

/// An actor that returns its argument.
distributed actor Mirror {
    typealias ActorSystem = PeerActorSystem
    private var count = 0

    distributed func show(_ bytes: [UInt8]) -> [UInt8] {
        count += 1
        return bytes
    }

    distributed func show(_ number: Int) -> Int {
        count += 1
        return number
    }

    distributed var seen: Int { count }
}
