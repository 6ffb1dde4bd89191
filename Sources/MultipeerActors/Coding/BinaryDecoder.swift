import Foundation

/// Decodes what `BinaryEncoder` writes. Bytes from the network give a value or an error, in time and memory bounded
/// by their number.
package struct BinaryDecoder {
    private let userInfo: () -> [CodingUserInfoKey: any Sendable]

    package init(userInfo: @escaping () -> [CodingUserInfoKey: any Sendable] = { [:] }) {
        self.userInfo = userInfo
    }

    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let input: BinaryInput
        do {
            input = try BinaryInput(bytes, userInfo)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [], debugDescription: "no value: \(error)", underlyingError: error))
        }
        return try BinaryValueDecoder(input, 0, parent: nil, key: nil).decode(type)
    }
}

/// The position of one value: the decoder that the value receives.
final class BinaryValueDecoder {
    let input: BinaryInput
    let position: Int
    private let parent: BinaryValueDecoder?
    private let key: (any CodingKey)?

    init(_ input: BinaryInput, _ position: Int, parent: BinaryValueDecoder?, key: (any CodingKey)?) {
        self.input = input
        self.position = position
        self.parent = parent
        self.key = key
    }

    func item() throws -> BinaryInput.Item {
        do throws(BinaryFault) { return try input.item(at: position) } catch { throw corrupted("\(error)") }
    }

    /// Returns the position of the value after this one.
    func end() throws -> Int {
        do throws(BinaryFault) {
            return try input.skip(position, depth: 0)
        } catch {
            throw corrupted("\(error)")
        }
    }

    var isNull: Bool { input.bytes[position] == 0xF6 }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == Int.self, let value = try integer(Int.self) as? Value { return value }
        if type == String.self, let value = try text() as? Value { return value }
        if type == Double.self, let value = try double() as? Value { return value }
        if type == [UInt8].self, let value = try bytes() as? Value { return value }
        if type == Data.self, let value = try Data(bytes()) as? Value { return value }
        return try Value(from: self)
    }

    // MARK: single values

    func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        guard case .integer(let isNegative, let argument) = try item() else { throw mismatch(type) }
        if isNegative {
            if let value = Int64(exactly: argument).map({ ~$0 }), let value = Value(exactly: value) {
                return value
            }
        } else if let value = Value(exactly: argument) {
            return value
        }
        throw corrupted("a number that does not fit into \(type)")
    }

    func text() throws -> String {
        guard case .text(let range) = try item() else { throw mismatch(String.self) }
        do throws(BinaryFault) { return try input.text(range) } catch {
            throw corrupted("text that is not UTF-8")
        }
    }

    func bool() throws -> Bool {
        guard case .bool(let value) = try item() else { throw mismatch(Bool.self) }
        return value
    }

    func double() throws -> Double {
        switch try item() {
        case .double(let value): return value
        case .float(let value): return Double(value)
        default: throw mismatch(Double.self)
        }
    }

    func float() throws -> Float {
        guard case .float(let value) = try item() else { throw mismatch(Float.self) }
        return value
    }

    private func bytes() throws -> [UInt8] {
        guard case .bytes(let range) = try item() else { throw mismatch([UInt8].self) }
        return Array(input.bytes[range])
    }

    // MARK: errors

    func corrupted(_ text: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: text))
    }

    func mismatch(_ type: any Any.Type) -> DecodingError {
        .typeMismatch(
            type, DecodingError.Context(codingPath: codingPath, debugDescription: "another type of value"))
    }
}

extension BinaryValueDecoder: Decoder {
    var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + (key.map { [$0] } ?? []) }
    var userInfo: [CodingUserInfoKey: Any] { input.info() }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try BinaryMap<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try BinaryArray(self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { BinarySingle(place: self) }
}
