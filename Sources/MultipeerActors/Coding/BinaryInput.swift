/// Received CBOR, validated once from end to end: after that, every head that is read lies within the bytes.
final class BinaryInput {
    /// The item at a position.
    enum Item {
        case integer(negative: Bool, UInt64)
        case bytes(Range<Int>)
        case text(Range<Int>)
        case array(count: Int, first: Int)
        case map(count: Int, first: Int)
        case bool(Bool)
        case null
        case float(Float)
        case double(Double)
    }

    let bytes: [UInt8]
    let info: () -> [CodingUserInfoKey: any Sendable]

    /// Throws for anything but one whole value; a length allocates nothing.
    init(_ bytes: [UInt8], _ info: @escaping () -> [CodingUserInfoKey: any Sendable]) throws {
        self.bytes = bytes
        self.info = info
        let end = try skip(0, depth: 0)
        guard end == bytes.count else { throw BinaryFault.trailing(bytes.count - end) }
    }

    func item(at position: Int) throws(BinaryFault) -> Item {
        guard position < bytes.count else { throw .truncated }
        let head = bytes[position]
        if head >> 5 == 7 { return try simple(head & 31, position + 1) }
        let (argument, next) = try argument(head & 31, position + 1)
        switch head >> 5 {
        case 0: return .integer(negative: false, argument)
        case 1: return .integer(negative: true, argument)
        case 2: return .bytes(try range(argument, next))
        case 3: return .text(try range(argument, next))
        case 4: return .array(count: try elements(argument, next), first: next)
        case 5: return .map(count: try elements(argument, next), first: next)
        default: throw .unexpected(head)
        }
    }

    /// Returns the position of the next item.
    func skip(_ position: Int, depth: Int) throws(BinaryFault) -> Int {
        switch try item(at: position) {
        case .bytes(let range), .text(let range): return range.upperBound
        case .array(let count, let first): return try skip(count, from: first, depth)
        case .map(let count, let first):
            return try skip(count, from: first, depth, withKeys: true)
        case .integer, .bool, .null, .float, .double: return position + 1 + width(bytes[position] & 31)
        }
    }

    func text(_ range: Range<Int>) throws(BinaryFault) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw .text }
        return text
    }

    /// Skips that many values, each with a text before it in a map.
    private func skip(
        _ count: Int, from first: Int, _ depth: Int, withKeys: Bool = false
    ) throws(BinaryFault) -> Int {
        guard depth < BinaryEncoder.depthLimit else { throw .depth }
        var position = first
        for _ in 0..<count {
            if withKeys {
                guard case .text(let key) = try item(at: position) else { throw .key }
                position = key.upperBound
            }
            position = try skip(position, depth: depth + 1)
        }
        return position
    }

    /// Returns whether a key occurs in two of these entries of a map, in time that is linear in their bytes.
    func hasKeyTwice(_ entries: [(key: Range<Int>, value: Int)]) -> Bool {
        if entries.count > 16 {
            // The hash is randomly seeded: a peer cannot choose keys that collide.
            var keys = Set<ArraySlice<UInt8>>(minimumCapacity: entries.count)
            return entries.contains { !keys.insert(bytes[$0.key]).inserted }
        }
        for one in entries.indices.dropFirst() {
            for other in 0..<one where isSame(entries[one].key, entries[other].key) { return true }
        }
        return false
    }

    private func isSame(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        guard one.count == other.count else { return false }
        for step in 0..<one.count where bytes[one.lowerBound + step] != bytes[other.lowerBound + step] {
            return false
        }
        return true
    }

    private func width(_ short: UInt8) -> Int { short < 24 ? 0 : 1 << Int(short - 24) }

    private func argument(_ short: UInt8, _ next: Int) throws(BinaryFault) -> (UInt64, Int) {
        if short < 24 { return (UInt64(short), next) }
        guard short < 28 else { throw .unexpected(short) }
        let end = next + width(short)
        guard end <= bytes.count else { throw .truncated }
        var value: UInt64 = 0
        for index in next..<end { value = value << 8 | UInt64(bytes[index]) }
        return (value, end)
    }

    private func simple(_ short: UInt8, _ next: Int) throws(BinaryFault) -> Item {
        switch short {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        case 26: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try argument(26, next).0)))
        case 27: return .double(Double(bitPattern: try argument(27, next).0))
        default: throw .unexpected(short)
        }
    }

    private func range(_ count: UInt64, _ start: Int) throws(BinaryFault) -> Range<Int> {
        guard count <= UInt64(bytes.count - start) else { throw .truncated }
        return start..<(start + Int(count))
    }

    /// Each element has at least one byte.
    private func elements(_ count: UInt64, _ start: Int) throws(BinaryFault) -> Int {
        guard count <= UInt64(bytes.count - start) else { throw .truncated }
        return Int(count)
    }
}

/// Why bytes are not a value.
enum BinaryFault: Error, Equatable {
    case truncated
    case trailing(Int)
    /// A head that this format does not have: tags, indefinite lengths, half floats.
    case unexpected(UInt8)
    case depth
    case text
    /// A map key that is not text.
    case key
}
