/// How long things take on the simulated network.
package enum NetworkConditions: String, CaseIterable, Sendable {
    /// 0.5 to 4 ms.
    case calm
    /// 1 to 60 ms.
    case fair
    /// 0.5 to 600 ms, most of it short, some of it very long.
    case wild

    /// Returns the usual delay of one connection and direction, in nanoseconds.
    func base(_ random: inout SeededRandom) -> Int64 {
        switch self {
        case .calm: Int64(random.uniform(500_000...4_000_000))
        case .fair: Int64(random.uniform(1_000_000...60_000_000))
        case .wild:
            min(600_000_000, Int64(random.uniform(500_000...1_000_000)) << Int64(random.uniform(0...9)))
        }
    }

    /// Returns the longest delay of a packet that is not in the tail.
    static func longestUsual(base: Int64) -> Int64 { min(600_000_000, base + base / 8 * 7 / 2) }

    /// Returns the delay of one packet, with a tail.
    func delay(base: Int64, _ random: inout SeededRandom) -> Int64 {
        let chance = random.next()
        let jitter = base / 8 * Int64(chance & 7) / 2
        let isLate = self != .calm && chance >> 8 & 63 == 0
        return min(600_000_000, isLate ? (base + jitter) * Int64(2 + chance >> 16 & 7) : base + jitter)
    }
}
