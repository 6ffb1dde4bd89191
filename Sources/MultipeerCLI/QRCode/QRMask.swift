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
        var last: Bool?
        // The last eleven modules, the newest in the lowest bit.
        var window = 0
        for (index, isDark) in line.enumerated() {
            run = isDark == last ? run + 1 : 1
            last = isDark
            if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
            window = (window << 1 | (isDark ? 1 : 0)) & 0x7FF
            if index >= 10, window == finderBeforeLight || window == lightBeforeFinder { sum += 40 }
        }
        return sum
    }

    private static let finderBeforeLight = 0b1011101_0000
    private static let lightBeforeFinder = 0b0000_1011101
}
