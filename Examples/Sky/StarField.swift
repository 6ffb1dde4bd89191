/// A sky generated from a seed, a tile at a time: the same on every machine, since it uses only integers.
struct StarField: Sendable {
    let seed: UInt64
    /// Pixels per side of each tile.
    let size: Int

    /// The value of a pixel without any star.
    private static let darkness = 40
    /// The radius of a star's light, in pixels.
    private static let reach = 6

    func tile(_ number: Int) -> Tile {
        var dice = Dice(state: seed &+ UInt64(truncatingIfNeeded: number) &* 0xD134_2543_DE82_EF95)
        var light = (0..<size * size).map { _ in StarField.darkness + dice.noise() }
        // About one star per 2,048 pixels, and one at least.
        for _ in 0...dice.below(size * size / 1_024) {
            addStar(to: &light, x: dice.below(size), y: dice.below(size), peak: 30 + dice.below(170))
        }
        return Tile(number: number, size: size, pixels: light.map { UInt8(clamping: $0) })
    }

    /// Adds a star, which the air spreads over several pixels, as Moffat has described: much in the middle, a little
    /// far out.
    private func addStar(to light: inout [Int], x: Int, y: Int, peak: Int) {
        let span = -StarField.reach...StarField.reach
        for row in span where 0..<size ~= y + row {
            for column in span where 0..<size ~= x + column {
                let spread = 4 + row * row + column * column
                light[(y + row) * size + x + column] += peak * 16 / (spread * spread)
            }
        }
    }
}

/// Pseudorandom numbers (SplitMix64).
struct Dice {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    /// Returns noise around 0 with a standard deviation of 4: the sum of four bytes is nearly normal.
    mutating func noise() -> Int {
        let bits = next()
        let sum = (bits & 0xFF) + (bits >> 8 & 0xFF) + (bits >> 16 & 0xFF) + (bits >> 24 & 0xFF)
        return (Int(sum) - 510) / 37
    }
}
