import Multipeer
import MultipeerCore

/// Two new sessions dial each other at the same time, many times over: exactly one link, the same at both ends.
struct Rounds {
    private static let together = 40
    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() async throws {
        var dialledByLower = 0
        for start in stride(from: 0, to: count, by: Rounds.together) {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in start..<min(start + Rounds.together, count) {
                    group.addTask { try await Self.round() }
                }
                for try await isLower in group where isLower { dialledByLower += 1 }
            }
        }
        print(
            "\(count) rounds, one link each; \(dialledByLower) dialled by the lower peer, "
                + "\(count - dialledByLower) by the higher")
    }

    /// Runs a round: the higher peer dials 500 ms after the call, the lower one at once. Returns whether the lower's
    /// connection won.
    private static func round() async throws -> Bool {
        let sessions = try ["one", "other"].map {
            try Session(peer: PeerID(displayName: $0), configuration: Endurance.loopback)
        }.sorted { $0.peer.uid < $1.peer.uid }
        let (lower, higher) = (sessions[0], sessions[1])
        let (lowers, highers) = (try await lower.connectionData(), try await higher.connectionData())
        let skew = Duration.milliseconds(475 + Int.random(in: 0...50))
        async let first: Void = higher.connect(with: lowers)
        async let second: Void = {
            try await Task.sleep(for: skew)
            try await lower.connect(with: highers)
        }()
        _ = try await (first, second)
        let states = try await Endurance.talk(lower, higher)
        try Endurance.expect(states.0 == [.connecting, .connected], "the lower peer saw \(states.0)")
        try Endurance.expect(states.1 == [.connecting, .connected], "the higher peer saw \(states.1)")
        guard let atLower = await lower.connectionInfo(for: higher.peer),
            let atHigher = await higher.connectionInfo(for: lower.peer)
        else { throw Endurance.Failure(description: "a link is gone") }
        try Endurance.expect(
            atLower.isDialled != atHigher.isDialled, "both ends report that they dialled, or neither does")
        try Endurance.expect(
            atLower.remoteAddress == atHigher.localAddress && atLower.localAddress == atHigher.remoteAddress,
            "the two ends belong to different connections: \(atLower), \(atHigher)")
        await lower.disconnect()
        await higher.disconnect()
        return atLower.isDialled
    }
}
