import TestSupport

extension Seeded {
    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &self))
    }

    /// Returns true one time in `count`.
    mutating func hits(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
