struct BinarySingle: SingleValueDecodingContainer {
    let place: BinaryValueDecoder
    var codingPath: [any CodingKey] { place.codingPath }

    func decodeNil() -> Bool { place.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try place.bool() }
    func decode(_ type: String.Type) throws -> String { try place.text() }
    func decode(_ type: Double.Type) throws -> Double { try place.double() }
    func decode(_ type: Float.Type) throws -> Float { try place.float() }
    func decode(_ type: Int.Type) throws -> Int { try place.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try place.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try place.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try place.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try place.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try place.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try place.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try place.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try place.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try place.integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try place.decode(type) }
}

struct BinaryArray: UnkeyedDecodingContainer {
    private let place: BinaryValueDecoder
    private let total: Int
    private var position: Int
    private(set) var currentIndex = 0

    init(_ place: BinaryValueDecoder) throws {
        guard case .array(let total, let first) = try place.item() else { throw place.mismatch([Any].self) }
        self.place = place
        self.total = total
        position = first
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var count: Int? { total }
    var isAtEnd: Bool { currentIndex == total }

    /// Decodes one element and advances, unless decoding throws.
    private mutating func next<Value>(_ read: (BinaryValueDecoder) throws -> Value) throws -> Value {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self,
                DecodingError.Context(codingPath: codingPath, debugDescription: "the array has ended"))
        }
        let element = BinaryValueDecoder(
            place.input, position, parent: place, key: BinaryIndex(intValue: currentIndex))
        let value = try read(element)
        position = try element.end()
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, place.input.bytes[position] == 0xF6 else { return false }
        position += 1
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.bool() } }
    mutating func decode(_ type: String.Type) throws -> String { try next { try $0.text() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.double() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.float() } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next { try $0.integer(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try $0.integer(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try $0.integer(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try $0.integer(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try $0.integer(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try $0.integer(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try $0.integer(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try $0.integer(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try $0.integer(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try $0.integer(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next { try $0.decode(type) }
    }

    mutating func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}

struct BinaryMap<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let place: BinaryValueDecoder
    /// The position of each key and of its value, in the order of the bytes.
    private let entries: [(key: Range<Int>, value: Int)]
    /// Values are mostly read in the order in which they were written.
    private let hint = Hint()

    private final class Hint { var index = 0 }

    init(_ place: BinaryValueDecoder) throws {
        guard case .map(let count, var position) = try place.item() else {
            throw place.mismatch([String: Any].self)
        }
        var entries: [(key: Range<Int>, value: Int)] = []
        entries.reserveCapacity(min(count, 64))
        for _ in 0..<count {
            guard case .text(let key) = try place.input.item(at: position) else {
                throw place.corrupted("a key that is not text")
            }
            entries.append((key, key.upperBound))
            position = try place.input.skip(key.upperBound, depth: 0)
        }
        guard !place.input.hasKeyTwice(entries) else { throw place.corrupted("a key occurs twice") }
        self.place = place
        self.entries = entries
    }

    var codingPath: [any CodingKey] { place.codingPath }

    var allKeys: [Key] {
        entries.compactMap { entry in (try? place.input.text(entry.key)).flatMap { Key(stringValue: $0) } }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try value(of: key).isNull }

    /// Returns the position of the value of that key; no key occurs twice.
    private func find(_ key: some CodingKey) -> Int? {
        let wanted = key.stringValue.utf8
        for step in entries.indices {
            var index = hint.index + step
            if index >= entries.count { index -= entries.count }
            let range = entries[index].key
            if range.count == wanted.count, place.input.bytes[range].elementsEqual(wanted) {
                hint.index = index
                return entries[index].value
            }
        }
        return nil
    }

    private func value(of key: some CodingKey) throws -> BinaryValueDecoder {
        guard let position = find(key) else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "no such key"))
        }
        return BinaryValueDecoder(place.input, position, parent: place, key: key)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(of: key).bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(of: key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(of: key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(of: key).float() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(of: key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(of: key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(of: key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(of: key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(of: key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(of: key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(of: key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(of: key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(of: key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(of: key).integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try value(of: key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try value(of: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(of: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try value(of: BinaryIndex.parent) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try value(of: key) }
}
