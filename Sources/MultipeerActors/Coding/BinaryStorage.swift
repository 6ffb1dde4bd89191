/// CBOR (RFC 8949) while it is written: definite lengths, shortest heads, no tags.
///
/// The elements of a container are counted while it grows: its head has one byte for up to 23, and is widened in
/// place.
final class BinaryStorage {
    private(set) var bytes: [UInt8] = []
    /// The positions of containers that were requested and may be filled at any time.
    private var holes: [(position: Int, storage: BinaryStorage)] = []

    enum Major: UInt8 {
        case unsigned = 0
        case negative = 1
        case bytes = 2
        case text = 3
        case array = 4
        case map = 5
        case simple = 7
    }

    var count: Int { bytes.count }

    func append(_ major: Major, _ argument: UInt64) {
        let top = major.rawValue << 5
        switch argument {
        case 0..<24: bytes.append(top | UInt8(truncatingIfNeeded: argument))
        case ..<0x100:
            bytes.append(top | 24)
            bytes.append(UInt8(truncatingIfNeeded: argument))
        case ..<0x1_0000: append(top | 25, argument, width: 2)
        case ..<0x1_0000_0000: append(top | 26, argument, width: 4)
        default: append(top | 27, argument, width: 8)
        }
    }

    func append(_ value: Int64) {
        if value < 0 {
            append(.negative, UInt64(bitPattern: ~value))
        } else {
            append(.unsigned, UInt64(bitPattern: value))
        }
    }

    func append(_ value: Bool) { bytes.append(value ? 0xF5 : 0xF4) }
    func append(_ value: Float) { append(0xFA, UInt64(value.bitPattern), width: 4) }
    func append(_ value: Double) { append(0xFB, value.bitPattern, width: 8) }
    func appendNil() { bytes.append(0xF6) }

    func append(_ text: String) {
        let utf8 = text.utf8
        append(.text, UInt64(utf8.count))
        bytes.append(contentsOf: utf8)
    }

    func append(string value: some Collection<UInt8>) {
        append(.bytes, UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Counts one more element of the container whose head is at `head`.
    func count(_ count: Int, at head: Int, _ major: Major) {
        let top = major.rawValue << 5
        switch count {
        case 0..<24:
            bytes[head] = top | UInt8(truncatingIfNeeded: count)
            return
        case 24: widen(head, to: 1)
        case 0x100: widen(head, to: 2)
        case 0x1_0000: widen(head, to: 4)
        case 0x1_0000_0000: widen(head, to: 8)
        default: break
        }
        let width = BinaryStorage.width(of: count)
        bytes[head] = top | (24 + UInt8(width.trailingZeroBitCount))
        for index in 0..<width {
            bytes[head + 1 + index] = UInt8(truncatingIfNeeded: count >> (8 * (width - 1 - index)))
        }
    }

    func appendHole() -> BinaryStorage {
        let storage = BinaryStorage()
        holes.append((bytes.count, storage))
        return storage
    }

    /// Returns all bytes, with the contents of the holes.
    func whole() -> [UInt8] {
        if holes.isEmpty { return bytes.isEmpty ? [0xA0] : bytes }
        var whole: [UInt8] = []
        whole.reserveCapacity(bytes.count)
        var position = 0
        for hole in holes {
            whole.append(contentsOf: bytes[position..<hole.position])
            whole.append(contentsOf: hole.storage.whole())
            position = hole.position
        }
        whole.append(contentsOf: bytes[position...])
        return whole
    }

    private func append(_ head: UInt8, _ argument: UInt64, width: Int) {
        bytes.append(head)
        for index in 0..<width {
            bytes.append(UInt8(truncatingIfNeeded: argument >> UInt64(8 * (width - 1 - index))))
        }
    }

    private static func width(of count: Int) -> Int {
        switch count {
        case ..<0x100: 1
        case ..<0x1_0000: 2
        case ..<0x1_0000_0000: 4
        default: 8
        }
    }

    /// Moves the holes after the head with their bytes.
    private func widen(_ head: Int, to width: Int) {
        let more = width == 1 ? 1 : width / 2
        bytes.insert(contentsOf: [UInt8](repeating: 0, count: more), at: head + 1)
        for index in holes.indices where holes[index].position > head { holes[index].position += more }
    }
}
