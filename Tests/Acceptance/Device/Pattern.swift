import MultipeerConnectivity

/// Bytes that a number determines, without repetition that could hide a lost or duplicated piece.
struct Pattern {
    private var state: UInt64

    init(_ number: Int) { state = UInt64(bitPattern: Int64(number)) &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next(_ count: Int) -> Data {
        let words = (0..<(count + 7) / 8).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state.littleEndian
        }
        return unsafe words.withUnsafeBytes { unsafe Data($0.prefix(count)) }
    }

    /// Returns a message: its number, then the pattern of that number.
    static func message(_ number: Int, _ count: Int) -> Data {
        var pattern = Pattern(number)
        let head = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        return Data((head + pattern.next(max(0, count - 8))).prefix(count))
    }

    /// Returns the number of a message; nil when it is too short to have one.
    static func number(of message: Data) -> Int? {
        message.count < 8 ? nil : message.prefix(8).reduce(0) { $0 << 8 | Int($1) }
    }
}

/// CRC-32 as zlib has it, so that others can compare.
struct Checksum {
    private static let table = (0..<256).map { (value: UInt32) in
        (0..<8).reduce(value) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }

    private var sum = UInt32.max
    private(set) var count = 0

    var value: UInt32 { ~sum }

    mutating func take(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            sum = sum >> 8 ^ Checksum.table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)]
            count += 1
        }
    }
}

extension Data {
    var checksum: UInt32 {
        var sum = Checksum()
        sum.take(self)
        return sum.value
    }
}
