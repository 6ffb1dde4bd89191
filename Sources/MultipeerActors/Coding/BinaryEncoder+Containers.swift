struct BinarySingleContainer: SingleValueEncodingContainer {
    let node: BinaryValueEncoder
    var codingPath: [any CodingKey] { node.codingPath }

    mutating func encodeNil() { node.storage.appendNil() }
    mutating func encode(_ value: Bool) { node.storage.append(value) }
    mutating func encode(_ value: String) { node.storage.append(value) }
    mutating func encode(_ value: Double) { node.storage.append(value) }
    mutating func encode(_ value: Float) { node.storage.append(value) }
    mutating func encode(_ value: Int) { node.storage.append(Int64(value)) }
    mutating func encode(_ value: Int8) { node.storage.append(Int64(value)) }
    mutating func encode(_ value: Int16) { node.storage.append(Int64(value)) }
    mutating func encode(_ value: Int32) { node.storage.append(Int64(value)) }
    mutating func encode(_ value: Int64) { node.storage.append(value) }
    mutating func encode(_ value: UInt) { node.storage.append(.unsigned, UInt64(value)) }
    mutating func encode(_ value: UInt8) { node.storage.append(.unsigned, UInt64(value)) }
    mutating func encode(_ value: UInt16) { node.storage.append(.unsigned, UInt64(value)) }
    mutating func encode(_ value: UInt32) { node.storage.append(.unsigned, UInt64(value)) }
    mutating func encode(_ value: UInt64) { node.storage.append(.unsigned, value) }
    mutating func encode(_ value: some Encodable) throws { try node.encode(value) }
}

struct BinaryUnkeyedContainer: UnkeyedEncodingContainer {
    let node: BinaryValueEncoder
    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.count }

    /// Appends an element like a single value, and counts it.
    private var next: BinarySingleContainer {
        node.add()
        return BinarySingleContainer(node: node)
    }

    mutating func encodeNil() { var next = next; next.encodeNil() }
    mutating func encode(_ value: Bool) { var next = next; next.encode(value) }
    mutating func encode(_ value: String) { var next = next; next.encode(value) }
    mutating func encode(_ value: Double) { var next = next; next.encode(value) }
    mutating func encode(_ value: Float) { var next = next; next.encode(value) }
    mutating func encode(_ value: Int) { var next = next; next.encode(value) }
    mutating func encode(_ value: Int8) { var next = next; next.encode(value) }
    mutating func encode(_ value: Int16) { var next = next; next.encode(value) }
    mutating func encode(_ value: Int32) { var next = next; next.encode(value) }
    mutating func encode(_ value: Int64) { var next = next; next.encode(value) }
    mutating func encode(_ value: UInt) { var next = next; next.encode(value) }
    mutating func encode(_ value: UInt8) { var next = next; next.encode(value) }
    mutating func encode(_ value: UInt16) { var next = next; next.encode(value) }
    mutating func encode(_ value: UInt32) { var next = next; next.encode(value) }
    mutating func encode(_ value: UInt64) { var next = next; next.encode(value) }

    mutating func encode(_ value: some Encodable) throws {
        let index = BinaryIndex(intValue: count)
        node.add()
        try node.encode(value, for: index)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { nested() }

    private func nested() -> BinaryValueEncoder {
        let index = BinaryIndex(intValue: count)
        node.add()
        return node.nested(index)
    }
}

struct BinaryKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: BinaryValueEncoder
    var codingPath: [any CodingKey] { node.codingPath }

    private func value(for key: some CodingKey) -> BinarySingleContainer {
        node.add(key)
        return BinarySingleContainer(node: node)
    }

    mutating func encodeNil(forKey key: Key) { var place = value(for: key); place.encodeNil() }
    mutating func encode(_ value: Bool, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: String, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: Double, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: Float, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: Int, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: Int8, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: Int16, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: Int32, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: Int64, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: UInt, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: UInt8, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: UInt16, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: UInt32, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }
    mutating func encode(_ value: UInt64, forKey key: Key) {
        var place = self.value(for: key); place.encode(value)
    }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        node.add(key)
        try node.encode(value, for: key)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { nested(BinaryIndex.parent) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: some CodingKey) -> BinaryValueEncoder {
        node.add(key)
        return node.nested(key)
    }
}

/// The key of an element without one, for the path of an error; and the key for a superclass.
struct BinaryIndex: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let parent = BinaryIndex(stringValue: "super")

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }
}
