import Multipeer
import MultipeerCore
import MultipeerFigures

/// The same two sessions connect and disconnect many times over: no thread, descriptor or memory may leak.
struct Cycles {
    private static let warmUp = 20
    private static let allowedGrowth = 4
    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() async throws {
        let one = try Session(peer: PeerID(displayName: "one"), configuration: Endurance.loopback)
        let other = try Session(peer: PeerID(displayName: "other"), configuration: Endurance.loopback)
        for _ in 0..<Cycles.warmUp { try await cycle(one, other) }
        let before = try Figures()
        for _ in 0..<count { try await cycle(one, other) }
        let after = try Figures()
        print("\(count) cycles: \(before) before, \(after) after")
        // The pool of the concurrency runtime may still have been growing to one thread for each core.
        try Endurance.expect(after.threads <= before.threads + 2, "threads leaked")
        try Endurance.expect(after.descriptors <= before.descriptors, "descriptors leaked")
        try Endurance.expect(after.memory <= before.memory + Cycles.allowedGrowth, "memory leaked")
    }

    private func cycle(_ one: Session, _ other: Session) async throws {
        let (ones, others) = (try await one.connectionData(), try await other.connectionData())
        async let first: Void = one.connect(with: others)
        async let second: Void = other.connect(with: ones)
        _ = try await (first, second)
        _ = try await Endurance.talk(one, other)
        async let left: Void = one.disconnect()
        async let leftToo: Void = other.disconnect()
        _ = await (left, leftToo)
    }
}
