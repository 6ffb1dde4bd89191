import Foundation

/// Encodes one value as CBOR: keyed containers are maps with text keys, `Data` and arrays of bytes are byte strings.
/// A key for which a value is encoded twice is in its map twice, and the decoder rejects that map.
package struct BinaryEncoder {
    /// The maximum depth of nested containers, on both sides.
    static let depthLimit = 64

    /// The `userInfo` that values read, created on first use.
    private let userInfo: () -> [CodingUserInfoKey: any Sendable]

    package init(userInfo: @escaping () -> [CodingUserInfoKey: any Sendable] = { [:] }) {
        self.userInfo = userInfo
    }

    package func encode(_ value: some Encodable) throws -> [UInt8] {
        let storage = BinaryStorage()
        if storage.appendCommon(value) { return storage.bytes }
        try BinaryValueEncoder(storage, parent: nil, key: nil, userInfo).encode(value)
        return storage.whole()
    }
}

/// The position of one value: the encoder that the value receives.
final class BinaryValueEncoder {
    let storage: BinaryStorage
    private let parent: BinaryValueEncoder?
    private let key: (any CodingKey)?
    private let info: () -> [CodingUserInfoKey: any Sendable]
    private let depth: Int
    /// The container that the value requested; a second request returns the same one.
    private var container: (major: BinaryStorage.Major, head: Int, count: Int)?

    init(
        _ storage: BinaryStorage, parent: BinaryValueEncoder?, key: (any CodingKey)?,
        _ info: @escaping () -> [CodingUserInfoKey: any Sendable]
    ) {
        self.storage = storage
        self.parent = parent
        self.key = key
        self.info = info
        depth = (parent?.depth ?? 0) + 1
    }

    /// The number of elements in the container.
    var count: Int { container?.count ?? 0 }

    func begin(_ major: BinaryStorage.Major) {
        if container != nil { return }
        container = (major, storage.count, 0)
        storage.append(major, 0)
    }

    /// Counts one more element.
    func add() {
        guard let (major, head, count) = container else { return }
        container = (major, head, count + 1)
        storage.count(count + 1, at: head, major)
    }

    func add(_ key: some CodingKey) {
        add()
        storage.append(key.stringValue)
    }

    /// Returns the encoder of a container that may be filled after the elements that follow it.
    func nested(_ key: (any CodingKey)?) -> BinaryValueEncoder {
        BinaryValueEncoder(storage.appendHole(), parent: self, key: key, info)
    }

    func encode<Value: Encodable>(_ value: Value, for key: (any CodingKey)? = nil) throws {
        if storage.appendCommon(value) { return }
        guard depth < BinaryEncoder.depthLimit else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(codingPath: codingPath, debugDescription: "more than 64 levels"))
        }
        let before = storage.count
        try value.encode(to: BinaryValueEncoder(storage, parent: self, key: key, info))
        if storage.count == before { storage.append(.map, 0) }
    }
}

extension BinaryValueEncoder: Encoder {
    var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + (key.map { [$0] } ?? []) }
    var userInfo: [CodingUserInfoKey: Any] { info() }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        begin(.map)
        return KeyedEncodingContainer(BinaryKeyedContainer<Key>(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        begin(.array)
        return BinaryUnkeyedContainer(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { BinarySingleContainer(node: self) }
}

extension BinaryStorage {
    /// Encodes common types that need no encoder of their own; returns false for all others.
    fileprivate func appendCommon<Value: Encodable>(_ value: Value) -> Bool {
        if Value.self == Int.self, let value = value as? Int {
            append(Int64(value))
        } else if Value.self == String.self, let value = value as? String {
            append(value)
        } else if Value.self == Double.self, let value = value as? Double {
            append(value)
        } else if Value.self == Bool.self, let value = value as? Bool {
            append(value)
        } else if Value.self == [UInt8].self, let value = value as? [UInt8] {
            append(string: value)
        } else if Value.self == Data.self, let value = value as? Data {
            append(string: value)
        } else {
            return false
        }
        return true
    }
}
