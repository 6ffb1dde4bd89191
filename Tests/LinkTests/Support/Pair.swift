import MultipeerFraming
import MultipeerLink
import TestSupport

/// Two links back to back. Bytes are delivered in random pieces; time stands still unless a test advances it.
final class Pair {
    let one: End
    let other: End
    private var ways: [[UInt8]] = [[], []]
    private var random: Seeded

    init(_ oneSays: LinkLimits = .standard, _ otherSays: LinkLimits = .standard, seed: UInt64 = 1) {
        one = End(.init(local: oneSays, remote: otherSays, greaseKind: Grease.frameKind(seed)))
        other = End(.init(local: otherSays, remote: oneSays, greaseKind: Grease.frameKind(seed + 1)))
        random = Seeded(seed)
    }

    var isWell: Bool { one.link.end == nil && other.link.end == nil }

    /// Lets each end write up to `room` bytes, and read a random part of what is in flight.
    func exchange(room: Int = 65_536) {
        for (index, end) in [one, other].enumerated() {
            var output = ByteBuffer()
            _ = end.link.fill(&output, upTo: room, now: end.now)
            ways[index] += output.takeAll()
        }
        for (index, end) in [other, one].enumerated() where !ways[index].isEmpty {
            let count = Int.random(in: 1...ways[index].count, using: &random)
            end.receive(Array(ways[index][..<count]))
            ways[index].removeFirst(count)
        }
    }

    func advance(_ seconds: Double) {
        one.advance(seconds)
        other.advance(seconds)
    }

    private var isBusy: Bool {
        isWell && (one.wantsToSend || other.wantsToSend || !ways.allSatisfy(\.isEmpty))
    }

    /// Exchanges until nothing moves any more; returns false when that does not happen.
    @discardableResult
    func settle() -> Bool {
        for _ in 0..<10_000 {
            guard isBusy else { return true }
            exchange()
        }
        return !isBusy
    }
}
