/// A QR code of some bytes: ISO/IEC 18004, byte mode, versions 1 to 40, error correction L or M.
///
/// It is our own and not that of libqrencode, which Debian has as a shared library only and whose licence, LGPL 2.1, asks more
/// of a program that is linked statically than to name it. The command needs one mode of four, and no Kanji, no structured append
/// and no Micro QR.
package struct QRCode: Equatable, Sendable {
    /// The number of modules on each side, without the quiet zone.
    package let size: Int
    package let version: QRVersion
    /// Row by row; dark modules are true.
    private var modules: [Bool]
    /// Which modules are the same for all texts: they are not masked.
    private var isFixed: [Bool]

    /// The light modules that have to be on each side.
    package static let quietZone = 4

    /// Returns nil if the bytes do not fit any version.
    package init?(_ bytes: [UInt8]) {
        guard let version = QRVersion.smallest(for: bytes.count) else { return nil }
        self.version = version
        size = version.number * 4 + 17
        modules = Array(repeating: false, count: size * size)
        isFixed = modules
        drawPatterns()
        draw(version.codewords(of: bytes))
        let masked = QRMask.allCases.map { mask in
            var code = self
            code.apply(mask)
            return (code: code, penalty: code.penalty)
        }
        guard let best = masked.min(by: { $0.penalty < $1.penalty }) else { return nil }
        modules = best.code.modules
    }

    /// Whether a module is dark; those around the code are light.
    package subscript(x: Int, y: Int) -> Bool {
        guard (0..<size).contains(x), (0..<size).contains(y) else { return false }
        return modules[y * size + x]
    }

    private mutating func fix(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard (0..<size).contains(x), (0..<size).contains(y) else { return }
        modules[y * size + x] = isDark
        isFixed[y * size + x] = true
    }
}

// MARK: patterns

extension QRCode {
    private mutating func drawPatterns() {
        // Timing patterns, which the others overlap.
        for place in 0..<size {
            fix(6, place, place % 2 == 0)
            fix(place, 6, place % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawSquares(x, y, radius: 4, light: [2, 4]) }
        let places = version.alignments
        for x in places {
            for y in places where !isCorner(x, y) { drawSquares(x, y, radius: 2, light: [1]) }
        }
        // Reserves the place until the mask is known.
        drawFormat(mask: 0)
        guard version.number >= 7 else { return }
        let bits = QRCode.appendingBCH(version.number, 12, generator: 0x1F25)
        for index in 0..<18 {
            let (near, far) = (index / 3, size - 11 + index % 3)
            fix(far, near, bits >> index & 1 == 1)
            fix(near, far, bits >> index & 1 == 1)
        }
    }

    /// Draws squares in each other around a module.
    private mutating func drawSquares(_ x: Int, _ y: Int, radius: Int, light: Set<Int>) {
        for dx in -radius...radius {
            for dy in -radius...radius { fix(x + dx, y + dy, !light.contains(max(abs(dx), abs(dy)))) }
        }
    }

    /// Whether a finder pattern is there, which leaves no room for an alignment pattern.
    private func isCorner(_ x: Int, _ y: Int) -> Bool {
        (x == 6 && (y == 6 || y == size - 7)) || (x == size - 7 && y == 6)
    }

    /// Draws the level and the mask, twice.
    private mutating func drawFormat(mask: Int) {
        let bits = QRCode.appendingBCH(version.level.formatBits << 3 | mask, 10, generator: 0x537) ^ 0x5412
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            // Around the finder pattern at the top left, past the timing patterns.
            switch index {
            case 0..<6: fix(8, index, isDark)
            case 6, 7: fix(8, index + 1, isDark)
            case 8: fix(7, 8, isDark)
            default: fix(14 - index, 8, isDark)
            }
            // Next to those at the top right and at the bottom left.
            if index < 8 { fix(size - 1 - index, 8, isDark) } else { fix(8, size - 15 + index, isDark) }
        }
        fix(8, size - 8, true)
    }

    /// Returns the value with the remainder of its division by the generator after it.
    private static func appendingBCH(_ value: Int, _ count: Int, generator: Int) -> Int {
        var remainder = value
        for _ in 0..<count { remainder = remainder << 1 ^ (remainder >> (count - 1)) * generator }
        return value << count | remainder
    }
}

// MARK: data and mask

extension QRCode {
    /// Draws the bits in pairs of columns from the right, upwards and downwards in turn; what is left over stays light.
    private mutating func draw(_ codewords: [UInt8]) {
        var index = 0
        for right in stride(from: size - 1, through: 1, by: -2) {
            // The vertical timing pattern has a column of its own.
            let column = right <= 6 ? right - 1 : right
            let isUpwards = (column + 1) & 2 == 0
            for step in 0..<size {
                for x in [column, column - 1] {
                    let place = (isUpwards ? size - 1 - step : step) * size + x
                    guard !isFixed[place], index < codewords.count * 8 else { continue }
                    modules[place] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
        }
    }

    private mutating func apply(_ mask: QRMask) {
        for y in 0..<size {
            for x in 0..<size where !isFixed[y * size + x] && mask.inverts(x, y) {
                modules[y * size + x].toggle()
            }
        }
        drawFormat(mask: mask.rawValue)
    }

    /// How hard the code is to read: section 7.8.3.
    private var penalty: Int {
        let rows = (0..<size).map { y in (0..<size).map { self[$0, y] } }
        let columns = (0..<size).map { x in (0..<size).map { self[x, $0] } }
        var sum = (rows + columns).reduce(0) { $0 + QRMask.penalty(of: $1) }
        for (one, next) in zip(rows, rows.dropFirst()) {
            for x in 1..<size where one[x] == one[x - 1] && one[x] == next[x] && one[x] == next[x - 1] {
                sum += 3
            }
        }
        let dark = modules.count(where: \.self)
        let deviation = abs(dark * 20 - modules.count * 10)
        return sum + deviation / modules.count * 10
    }
}
