import Multipeer

/// Sessions link, and then their datagram path comes up: how long until one arrives that did not take the link.
struct Handshakes {
    private static let together = 20
    private static let timeLimit = Duration.seconds(8)
    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() async throws {
        var times: [Duration] = []
        for start in stride(from: 0, to: count, by: Handshakes.together) {
            try await withThrowingTaskGroup(of: Duration?.self) { group in
                for _ in start..<min(start + Handshakes.together, count) {
                    group.addTask { try await Handshakes.handshake() }
                }
                for try await time in group { if let time { times.append(time) } }
            }
        }
        print("\(times.count) of \(count) within \(Handshakes.timeLimit.seconds) s: \(Distribution(times))")
        try Endurance.expect(
            count - times.count <= Handshakes.mostFailures(of: count),
            "too few handshakes completed in time")
    }

    /// Returns the most failures: one in twenty. Of a few runs more can fail by chance: then three standard deviations
    /// more.
    private static func mostFailures(of count: Int) -> Int {
        let expected = Double(count) / 20
        return Int(count < 200 ? expected + 3 * (expected * 0.95).squareRoot() : expected)
    }

    /// Returns the time from the link to the first datagram by UDP; nil when that takes too long.
    private static func handshake() async throws -> Duration? {
        let couple = try await Couple.linked()
        let start = ContinuousClock.now
        let sending = Task {
            while !Task.isCancelled {
                try await couple.one.send([1], to: couple.other.peer, delivery: .unreliable)
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        let hearing = Task { () -> Duration? in
            for await event in couple.other.events {
                if case .message(let message) = event, message.delivery == .unreliable {
                    return start.duration(to: .now)
                }
            }
            return nil
        }
        let alarm = Task {
            try await Task.sleep(for: timeLimit)
            hearing.cancel()
            await couple.leave()
        }
        let time = await hearing.value
        sending.cancel()
        alarm.cancel()
        await couple.leave()
        return time
    }
}
