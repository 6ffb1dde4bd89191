/// The codewords that correct errors in others: a code over the field of 256 elements, modulo x⁸ + x⁴ + x³ + x² + 1.
package struct ReedSolomon: Equatable, Sendable {
    /// The generator without its leading coefficient, which is 1; the highest power first.
    private let generator: [UInt8]

    /// `count`: how many codewords correct.
    package init(count: Int) {
        var generator: [UInt8] = Array(repeating: 0, count: max(0, count - 1)) + [1]
        var root: UInt8 = 1
        // Multiplies by x - root, for one power of 2 after the other.
        for _ in 0..<count {
            for index in generator.indices {
                let next = index + 1 < generator.count ? generator[index + 1] : 0
                generator[index] = ReedSolomon.product(generator[index], root) ^ next
            }
            root = ReedSolomon.product(root, 2)
        }
        self.generator = generator
    }

    /// Returns the codewords for a block: the remainder of its division by the generator.
    package func remainder(of block: some Sequence<UInt8>) -> [UInt8] {
        var remainder = [UInt8](repeating: 0, count: generator.count)
        for byte in block {
            let factor = byte ^ (remainder.first ?? 0)
            remainder = remainder.dropFirst() + [0]
            for index in remainder.indices {
                remainder[index] ^= ReedSolomon.product(generator[index], factor)
            }
        }
        return remainder
    }

    private static func product(_ one: UInt8, _ other: UInt8) -> UInt8 {
        var product: UInt8 = 0
        for shift in stride(from: 7, through: 0, by: -1) {
            product = product << 1 ^ (product >> 7) &* 0x1D
            if other >> UInt8(shift) & 1 == 1 { product ^= one }
        }
        return product
    }
}
