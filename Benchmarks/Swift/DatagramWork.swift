import Multipeer
import MultipeerBenchCommon

/// Unreliable messages one way. Each carries its number; the receiver reports the highest every 64, unreliably like the twin, and
/// the sender stays at most 256 ahead of that: nothing else would keep it from overrunning the receiver's socket.
struct DatagramWork: Sendable {
    let assignment: Assignment
    private let clock = SuspendingClock()
    private static let window = 256
    private static let report = 64

    init(_ assignment: Assignment) { self.assignment = assignment }

    func run() async throws -> Report {
        let party = try await Party(assignment.side)
        try await party.link()
        try await untilUp(party)
        let before = Resources.cpuSeconds
        var report = assignment.side == .client ? try await flood(party) : try await drain(party)
        report.cpuSeconds = Resources.cpuSeconds - before
        await party.session.disconnect()
        return report
    }

    /// Waits until the path is up: until then messages would be sent on the link.
    private func untilUp(_ party: Party) async throws {
        while await party.session.connectionInfo(for: party.other.peer)?.datagrams.isUp != true {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func flood(_ party: Party) async throws -> Report {
        var report = Report()
        var reported = 0
        var events = party.session.events.makeAsyncIterator()
        let peer = party.other.peer
        let pattern = [UInt8](repeating: 0x5A, count: max(4, assignment.size))
        let start = clock.now
        while report.sent < assignment.count {
            while report.sent < assignment.count, report.sent - reported < Self.window {
                report.sent += 1
                var message = pattern
                for index in 0..<4 {
                    message[index] = UInt8(truncatingIfNeeded: report.sent >> (24 - 8 * index))
                }
                try await party.session.send(message, to: peer, delivery: .unreliable)
            }
            if report.sent < assignment.count {
                reported = max(reported, try await Self.number(.unreliable, from: &events))
            }
        }
        // Sent reliably, like the answer: the number of those that arrived.
        try await party.session.send([], to: peer)
        report.received = try await Self.number(.reliable, from: &events)
        report.seconds = clock.seconds(since: start)
        return report
    }

    private func drain(_ party: Party) async throws -> Report {
        var report = Report()
        var highest = 0
        for await batch in party.session.events.batches {
            for event in batch {
                guard case .message(let message) = event else {
                    if case .peer(_, .notConnected) = event { return report }
                    continue
                }
                if message.delivery == .reliable {
                    try await party.session.send(Self.bytes(report.received), to: party.other.peer)
                    continue
                }
                guard message.count == assignment.size else { throw BenchFault.wrongLength(message.count) }
                highest = max(highest, message.withBytes { Self.number($0) })
                report.received += 1
                if report.received % Self.report == 0 {
                    let highest = Self.bytes(highest)
                    try await party.session.send(highest, to: party.other.peer, delivery: .unreliable)
                }
            }
        }
        throw BenchFault.endedEarly
    }

    /// Returns the number in the next message that was sent in this way.
    private static func number(
        _ delivery: Session.Delivery, from events: inout Session.Events.Iterator
    ) async throws -> Int {
        while let event = await events.next() {
            guard case .message(let message) = event, message.delivery == delivery else { continue }
            return message.withBytes { number($0) }
        }
        throw BenchFault.endedEarly
    }

    private static func bytes(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private static func number(_ bytes: Span<UInt8>) -> Int {
        var bits: UInt32 = 0
        for index in 0..<4 { bits = bits << 8 | UInt32(bytes[index]) }
        return Int(Int32(bitPattern: bits))
    }
}
