/// The size of a QR code and how much of it corrects errors, and how bytes become its codewords.
package struct QRVersion: Equatable, Sendable {
    package enum Level: Int, Sendable {
        /// A code can be read with about 7 or 15 of a hundred codewords wrong.
        case low, medium

        var formatBits: Int { self == .low ? 1 : 0 }
    }

    /// From 1 to 40.
    package let number: Int
    package let level: Level

    package init(number: Int, level: Level) {
        self.number = number
        self.level = level
    }

    /// Returns the smallest that the bytes fit, with as much correction as it has room for.
    package static func smallest(for count: Int) -> QRVersion? {
        guard let number = (1...40).first(where: { QRVersion(number: $0, level: .low).capacity >= count })
        else {
            return nil
        }
        let better = QRVersion(number: number, level: .medium)
        return better.capacity >= count ? better : QRVersion(number: number, level: .low)
    }

    /// The number of bytes that fit: a mode and a length precede them.
    package var capacity: Int { max(0, (dataLength * 8 - 4 - lengthBits) / 8) }

    private var lengthBits: Int { number < 10 ? 8 : 16 }

    /// The number of codewords, with those for correction.
    private var length: Int {
        // All modules without finder and timing patterns and the format, then without alignment patterns and the version.
        var modules = (16 * number + 128) * number + 64
        if number > 1 {
            let count = number / 7 + 2
            modules -= (25 * count - 10) * count - 55
        }
        if number >= 7 { modules -= 36 }
        return modules / 8
    }

    private var dataLength: Int { length - blockCount * correctionLength }

    /// The number of codewords in each block that correct errors.
    private var correctionLength: Int { QRVersion.correctionLengths[level.rawValue][number - 1] }

    private var blockCount: Int { QRVersion.blockCounts[level.rawValue][number - 1] }

    /// The rows and columns in which alignment patterns have their centres.
    var alignments: [Int] {
        guard number > 1 else { return [] }
        let count = number / 7 + 2
        let step = number == 32 ? 26 : (number * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<(count - 1)).map { number * 4 + 10 - $0 * step }
    }

    /// Returns the bytes with mode, length and padding, in blocks with their correction, interleaved: section 7.6. They must fit.
    func codewords(of bytes: [UInt8]) -> [UInt8] {
        precondition(bytes.count <= capacity, "the bytes must fit the version")
        let data = padded(bytes)
        // The first blocks are one codeword shorter than the others.
        let (short, longer) = (data.count / blockCount, data.count % blockCount)
        var blocks: [ArraySlice<UInt8>] = []
        var rest = data[...]
        for index in 0..<blockCount {
            let count = short + (index < blockCount - longer ? 0 : 1)
            blocks.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        let code = ReedSolomon(count: correctionLength)
        let corrections = blocks.map { code.remainder(of: $0) }
        return QRVersion.interleaved(blocks) + QRVersion.interleaved(corrections.map { $0[...] })
    }

    /// Returns the codewords that carry the bytes: byte mode is 4.
    private func padded(_ bytes: [UInt8]) -> [UInt8] {
        var nibbles: [UInt8] = [4]
        for shift in stride(from: lengthBits - 4, through: 0, by: -4) {
            nibbles.append(UInt8(bytes.count >> shift & 15))
        }
        for byte in bytes { nibbles += [byte >> 4, byte & 15] }
        // The terminator: four zero bits, for which there always is room.
        nibbles.append(0)
        var data = stride(from: 0, to: nibbles.count - 1, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
        for pad in 0..<(dataLength - data.count) { data.append(pad % 2 == 0 ? 0xEC : 0x11) }
        return data
    }

    private static func interleaved(_ blocks: [ArraySlice<UInt8>]) -> [UInt8] {
        let longest = blocks.map(\.count).max() ?? 0
        return (0..<longest).flatMap { index in blocks.compactMap { $0.dropFirst(index).first } }
    }

    /// Table 9, for levels L and M.
    private static let correctionLengths = [
        [
            7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26,
            28, 30, 30,
            30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
        [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28,
            28, 28, 28, 28,
            28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        ],
    ]
    private static let blockCounts = [
        [
            1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15,
            16, 17, 18, 19,
            19, 20, 21, 22, 24, 25,
        ],
        [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26,
            28, 29, 31, 33,
            35, 37, 38, 40, 43, 45, 47, 49,
        ],
    ]
}
