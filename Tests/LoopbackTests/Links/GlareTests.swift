import Foundation
import Multipeer
import MultipeerTransport
import TestSupport
import Testing

@Suite("6 Both sides dial at once", .inTurns)
struct GlareTests {
    /// 100 in the ordinary tests; the acceptance run asks for 1,000.
    static var rounds: Int {
        ProcessInfo.processInfo.environment["MULTIPEER_ROUNDS"].flatMap { Int($0) } ?? Sanitizer.fewer(100)
    }

    struct Round: Sendable {
        let lowerDialled: Bool
        let connections: Int
    }

    @Test(
        "exactly one link is made, the same at both ends, every time [link.dialler] [select.one] [select.duplicates]"
    )
    func glare() async throws {
        var done: [Round] = []
        let batch = 25
        for start in stride(from: 0, to: Self.rounds, by: batch) {
            try await withThrowingTaskGroup(of: Round.self) { group in
                for _ in start..<min(start + batch, Self.rounds) { group.addTask { try await Self.round() } }
                for try await round in group { done.append(round) }
            }
        }
        #expect(done.count == Self.rounds)
        let byLower = done.count(where: \.lowerDialled)
        let met = done.count { $0.connections > 1 }
        print(
            "\(done.count) rounds: \(byLower) links dialled by the lower peer, \(met) rounds with several connections"
        )
    }

    /// The lower peer dials at once and the higher one after 500 ms; so the higher one calls first.
    private static func round() async throws -> Round {
        let (lowersTap, highersTap) = (try await Tap(), try await Tap())
        let meeting = try Meeting.annFirst(
            ann: .loopback(timeLimit: .seconds(20)).tapped(by: lowersTap),
            bob: .loopback(timeLimit: .seconds(20)).tapped(by: highersTap))
        let (lowers, highers) = (
            try await meeting.ann.connectionData(), try await meeting.bob.connectionData()
        )
        let skew = Duration.milliseconds(475 + Int.random(in: 0...50))
        async let higher: Void = meeting.bob.connect(with: lowers)
        async let lower: Void = {
            try await Task.sleep(for: skew)
            try await meeting.ann.connect(with: highers)
        }()
        _ = try await (higher, lower)
        try await within { try await meeting.expectTalk() }
        let atLower = try #require(await meeting.ann.connectionInfo(for: meeting.bob.peer))
        let atHigher = try #require(await meeting.bob.connectionInfo(for: meeting.ann.peer))
        #expect(atLower.isDialled != atHigher.isDialled)
        #expect(await meeting.ann.connectedPeers == [meeting.bob.peer])
        #expect(await meeting.bob.connectedPeers == [meeting.ann.peer])
        let connections = await lowersTap.flows.count + highersTap.flows.count
        // Connected once, and for as long as the session was not left.
        await meeting.ann.disconnect()
        let states = try await within { await meeting.bob.events.firstEnd() }
        #expect(states?.code == .goodbye)
        await meeting.bob.disconnect()
        await lowersTap.stop()
        await highersTap.stop()
        return Round(lowerDialled: atLower.isDialled, connections: connections)
    }
}
