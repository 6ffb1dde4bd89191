import MultipeerCore

/// The only source of randomness in a simulation, so that a seed determines a whole run.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var source: Jitter

    package init(_ seed: UInt64) { source = Jitter(seed: seed) }

    package mutating func next() -> UInt64 { source.next() }
}

extension SeededRandom {
    /// Returns a number from `range`, uniformly distributed.
    mutating func uniform(_ range: ClosedRange<Int>) -> Int {
        let count = UInt64(range.upperBound - range.lowerBound) + 1
        return range.lowerBound + Int(next().multipliedFullWidth(by: count).high)
    }

    /// Returns true once in `count` times.
    mutating func chance(oneIn count: Int) -> Bool { uniform(1...count) == 1 }

    /// Returns one of `all`, which must not be empty.
    mutating func pick<Element>(_ all: [Element]) -> Element { all[uniform(0...(all.count - 1))] }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            var word = next()
            for _ in 0..<min(8, count - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        return bytes
    }

    /// Returns `all` in a random order, every order being equally likely.
    mutating func shuffled<Element>(_ all: [Element]) -> [Element] {
        var all = all
        guard all.count > 1 else { return all }
        for index in stride(from: all.count - 1, to: 0, by: -1) { all.swapAt(index, uniform(0...index)) }
        return all
    }
}
