/// A pattern that is laid over the data, so that the code has no large areas and nothing that looks like a finder pattern.
enum QRMask: Int, CaseIterable, Sendable {
    case checks, rows, columns, diagonals, bricks, crosses, flowers, mixed

    /// Returns whether the module is inverted: table 10.
    func inverts(_ x: Int, _ y: Int) -> Bool {
        switch self {
        case .checks: (x + y) % 2 == 0
        case .rows: y % 2 == 0
        case .columns: x % 3 == 0
        case .diagonals: (x + y) % 3 == 0
        case .bricks: (x / 3 + y / 2) % 2 == 0
        case .crosses: x * y % 2 + x * y % 3 == 0
        case .flowers: (x * y % 2 + x * y % 3) % 2 == 0
        case .mixed: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    /// Returns the penalty for runs of one colour, and for what looks like a finder pattern with a light area next to it.
    static func penalty(of line: [Bool]) -> Int {
        var sum = 0
        var run = 0
        for (index, isDark) in line.enumerated() {
            run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
            if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
        }
        for pattern in [finder + light, light + finder] {
            for start in 0...(line.count - pattern.count)
            where line[start..<(start + pattern.count)] == pattern[...] {
                sum += 40
            }
        }
        return sum
    }

    private static let finder = [true, false, true, true, true, false, true]
    private static let light = [false, false, false, false]
}
